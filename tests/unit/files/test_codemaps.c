// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/codemaps.h"
#include "unit.h"

struct found {
	ino_t ino;
	bool all;
	size_t ours, others;
	struct codemap map; /* the one that holds this test's code */
	uint64_t data;      /* an address that is mapped of the same file, not to be executed */
	unsigned wrong;     /* times that its mapping was shown */
};

static void note(void *ctx, const struct codemap *map)
{
	struct found *found = ctx;
	uint64_t here = (uintptr_t)note;

	if (map->pid != getpid())
		found->others++;
	else if (found->data >= map->addr && found->data - map->addr < map->len)
		found->wrong++;
	else if (map->ino == found->ino && here >= map->addr && here - map->addr < map->len)
		found->map = *map, found->ours++;
}

static const void *own_code(void)
{
	void (*function)(void *ctx, const struct codemap *map) = note;
	const void *code;

	memcpy(&code, &function, sizeof(code));
	return code;
}

static struct found look(pid_t pid)
{
	struct found found = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_true(data != MAP_FAILED);
	found.data = (uintptr_t)data;
	assert_int_equal(fstat(fd, &st), 0);
	found.ino = st.st_ino;
	assert_int_equal(codemaps_each(pid, note, &found), 0);
	munmap(data, 1);
	close(fd);
	return found;
}

static void test_own(void **state)
{
	struct found found = look(getpid());
	unsigned char there[16];

	(void)state;
	assert_int_equal(found.ours, 1);
	assert_int_equal(found.others, 0);
	assert_int_equal(found.wrong, 0);
	/* what the file has at the offset is what the process executes at the address */
	FILE *file = fopen("/proc/self/exe", "re");
	uint64_t here = (uintptr_t)note;

	assert_non_null(file);
	assert_int_equal(fseek(file, here - found.map.addr + found.map.off, SEEK_SET), 0);
	assert_int_equal(fread(there, 1, sizeof(there), file), sizeof(there));
	fclose(file);
	assert_memory_equal(there, own_code(), sizeof(there));
}

static void test_all(void **state)
{
	struct found found = look(0);

	(void)state;
	assert_int_equal(found.ours, 1);
	assert_true(found.others > 0);
}

static void test_memory(void **state)
{
	struct found found = look(getpid());
	int fd = codemaps_memory(&found.map);
	unsigned char there[16];
	uint64_t here = (uintptr_t)note;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, there, sizeof(there), (off_t)here), sizeof(there));
	close(fd);
	assert_memory_equal(there, own_code(), sizeof(there));
	assert_int_equal(found.map.tid, getpid());
	found.map.pid = INT32_MAX;
	assert_int_equal(codemaps_memory(&found.map), -1);
}

static void test_nobody(void **state)
{
	struct found found = {0};

	(void)state;
	assert_int_equal(codemaps_each(INT32_MAX, note, &found), 0);
	assert_int_equal(found.ours + found.others, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

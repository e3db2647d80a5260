// SPDX-License-Identifier: Apache-2.0
#include "kernel/progcache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/mem.h"
#include "base/pack.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/bytecode_internal.h"
#include "kernel/compile_internal.h"
#include "kernel/headertree_internal.h"
#include "kernel/kernelfeature_internal.h"
#include "kernel/late_internal.h"

#define FOLDER "/var/cache/bcc-gotools/programs"
enum {
	FILE_MAX = 16 << 20,   /* bytes of a file: beyond, it is not kept */
	PLAIN_MAX = 64 << 20,  /* of what is packed in it */
	FOLDER_MAX = 64 << 20, /* of all */
	NAME_DIGITS = 16,
	ANOTHER_COMPILES_MS = 30000, /* that is waited for; it may have been stopped */
	LOOK_MS = 20,
};

static const char MAGIC[8] = "GoBPF 2";

struct head {
	char magic[8];
	uint64_t sum;                                    /* of all that follows */
	uint32_t key_len, libraries_len, code_len, zero; /* then these, packed as one by zlib */
};

struct progcache {
	char *folder;
	int fd; /* of the folder */
	char *key;
	size_t key_len;
	char name[NAME_DIGITS + sizeof(".bpf")], new_name[NAME_DIGITS + sizeof(".new")];
	int new_fd; /* locked: this process compiles it; -1: not so */
};

/* FNV-1a: files are told apart by their whole key; this finds them, and sees a damaged one. */
static uint64_t sum_of(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ at[i]) * 0x100000001b3;
	return sum;
}

/* Does it belong to who runs the tool, and may nobody else write there? */
static bool is_own(int fd, struct stat *st)
{
	return !fstat(fd, st) && st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Makes the last two folders of the path: /var/cache is everywhere. */
static void make_folder(const char *folder)
{
	char *parent = mem_strdup(folder), *slash = strrchr(parent, '/');

	if (slash && slash != parent) {
		*slash = '\0';
		mkdir(parent, 0755);
	}
	mkdir(folder, 0700);
	free(parent);
}

static int open_folder(const char *folder)
{
	enum { HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	int fd = open(folder, HOW);
	struct stat st;

	if (fd < 0) {
		make_folder(folder);
		fd = open(folder, HOW);
	}
	if (fd >= 0 && is_own(fd, &st))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* NULL: nothing is to be kept */
static const char *folder_name(void)
{
	const char *wish = getenv("GOTOOLS_CACHE");

	if (!wish)
		return geteuid() ? NULL : FOLDER;
	return *wish == '/' ? wish : NULL;
}

static uint64_t sum_of_headers(void)
{
	uint64_t sum = 0;

	for (const struct embedded_file *f = embedded_files; f->name; f++)
		if (headertree_has(f->name))
			sum = sum * 31 + sum_of(f->text, strlen(f->text)) +
			      sum_of(f->name, strlen(f->name));
	return sum;
}

/* All that the outcome depends on, but for libbcc, which is not there before it is needed. */
static void write_key(FILE *out, const char *text, const struct bpfprog_define *defs, size_t ndefs)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	struct utsname host = {.release = ""};

	uname(&host);
	fprintf(out, "bcc-gotools %s, Linux %s %s %s, CPUs %u\n", GOTOOLS_VERSION, host.release,
		host.version, host.machine, bpfmap_cpus());
	fprintf(out, "reads %d %d, headers %llx, libraries %s\n", kernelfeature_probe_read_user(),
		kernelfeature_probe_read_kernel(), (unsigned long long)sum_of_headers(),
		path ? path : "");
	for (size_t i = 0; i < ndefs; i++)
		fprintf(out, "%s=%llu\n", defs[i].name,
			late_is(defs[i].name) ? 0 : (unsigned long long)defs[i].value);
	fputs(text, out);
}

struct progcache *progcache_open(const char *text, const struct bpfprog_define *defs, size_t ndefs)
{
	const char *folder = folder_name();
	int fd = folder ? open_folder(folder) : -1;

	if (fd < 0)
		return NULL;
	struct progcache *kept = mem_zalloc(1, sizeof(*kept));
	FILE *out = open_memstream(&kept->key, &kept->key_len);

	kept->folder = mem_strdup(folder);
	kept->fd = fd;
	write_key(out, text, defs, ndefs);
	fclose(out);
	uint64_t sum = sum_of(kept->key, kept->key_len);

	snprintf(kept->name, sizeof(kept->name), "%016llx.bpf", (unsigned long long)sum);
	snprintf(kept->new_name, sizeof(kept->new_name), "%016llx.new", (unsigned long long)sum);
	kept->new_fd = -1;
	return kept;
}

/* Caller frees; NULL: no such file, not of this user's alone, or too long. */
static uint8_t *read_file(const struct progcache *kept, size_t *size)
{
	int fd = openat(kept->fd, kept->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	uint8_t *bytes = NULL;

	if (fd < 0)
		return NULL;
	if (is_own(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX) {
		bytes = mem_alloc(st.st_size + 1);
		ssize_t got = read(fd, bytes, st.st_size);

		*size = got < 0 ? 0 : got;
		futimens(fd, NULL); /* used now */
	}
	close(fd);
	return bytes;
}

/* Are the files that `lines` tells of, a line each, as they were then? */
static bool libraries_are_the_same(const char *lines)
{
	const char *next;

	for (const char *line = lines; *line; line = next) {
		size_t len = strcspn(line, "\n");
		const char *path = strchr(line, '/');
		struct stat st;
		char *now = NULL;
		size_t now_len;

		next = line + len + (line[len] == '\n');
		if (!path || path > line + len)
			return false;
		char *name = mem_strndup(path, line + len - path);
		FILE *out = open_memstream(&now, &now_len);

		if (!stat(name, &st))
			compile_note_library(out, name, &st);
		fclose(out);
		bool same = now_len == (size_t)(next - line) && !memcmp(now, line, now_len);

		free(name);
		free(now);
		if (!same)
			return false;
	}
	return true;
}

/* Key, libraries and code, one behind the other; caller frees. NULL: another program's, or damaged.
 */
static uint8_t *unpack(const struct progcache *kept, const uint8_t *bytes, size_t size,
		       struct head *head)
{
	if (size < sizeof(*head))
		return NULL;
	memcpy(head, bytes, sizeof(*head));
	uint64_t plain = (uint64_t)head->key_len + head->libraries_len + head->code_len;

	if (memcmp(head->magic, MAGIC, sizeof(MAGIC)) || plain > PLAIN_MAX ||
	    head->key_len != kept->key_len ||
	    head->sum != sum_of(bytes + offsetof(struct head, key_len),
				size - offsetof(struct head, key_len)))
		return NULL;
	uint8_t *all = pack_undo(bytes + sizeof(*head), size - sizeof(*head), plain);

	if (all && !memcmp(all, kept->key, kept->key_len))
		return all;
	free(all);
	return NULL;
}

static struct bytecode *read_code(const struct progcache *kept)
{
	struct bytecode *code = NULL;
	struct head head;
	size_t size;
	uint8_t *bytes = read_file(kept, &size);
	uint8_t *all = bytes ? unpack(kept, bytes, size, &head) : NULL;

	if (all) {
		const uint8_t *libraries = all + head.key_len;
		char *lines = mem_strndup((const char *)libraries, head.libraries_len);

		if (libraries_are_the_same(lines))
			code = bytecode_read(libraries + head.libraries_len, head.code_len);
		free(lines);
	}
	free(all);
	free(bytes);
	return code;
}

/* Is the file that is open here the one of this name? */
static bool is_named(const struct progcache *kept, const struct stat *st)
{
	struct stat now;

	return !fstatat(kept->fd, kept->new_name, &now, AT_SYMLINK_NOFOLLOW) &&
	       now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

/* Takes the file that the program will be written to, if nobody has. A lock says so, as it goes
 * with its process, however that ends. False: another process has it, for now. */
static bool claim(struct progcache *kept)
{
	enum { HOW = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };
	int fd = openat(kept->fd, kept->new_name, HOW, 0600);
	struct stat st;

	if (fd < 0)
		return true; /* cannot be kept: nothing is to be waited for */
	if (!is_own(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return true;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) || !is_named(kept, &st)) {
		close(fd);
		return false;
	}
	kept->new_fd = fd;
	return true;
}

struct bytecode *progcache_find(struct progcache *kept)
{
	static const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
	struct bytecode *code = kept ? read_code(kept) : NULL;
	int waited = 0;

	if (!kept)
		return NULL;
	/* whoever has it may have written it between the look and the claim */
	while (!code && waited < ANOTHER_COMPILES_MS) {
		bool claimed = claim(kept);

		code = read_code(kept);
		if (code || claimed)
			break;
		nanosleep(&pause, NULL);
		waited += LOOK_MS;
	}
	return code;
}

static char *make_plain(const struct progcache *kept, const struct compiled *compiled,
			struct head *head, size_t *size)
{
	char *plain = NULL;
	FILE *out = open_memstream(&plain, size);

	memcpy(head->magic, MAGIC, sizeof(MAGIC));
	head->key_len = kept->key_len;
	fwrite(kept->key, 1, kept->key_len, out);
	fputs(compiled->libraries, out);
	head->libraries_len = ftell(out) - head->key_len;
	bytecode_write(out, compiled->code);
	head->code_len = ftell(out) - head->key_len - head->libraries_len;
	fclose(out);
	return plain;
}

/* Caller frees */
static uint8_t *make_file(const struct progcache *kept, const struct compiled *compiled,
			  size_t *size)
{
	struct head head = {.zero = 0};
	size_t plain_len;
	char *plain = make_plain(kept, compiled, &head, &plain_len);
	uint8_t *bytes = pack_bytes(plain, plain_len, sizeof(head), size);

	*size += sizeof(head);
	memcpy(bytes, &head, sizeof(head));
	head.sum = sum_of(bytes + offsetof(struct head, key_len),
			  *size - offsetof(struct head, key_len));
	memcpy(bytes, &head, sizeof(head));
	free(plain);
	return bytes;
}

struct kept_file {
	char name[NAME_DIGITS + sizeof(".bpf")];
	struct timespec used;
	off_t size;
};

/* Whatever else is in the folder is somebody else's. */
static bool is_kept_file(const char *name)
{
	return strspn(name, "0123456789abcdef") == NAME_DIGITS &&
	       (!strcmp(name + NAME_DIGITS, ".bpf") || !strcmp(name + NAME_DIGITS, ".new"));
}

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept_file *)a)->used;
	const struct timespec *y = &((const struct kept_file *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static struct kept_file *list_files(int folder, size_t *count, off_t *sum)
{
	struct kept_file *files = NULL;
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t cap = 0;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (!is_kept_file(entry->d_name) ||
		    fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		files = mem_grow(files, *count, &cap, sizeof(*files));
		struct kept_file *file = &files[(*count)++];

		strcpy(file->name, entry->d_name);
		file->used = st.st_mtim;
		file->size = st.st_size;
		*sum += st.st_size;
	}
	if (dir)
		closedir(dir);
	return files;
}

/* Above the limit, with `size` bytes more, those that were used longest ago go, until a quarter of
 * it is free: so that this is seldom needed. */
static void make_room(int folder, size_t size)
{
	size_t count = 0;
	off_t sum = size;
	struct kept_file *files = list_files(folder, &count, &sum);

	if (sum > FOLDER_MAX) {
		qsort(files, count, sizeof(*files), by_use);
		for (size_t i = 0; i < count && sum > FOLDER_MAX / 4 * 3; i++)
			if (!unlinkat(folder, files[i].name, 0))
				sum -= files[i].size;
	}
	free(files);
}

void progcache_keep(struct progcache *kept, const struct compiled *compiled)
{
	size_t size;

	if (!kept || (kept->new_fd < 0 && (!claim(kept) || kept->new_fd < 0)))
		return;
	uint8_t *bytes = make_file(kept, compiled, &size);

	if (size <= FILE_MAX) {
		make_room(kept->fd, size);
		/* of one that was killed there may be more */
		if (!ftruncate(kept->new_fd, 0) &&
		    write(kept->new_fd, bytes, size) == (ssize_t)size)
			renameat(kept->fd, kept->new_name, kept->fd, kept->name);
	}
	free(bytes);
}

const char *progcache_folder(const struct progcache *kept)
{
	return kept->folder;
}

void progcache_close(struct progcache *kept)
{
	if (!kept)
		return;
	struct stat st;

	if (kept->new_fd >= 0) {
		if (!fstat(kept->new_fd, &st) && is_named(kept, &st)) /* nothing was kept */
			unlinkat(kept->fd, kept->new_name, 0);
		close(kept->new_fd);
	}
	close(kept->fd);
	free(kept->folder);
	free(kept->key);
	free(kept);
}

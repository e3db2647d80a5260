// SPDX-License-Identifier: Apache-2.0
/* Where structs have locks: their fields, by offset, behind pointers and along what code does. */
#include <stdlib.h>
#include <string.h>

#include "arguments/origin.h"
#include "golang/gotype.h"
#include "unit.h"
#include "waits/lock_path_internal.h"

enum { LOCK = 0x5000, INNER = 0x6000 };

static struct gotype mutex = {.kind = GOTYPE_STRUCT, .name = "sync.Mutex", .size = 8},
		     new_mutex = {.kind = GOTYPE_STRUCT, .name = "internal/sync.Mutex", .size = 8},
		     rwmutex = {.kind = GOTYPE_STRUCT, .name = "sync.RWMutex", .size = 24},
		     group = {.kind = GOTYPE_STRUCT, .name = "sync.WaitGroup", .size = 16},
		     cond = {.kind = GOTYPE_STRUCT, .name = "sync.Cond", .size = 16},
		     word = {.kind = GOTYPE_UINT, .name = "uint32", .size = 4},
		     number = {.kind = GOTYPE_INT, .name = "int", .size = 8},
		     mutex_pointer = {.kind = GOTYPE_POINTER,
				      .name = "*sync.Mutex",
				      .size = 8,
				      .elem = &mutex};

/* struct { n int; mu sync.Mutex; sema uint32 } */
static struct gotype_field inner_fields[] = {
	{.name = "n", .off = 0, .type = &number},
	{.name = "mu", .off = 8, .type = &mutex},
	{.name = "sema", .off = 16, .type = &word},
};
static struct gotype inner = {.kind = GOTYPE_STRUCT,
			      .name = "main.inner[go.shape.int,a.b]",
			      .size = 24,
			      .fields = inner_fields,
			      .field_count = 3};
static struct gotype inner_pointer = {
	.kind = GOTYPE_POINTER, .name = "*main.inner", .size = 8, .elem = &inner};
static struct gotype inners = {
	.kind = GOTYPE_ARRAY, .name = "[3]main.inner", .size = 72, .elem = &inner, .count = 3};
static struct gotype pointers = {.kind = GOTYPE_ARRAY,
				 .name = "[2]*main.inner",
				 .size = 16,
				 .elem = &inner_pointer,
				 .count = 2};

static struct gotype_field outer_fields[] = {
	{.name = "rw", .off = 0, .type = &rwmutex},
	{.name = "all", .off = 24, .type = &inners},
	{.name = "ptr", .off = 96, .type = &mutex_pointer},
	{.name = "in", .off = 104, .type = &inner},
	{.name = "next", .off = 128, .type = &inner_pointer},
	{.name = "wg", .off = 136, .type = &group},
	{.name = "c", .off = 152, .type = &cond},
	{.name = "new", .off = 168, .type = &new_mutex},
	{.name = "list", .off = 176, .type = &pointers},
};
static struct gotype outer = {.kind = GOTYPE_STRUCT,
			      .name = "x/y.z/main.Store",
			      .size = 192,
			      .fields = outer_fields,
			      .field_count = sizeof(outer_fields) / sizeof(*outer_fields)};

#define NAME "x/y.z/main.(*Store)"

static void expect(char *path, const char *wanted, unsigned row)
{
	if (!path != !wanted || (path && strcmp(path, wanted) != 0))
		fail_msg("row %u: %s", row, path);
	free(path);
}

static void test_paths(void **state)
{
	static const struct {
		const struct gotype *type;
		uint64_t off;
		enum wait_kind kind;
		bool points;
		const char *wanted;
	} rows[] = {
		{&outer, 0, WAIT_RWMUTEX, false, NAME ".rw"},
		{&outer, 0, WAIT_MUTEX, false, NULL},
		{&outer, 8, WAIT_RWMUTEX, false, NULL},
		{&outer, 32, WAIT_MUTEX, false, NAME ".all[0].mu"},
		{&outer, 56, WAIT_MUTEX, false, NAME ".all[1].mu"},
		{&outer, 80, WAIT_MUTEX, false, NAME ".all[2].mu"},
		{&outer, 40, WAIT_SEMAPHORE, false, NAME ".all[0].sema"},
		{&outer, 44, WAIT_SEMAPHORE, false, NULL}, /* between fields */
		{&outer, 96, WAIT_MUTEX, true, NAME ".ptr"},
		{&outer, 96, WAIT_MUTEX, false, NULL},
		{&outer, 112, WAIT_MUTEX, true, NULL},
		{&outer, 112, WAIT_MUTEX, false, NAME ".in.mu"},
		{&outer, 136, WAIT_WAITGROUP, false, NAME ".wg"},
		{&outer, 152, WAIT_COND, false, NAME ".c"},
		{&outer, 168, WAIT_MUTEX, false, NAME ".new"},
		{&outer, 192, WAIT_MUTEX, false, NULL},
		{&outer, 1 << 20, WAIT_MUTEX, false, NULL},
		{&inner, 8, WAIT_MUTEX, false, "main.(*inner[go.shape.int,a.b]).mu"},
		{&mutex, 0, WAIT_MUTEX, false, NULL}, /* itself, not one in it */
		{&word, 0, WAIT_SEMAPHORE, false, NULL},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(lock_path(rows[i].type, rows[i].off, rows[i].kind, rows[i].points),
		       rows[i].wanted, i);
}

/* A type without a package */
static void test_no_package(void **state)
{
	struct gotype_field field = {.name = "mu", .off = 0, .type = &mutex};
	const struct gotype local = {.kind = GOTYPE_STRUCT,
				     .name = "T[a.b]",
				     .size = 8,
				     .fields = &field,
				     .field_count = 1};

	(void)state;
	expect(lock_path(&local, 0, WAIT_MUTEX, false), "(*T[a.b]).mu", 0);
}

/* Structs in structs, up to so many */
static void test_depth(void **state)
{
	struct gotype_field fields[20];
	struct gotype types[20];

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		fields[i] = (struct gotype_field){.name = "f", .type = i ? &types[i - 1] : &mutex};
		types[i] = (struct gotype){.kind = GOTYPE_STRUCT,
					   .name = "T",
					   .size = 8,
					   .fields = &fields[i],
					   .field_count = 1};
	}
	expect(lock_path(&types[15], 0, WAIT_MUTEX, false), "(*T).f.f.f.f.f.f.f.f.f.f.f.f.f.f.f.f",
	       0);
	expect(lock_path(&types[16], 0, WAIT_MUTEX, false), NULL, 1);
}

/* --- behind pointers --- */

static void test_behind(void **state)
{
	uint64_t words[24] = {0};

	(void)state;
	words[12] = LOCK;  /* ptr */
	words[16] = INNER; /* next */
	expect(lock_path_behind(&outer, words, sizeof(words), LOCK, WAIT_MUTEX), NAME ".ptr", 0);
	expect(lock_path_behind(&outer, words, 104, LOCK, WAIT_MUTEX), NAME ".ptr", 1);
	expect(lock_path_behind(&outer, words, 103, LOCK, WAIT_MUTEX), NULL, 2);
	expect(lock_path_behind(&outer, words, sizeof(words), LOCK, WAIT_RWMUTEX), NULL, 3);
	expect(lock_path_behind(&outer, words, sizeof(words), INNER + 8, WAIT_MUTEX),
	       "main.(*inner[go.shape.int,a.b]).mu", 4);
	expect(lock_path_behind(&outer, words, sizeof(words), INNER + 16, WAIT_SEMAPHORE),
	       "main.(*inner[go.shape.int,a.b]).sema", 5);
	expect(lock_path_behind(&outer, words, sizeof(words), INNER + 24, WAIT_MUTEX), NULL, 6);
	expect(lock_path_behind(&outer, words, sizeof(words), INNER - 8, WAIT_MUTEX), NULL, 7);
	words[16] = 0; /* nil: what would be at low addresses */
	expect(lock_path_behind(&outer, words, sizeof(words), 8, WAIT_MUTEX), NULL, 8);
}

/* --- along --- */

static void test_along(void **state)
{
	static const struct {
		struct origin origin;
		enum wait_kind kind;
		const char *wanted;
	} rows[] = {
		{{.loads = 0, .adds = {112}}, WAIT_MUTEX, NAME ".in.mu"},
		{{.loads = 0, .adds = {0}}, WAIT_MUTEX, NULL},
		{{.loads = 1, .adds = {96, 0}}, WAIT_MUTEX, NAME ".ptr"},
		{{.loads = 1, .adds = {96, 8}}, WAIT_MUTEX, NULL},
		{{.loads = 1, .adds = {128, 8}}, WAIT_MUTEX, "main.(*inner[go.shape.int,a.b]).mu"},
		{{.loads = 1, .adds = {128, 16}},
		 WAIT_SEMAPHORE,
		 "main.(*inner[go.shape.int,a.b]).sema"},
		{{.loads = 1, .adds = {184, 8}}, WAIT_MUTEX, "main.(*inner[go.shape.int,a.b]).mu"},
		{{.loads = 1, .adds = {104, 8}}, WAIT_MUTEX, NULL}, /* no pointer is there */
		{{.loads = 1, .adds = {132, 8}}, WAIT_MUTEX, NULL}, /* in one */
		{{.loads = 1, .adds = {192, 8}}, WAIT_MUTEX, NULL},
		{{.loads = 1, .adds = {-8, 8}}, WAIT_MUTEX, NULL},
		{{.loads = 2, .adds = {128, 0, 0}}, WAIT_MUTEX, NULL},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(lock_path_along(&outer, &rows[i].origin, rows[i].kind), rows[i].wanted, i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths), cmocka_unit_test(test_no_package),
		cmocka_unit_test(test_depth), cmocka_unit_test(test_behind),
		cmocka_unit_test(test_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

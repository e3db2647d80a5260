// SPDX-License-Identifier: Apache-2.0
/* What is said where a name is that of a method which the compiler has made of another. */
#include <string.h>

#include "selection_open.h"

enum { ROOM = 64 }; /* for names: offsets in the table of them */

static void rename_func(struct subject *s, unsigned index, const char *name)
{
	unsigned off = ROOM + 0x18 * index;

	elffile_bytes(s->o.g.f, GOFILE_TAB + GOFILE_NAMES + off, name, strlen(name) + 1);
	elffile_u32(s->o.g.f, gofile_record(&s->o.g, index) + 4, off);
}

#define MADE                                                                                       \
	"main.(*T).M is a wrapper made by the compiler, for calls through an interface: other "    \
	"calls go to main.T.M\n"

static void test_notes(void **state)
{
	static const struct {
		const char *method, *wrapper, *pattern; /* what main.a and main.c are named */
		const char *notes;
	} rows[] = {
		{"main.T.M", "main.(*T).M", "main.(*T).M", MADE},
		{"main.T.M", "main.(*T).M", "main.(*T).*", NULL},
		{"main.T.M", "main.(*T).M", "main.T.M", NULL},
		{"main.T.N", "main.(*T).M", "main.(*T).M", NULL},
		{"main.U.M", "main.(*T).M", "main.(*T).M", NULL},
		{"main.T.M", "main.M", "main.M", NULL},
	};
	const struct selection_want want = {.may_miss = true};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct subject s;

		subject_write(&s);
		rename_func(&s, 0, rows[i].method);
		rename_func(&s, 2, rows[i].wrapper);
		subject_open(&s, &want);
		subject_add(&s, rows[i].pattern);
		subject_notes(&s, rows[i].notes);
		subject_drop(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

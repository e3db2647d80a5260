// SPDX-License-Identifier: Apache-2.0
/* Sites in arm64 code that a preempted goroutine may execute again, in whole small Go programs; and
 * the marks of inlined calls there. */
#include "gofile_open.h"

#include <string.h>

#include "program/program.h"
#include "sites/inlining_internal.h"
#include "sites/site.h"

enum {
	NOP = 0xd503201f,
	RET = 0xd65f03c0,
	ADRP = 0xd0000adb,  /* adrp x27 */
	LDR = 0xf9449764,   /* ldr x4, [x27, #2344] */
	STORE = 0xf9000020, /* str x0, [x1] */
	TABLE = 40,         /* a free place among the tables of values */
	PCDATA_0 = 44,      /* in a record from Go 1.20 on: the first table of PCDATA */
};

struct checked {
	struct opened o;
	struct site_finder *finder;
};

/* main.b has this code and, unless NULL, this table of unsafe points */
static void open_code(struct checked *c, const uint32_t *words, size_t count, const uint8_t *table,
		      size_t len)
{
	gofile_make(&c->o.g, 27, EM_AARCH64);
	elffile_bytes(c->o.g.f, c->o.g.starts[1], words, count * sizeof(*words));
	if (table) {
		elffile_bytes(c->o.g.f, GOFILE_TAB + GOFILE_PCS + TABLE, table, len);
		elffile_u32(c->o.g.f, gofile_record(&c->o.g, 1) + PCDATA_0, TABLE);
	}
	open_it(&c->o);
	c->finder = site_finder_new(&(struct program){.img = c->o.img, .tab = c->o.tab});
}

static void close_code(struct checked *c)
{
	site_finder_free(c->finder);
	close_it(&c->o);
}

/* how many instructions above its start main.b has its entry */
static uint64_t entry_of(struct checked *c)
{
	struct functab_func fn;
	const char *reason = "";
	struct site site;

	get(&c->o, 1, &fn);
	if (site_entry(c->finder, &fn, true, &site, &reason))
		fail_msg("%s", reason);
	return (site.addr - fn.addr) / 4;
}

static void test_first_instructions(void **state)
{
	/* two sequences of two instructions, that begin at once */
	static const uint32_t code[] = {ADRP, LDR, ADRP, LDR, RET};
	static const uint8_t table[] = {3, 2, 1, 2, 6, 60, 0};
	struct checked c;

	(void)state;
	open_code(&c, code, 5, table, sizeof(table));
	assert_int_equal(entry_of(&c), 1);
	close_code(&c);
	open_code(&c, code, 5, NULL, 0);
	assert_int_equal(entry_of(&c), 0);
	close_code(&c);
}

/* ldr x16, [x28, #16]; cmp sp, x16; b.ls; movz x27; sub x20, sp, x27; ret; the detour */
static void test_after_check(void **state)
{
	static const uint32_t code[] = {0xf9400b90, 0xeb3063ff, 0x54000089, 0xd282469b, 0xcb3b63f4,
					RET,        0xaa1e03e3, 0x94000100, 0x17fffff8};
	static const uint8_t table[] = {0, 3, 3, 2, 4, 59, 0};
	struct checked c;

	(void)state;
	open_code(&c, code, 9, table, sizeof(table));
	assert_int_equal(entry_of(&c), 4);
	close_code(&c);
}

static bool keep_copy(const struct inlining_copy *copy, void *ctx)
{
	struct inlining_copy **next = ctx;

	*(*next)++ = *copy;
	return true;
}

/* main.inl1 is at 4 to 44 instructions: its mark is the first one of main.b */
static void check_copy(const uint32_t *first, const uint8_t *table, size_t len, unsigned want)
{
	struct inlining_copy copies[4] = {0}, *end = copies;
	const char *reason = "";
	uint32_t code[45];
	struct checked c;
	struct site site;

	for (size_t i = 0; i < 45; i++)
		code[i] = i == 44 ? RET : STORE;
	memcpy(code, first, 6 * sizeof(*first));
	open_code(&c, code, 45, table, len);
	inlining_each(c.o.tab, keep_copy, &end);
	assert_int_equal(end - copies, 2);
	if (inlining_entry(c.finder, &copies[0], &site, &reason))
		fail_msg("%s", reason);
	assert_int_equal((site.addr - c.o.g.starts[1]) / 4, want);
	close_code(&c);
}

static void test_inlined_copy(void **state)
{
	static const uint32_t marked[] = {NOP, STORE, STORE, STORE, STORE, STORE},
			      bare[] = {STORE, STORE, STORE, STORE, ADRP, LDR};
	/* instructions 4 and 5 are a sequence */
	static const uint8_t table[] = {0, 4, 3, 2, 4, 58, 0};

	(void)state;
	check_copy(marked, NULL, 0, 0);
	check_copy(bare, table, sizeof(table), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_instructions),
		cmocka_unit_test(test_after_check),
		cmocka_unit_test(test_inlined_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

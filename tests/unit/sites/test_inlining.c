// SPDX-License-Identifier: Apache-2.0
/* Inlined copies and where their runs begin and end, through a whole small Go program; from bytes
 * alone: test_body.c. */
#include "gofile_open.h"

#include <stdlib.h>

#include "program/program.h"
#include "sites/inlining_internal.h"
#include "sites/site.h"

/* main.b of gofile.h: main.inl1 is at 4..44 and main.inl2 in it at 24..44; SP stands 24 lower from
 * 4 to 44; the calls' marks are at 0 and 4 */
static const uint8_t main_b[0x40] = "\x90\x48\x89\xc3"                 /* 0: mark; mov rbx, rax */
				    "\x90\x48\x89\x03"                 /* 4: mark; mov [rbx], rax */
				    "\x48\x89\x43\x08\x48\x89\x43\x10" /* 8: two stores */
				    "\x48\x89\x43\x08\x48\x89\x43\x10" /* 16 */
				    "\xe8\0\0\0\0"                     /* 24: call */
				    "\x90\x90\x90\x48\x89\xc1"         /* 29: mov rcx, rax */
				    "\x48\x89\xc8\x48\x89\xc8\x48\x89\xc8" /* 35 */
				    "\xc3\xcc\xcc\xcc";                    /* 44: ret */

static bool keep_copy(const struct inlining_copy *copy, void *ctx)
{
	struct inlining_copy **next = ctx;

	*(*next)++ = *copy;
	return true;
}

static void check_program(struct opened *o)
{
	struct site_finder *finder =
		site_finder_new(&(struct program){.img = o->img, .tab = o->tab});
	struct inlining_copy copies[4] = {0}, *end = copies;
	uint64_t main_b_addr = o->g.starts[1];
	struct site_list exits = {0};
	const char *reason = "";
	struct site site;

	assert_int_equal(inlining_each(o->tab, keep_copy, &end), 0);
	assert_int_equal(end - copies, 2);
	assert_string_equal(copies[0].name, "main.inl1");
	assert_int_equal(copies[0].addr, main_b_addr + 4);
	assert_int_equal(copies[0].func, 1);
	assert_string_equal(copies[1].name, "main.inl2");
	assert_int_equal(copies[1].addr, main_b_addr + 24);

	if (inlining_entry(finder, &copies[0], &site, &reason))
		fail_msg("%s", reason);
	assert_int_equal(site.addr, main_b_addr); /* its mark */
	assert_true(site.emulated);
	assert_int_equal(inlining_entry(finder, &copies[1], &site, &reason), 0);
	assert_int_equal(site.addr, main_b_addr + 4);

	/* the inner copy is a mere forwarder */
	assert_int_equal(inlining_span(finder, &copies[1], &site, &exits, &reason), 0);
	assert_int_equal(site.kind, SITE_INLINED_CALL);
	assert_int_equal(site.addr, main_b_addr + 24);
	assert_int_equal(site.sp_adjust, 0);
	assert_int_equal(exits.count, 1);
	assert_int_equal(exits.items[0].addr, main_b_addr + 29);
	copies[0].node = 7;
	assert_int_equal(inlining_entry(finder, &copies[0], &site, &reason), -1);
	free(exits.items);
	site_finder_free(finder);
}

static void test_program(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct opened o;

		gofile_make(&o.g, releases[i], EM_X86_64);
		elffile_bytes(o.g.f, o.g.starts[1], main_b, sizeof(main_b));
		open_it(&o);
		check_program(&o);
		close_it(&o);
	}
}

/* a tree of more nodes than there may be: it is said of how many functions */
static void test_left_out(void **state)
{
	struct inlining_copy copies[4] = {0}, *end = copies;
	/* from -1 up by 1 << 21, doubled, for 64 bytes */
	static const uint8_t table[] = {0x80, 0x80, 0x80, 0x02, 64, 0};
	struct opened o;

	(void)state;
	gofile_make(&o.g, 23, EM_X86_64);
	elffile_bytes(o.g.f, GOFILE_TAB + GOFILE_PCS_FREE, table, sizeof(table));
	elffile_u32(o.g.f, gofile_record(&o.g, 1) + 52, GOFILE_PCS_FREE - GOFILE_PCS);
	open_it(&o);
	assert_int_equal(inlining_each(o.tab, keep_copy, &end), 1);
	assert_ptr_equal(end, copies);
	close_it(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* All that is read of descriptors, as text; and which of their bytes decide of it. */
#include "rttifile_open.h"

#include <string.h>

#include "steps.h"
#include "typedump.h"

static bool note_type(const struct gotype *type, void *ctx)
{
	struct typedump *dump = ctx;

	typedump_text(dump, "%lx ", type->rtype - RTTIFILE_TYPES);
	typedump_number(dump, type);
	return true;
}

/* All types in their order, what they are, signatures, and what is told of them otherwise. */
static void dump_it(struct opened *o, struct typedump *dump)
{
	static const char *const names[] = {"main.T", "http.Header", "net/http.Header", "[]main.T",
					    "main.I"};
	bool several = false;
	const char *last;

	memset(dump, 0, sizeof(*dump));
	rtti_each(o->rtti, note_type, dump);
	typedump_text(dump, "\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		typedump_text(dump, "%zu ", typedump_number(dump, rtti_named(o->rtti, names[i])));
	last = rtti_last(o->rtti, "T", GOTYPE_STRUCT, 32, &several);
	typedump_text(dump, "T %s%s\n", last ? last : "-", several ? " several" : "");
	for (unsigned i = 0; i < 3; i++) {
		struct gofunc fn;

		if (!rtti_func(o->rtti, o->r.g.starts[i], &fn))
			typedump_func(dump, &fn);
	}
	for (unsigned i = 0; i < RTTIFILE_COUNT; i++)
		typedump_text(dump, "%c%s", rtti_is_direct(o->rtti, o->r.addr[i]) ? 'd' : '-',
			      rtti_promotes_error(o->rtti, o->r.addr[i]) ? "e" : "");
	typedump_text(dump, " names %lx\n", rtti_names(o->rtti));
	typedump_types(dump);
}

static void test_texts(void **state)
{
	static const int some[] = {16, 18, 27};

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct typedump dump;
		struct opened o;

		make_and_open(&o, some[i]);
		dump_it(&o, &dump);
		steps_are("Go 1.%d\n%s", some[i], dump.text);
		free_it(&o);
	}
	steps_expect("Go 1.16\n"
		     "1e8 1a0 110 2d8 168 38 8 68 250 290 \n"
		     "8 1 1 5 4 T main.T\n"
		     "func receiver dictionary -1 source 3 ( 3,  7) ( 6)\n"
		     "---d--ddd---- names 0\n"
		     "1 map http.Header 8/8 defined at 402be8 key 6 of 5\n"
		     "2 array [4]int 32/8 at 402ba0 times 4 of 7\n"
		     "3 pointer *main.T 8/8 at 402b10 of 8\n"
		     "4 interface main.I 16/8 defined methods at 402cd8\n"
		     "5 slice []main.T 24/8 at 402b68 of 8\n"
		     "6 string string 16/8 at 402a38\n"
		     "7 int int 8/8 at 402a08\n"
		     "8 struct main.T 32/8 defined at 402a68 {A@0 7, B@8 6 embedded, next@24 3}\n"
		     "9 chan chan int 8/8 at 402c50 of 7\n"
		     "10 func func(int) string 8/8 at 402c90\n"
		     "; Go 1.18\n"
		     "1e8 1a0 110 2d8 168 38 8 68 250 290 \n"
		     "8 1 1 5 4 T main.T\n"
		     "func receiver dictionary -1 source 3 ( 3,  7) ( 6)\n"
		     "---d--ddd---- names 402a00\n"
		     "1 map http.Header 8/8 defined at 402be8 key 6 of 5\n"
		     "2 array [4]int 32/8 at 402ba0 times 4 of 7\n"
		     "3 pointer *main.T 8/8 at 402b10 of 8\n"
		     "4 interface main.I 16/8 defined methods at 402cd8\n"
		     "5 slice []main.T 24/8 at 402b68 of 8\n"
		     "6 string string 16/8 at 402a38\n"
		     "7 int int 8/8 at 402a08\n"
		     "8 struct main.T 32/8 defined at 402a68 {A@0 7, B@8 6 embedded, next@24 3}\n"
		     "9 chan chan int 8/8 at 402c50 of 7\n"
		     "10 func func(int) string 8/8 at 402c90\n"
		     "; Go 1.27\n"
		     "8 38 68 110 168 1a0 1e8 280 2c0 308 \n"
		     "3 7 7 5 10 T main.T\n"
		     "func receiver dictionary -1 source 3 ( 4,  1) ( 2)\n"
		     "---d--ddd---- names 402a00\n"
		     "1 int int 8/8 at 402a08\n"
		     "2 string string 16/8 at 402a38\n"
		     "3 struct main.T 32/8 defined at 402a68 {A@0 1, B@8 2 embedded, next@24 4}\n"
		     "4 pointer *main.T 8/8 at 402b10 of 3\n"
		     "5 slice []main.T 24/8 at 402b68 of 3\n"
		     "6 array [4]int 32/8 at 402ba0 times 4 of 1\n"
		     "7 map http.Header 8/8 defined swiss at 402be8 key 2 of 5\n"
		     "8 chan chan int 8/8 at 402c80 of 1\n"
		     "9 func func(int) string 8/8 at 402cc0\n"
		     "10 interface main.I 16/8 defined methods at 402d08\n"
		     "; ");
}

/* '.': nothing is changed; a digit, or letters from 10 on: how many types are left, of which
 * something is;
 * '!': it is not opened. */
static char changed(struct opened *o, const struct typedump *before)
{
	char said = '!';

	if (try_open(o, o->r.g.release)) {
		struct typedump dump;

		dump_it(o, &dump);
		if (!strcmp(dump.text, before->text))
			said = '.';
		else
			said = (char)(dump.count < 10 ? '0' + dump.count : 'a' + dump.count - 10);
	}
	close_it(o);
	return said;
}

/* a row for each descriptor: each of its bytes in turn has this bit turned */
static void say_bytes(int release, uint8_t bit)
{
	struct typedump before;
	struct opened o;

	make_and_open(&o, release);
	dump_it(&o, &before);
	close_it(&o);
	for (unsigned i = 0; i < RTTIFILE_COUNT; i++) {
		uint64_t at = o.r.addr[i];
		uint64_t end = i + 1 < RTTIFILE_COUNT ? o.r.addr[i + 1] : o.r.end;
		char row[256] = "";

		for (size_t n = 0; at + n < end; n++) {
			*(uint8_t *)elffile_at(o.r.g.f, at + n) ^= bit;
			row[n] = changed(&o, &before);
			*(uint8_t *)elffile_at(o.r.g.f, at + n) ^= bit;
		}
		steps_are("%u %s", i, row);
	}
	elffile_free(o.r.g.f);
}

static void test_low_bits(void **state)
{
	(void)state;
	say_bytes(16, 1);
	steps_expect("0 aaaaaaaa.............a.a................aaaa....; 1 "
		     "aaaaaaaa.............a.a................aaaa....; 2 "
		     "aaaaaaaa.............a.a................aaaa............aaaaaaaa"
		     "aaaaaaaa.............a..........aaaaaaaabbbbbbbbaaaaaaaaaaaaaaaa"
		     "bbbbbbbbaaaaaaaaaaaaaaaabbbbbbbbaaaaaaaa; 3 "
		     "aaaaaaaa............aa.a................aaaa....babbbbbb....a..."
		     "aaaa....aaaaabaa....aaaa; 4 "
		     "aaaaaaaa.............a.a................aaaa....babbbbbb; 5 "
		     "aaaaaa88.............8.8................88889999aaaaaaaa........"
		     "aaaaaaaa; 6 "
		     "88888888............a8.8................8888....bbbbbbbba9aaaaaa"
		     "........................aaaa............; 7 "
		     "99999999.............9.9................9999....bbbbbbbb........; 8 "
		     "99999999............a9.b................9999....aaaa....aaaaaaaa"
		     "aaaaaaaa; 9 "
		     "99999999.............9.9................9999..............999999"
		     "a.999999.............................b..; 10 "
		     "................................................................"
		     "................; 11 "
		     "................................................; 12 "
		     "................................................................"
		     "........................................; ");
	say_bytes(26, 1);
	steps_expect("0 aaaaaaaa.............a.a................aaaa....; 1 "
		     "aaaaaaaa.............a.a................aaaa....; 2 "
		     "aaaaaaaa.............a.a................aaaa............aaaaaaaa"
		     "aaaaaaaa.............a..........aaaaaaaabbbbbbbbaaaaaaaaaaaaaaaa"
		     "bbbbbbbbaaaaaaaaaaaaaaaabbbbbbbbaaaaaaaa; 3 "
		     "aaaaaaaa............aa.a................aaaa....babbbbbb....a..."
		     "aaaa....aaaaabaa....aaaa; 4 "
		     "aaaaaaaa.............a.a................aaaa....babbbbbb; 5 "
		     "aaaaaa88.............8.8................88889999aaaaaaaa........"
		     "aaaaaaaa; 6 "
		     "88888888............a8.8................8888....bbbbbbbba9aaaaaa"
		     "aaaaaaaa........aaaaaaaa........................aaaa............; 7 "
		     "99999999.............9.9................9999....bbbbbbbb........; 8 "
		     "99999999............a9.b................9999....aaaa....aaaaaaaa"
		     "aaaaaaaa; 9 "
		     "99999999.............9.9................9999..............999999"
		     "a.999999.............................b..; 10 "
		     "................................................................"
		     "................; 11 "
		     "................................................; 12 "
		     "aaaaaaaa........................................................"
		     "........................................; ");
}

static void test_high_bits(void **state)
{
	(void)state;
	say_bytes(18, 0x80);
	steps_expect("0 aaaaaaaa.............a..................aaaa....; 1 "
		     "aaaaaaaa.............a..................aaaa....; 2 "
		     "aaaaaaaa.............a..................aaaa............aaaaaaaa"
		     "aaaaaaaa............a...........aaaaaaaabbbbbbbbaaaaaaaaaaaaaaaa"
		     "bbbbbbbbaaaaaaaaaaaaaaaabbbbbbbbaaaaaaaa; 3 "
		     "aaaaaaaa.............a..................aaaa....bbbbbbbb.....a.."
		     "aaaa....aaaaaaaa....aaaa; 4 "
		     "aaaaaaaa.............a..................aaaa....bbbbbbbb; 5 "
		     "aaaaa888.............8..................88889999aaaaaaaa........"
		     "aaaaaaaa; 6 "
		     "88888888.............8..................8888....bbbbbbbb9aaaaaaa"
		     "........................aaaa............; 7 "
		     "99999999.............9..................9999....bbbbbbbb........; 8 "
		     "99999999.............9..................9999....a9a.....aaaaaaaa"
		     "aaaaaaaa; 9 "
		     "99999999.............9..................9999.............9999999"
		     ".9999999................................; 10 "
		     "................................................................"
		     "................; 11 "
		     "................................................; 12 "
		     "................................................................"
		     "........................................; ");
	say_bytes(27, 8);
	steps_expect("0 66666666.............6.6................6666....; 1 "
		     "66666666.............6.a................a666....; 2 "
		     "aaaaaa66.............6.6................a666............aa666666"
		     "66666666............6...........aaaaaaaabbbbbbbbaaaaaaaaaaaaaaaa"
		     "bbbbbbbbaaaaaaaaaaaaaaaabbbbbbbbaaaaaaaa; 3 "
		     "66666666.............6.6................6666....bbbbbbbb....96.."
		     "aa66....aaaaaaaa....aaaa; 4 "
		     "66666666.............6.6................6666....bbbbbbbb; 5 "
		     "aaaaaa77.............7.7................7777....aaaaaaaa........"
		     "aaaaaaaa; 6 "
		     "99999999.............9.9................9999....bbbbbbbbbbbbbbbb"
		     "aaaaaaaa........aaaaaaaa........................................"
		     "........aaaaa...........; 7 "
		     "99999999.............9.a................9999....bbbbbbbb........; 8 "
		     "99999999.............9.9................9999....a9a9....aaaaaaaa"
		     "aaaaaaaa; 9 "
		     "99999999.............9.9................9999..............999999"
		     ".9999999................................; 10 "
		     "................................................................"
		     "................; 11 "
		     "................................................; 12 "
		     "aaaaaaaa........................................................"
		     "........................................; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_low_bits),
		cmocka_unit_test(test_high_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Where a source line is probed in all functions of three or four pieces (codewords.h) behind a
 * push: those in capitals are of the line, others of the one before or behind it. A place is the
 * number of the piece, and a letter a reason. */
#include "gofile_open.h"

#include <stdlib.h>
#include <string.h>

#include "codewords.h"
#include "program/program.h"
#include "sites/line_site.h"
#include "sites/site.h"
#include "steps.h"

enum { LINE = 20, OF_MAIN_A = -0x40, BEFORE = -1, BEHIND = 1 };

/* n: none is left, m: all may have been moved, l: a loop is part of it, d: it decides whether a
 * loop goes on, o: not all as often, b: some may pass by it */
static char reason_of(const char *reason)
{
	static const char *const known[] = {"nnone of its code is left here",
					    "mthe compiler may have moved all of its code",
					    "la loop is part of the line",
					    "dthe line decides whether a loop goes on",
					    "oits code is not all executed as often",
					    "bsome executions of the line may pass by its code"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i] + 1, reason))
			return *known[i];
	fail_msg("%s", reason);
	return 0;
}

static void put_lines(struct gofile *g, const struct codeword *word, int others)
{
	struct gofile_lines lines[CODEWORDS_PIECES + 2] = {0};
	unsigned n = 0;

	for (unsigned i = 0; i < word->count; i++) {
		bool is_last = i + 1 == word->count;
		bool own = word->pieces[i] < 'a';

		lines[n++] = (struct gofile_lines){is_last ? 64 : word->starts[i + 1],
						   own ? LINE : LINE + (i ? others : -2)};
	}
	gofile_put_lines(g, lines);
}

static char site_of(const char *letters, int others)
{
	const struct line_place place = {"b.go", LINE, -1};
	struct codeword word = {0};
	char pieces[CODEWORDS_PIECES];
	const char *reason = "";
	struct opened o = {0};
	struct site site;
	char said;

	snprintf(pieces, sizeof(pieces), "u%s", letters); /* the function's own line */
	codeword_make(&word, pieces, OF_MAIN_A);
	gofile_make(&o.g, 23, EM_X86_64);
	memset(elffile_at(o.g.f, o.g.starts[1]), 0xcc, 0x40);
	elffile_bytes(o.g.f, o.g.starts[1], word.bytes, word.starts[word.count]);
	put_lines(&o.g, &word, others);
	elffile_u32(o.g.f, gofile_record(&o.g, 1) + 52, 0); /* nothing is inlined */
	open_it(&o);

	struct functab_func fn;

	get(&o, 1, &fn);
	struct site_finder *finder = site_finder_new(&(struct program){.img = o.img, .tab = o.tab});

	said = line_site(finder, &fn, &place, &site, &reason)
		       ? reason_of(reason)
		       : codeword_place(&word, site.addr - fn.addr);
	site_finder_free(finder);
	close_it(&o);
	return said;
}

static void rows_are(const char *letters, unsigned len, int others)
{
	char word[CODEWORDS_PIECES], row[512];
	unsigned n = 0, at = 0, each = 1;

	for (unsigned i = 1; i < len; i++)
		each *= strlen(letters);
	while (codeword_nth(letters, len, n++, word)) {
		row[at++] = site_of(word, others);
		if (at != each)
			continue;
		steps_are("%c%.*s %.*s", *word, len - 1, "...", each, row);
		at = 0;
	}
}

static void test_before(void **state)
{
	(void)state;
	rows_are("CTKctk", 4, BEFORE);
	steps_expect("C... 1111111111111111111111111111111111111111111111111111111111111111"
		     "1111111111111111111111111111111111111111111111l11l11l11lllllll11"
		     "111111111111111111l11l11l11lllllll11111111111111111111l11lddlddl"
		     "llllll111111111111111111; T... "
		     "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
		     "mmmmmmmmdddddddddddddddddddddddddddddddddddd33l33lmmlmmlllllllmm"
		     "mmmmmmmmmmmmmmmmooloolmmlmmlllllllmmmmmmmmmmmmmmmmmmddlddlddlddl"
		     "lllllldddddddddddddddddd; K... "
		     "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
		     "ddddddddddddddddddddddddddddddddddddddddddddddlddlddlddllllllldd"
		     "ddddddddddddddddddlddlddlddlllllllddddddddddddddddddddlddlddlddl"
		     "lllllldddddddddddddddddd; c... "
		     "22222222222222222222l22222l2222dl222mmmmmmmmmmmmdddddd4mlmmmomlm"
		     "mmddldddddddddddddddddddddddldddddldddddldddnnnnnnnnnnnnnnnnnnnn"
		     "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
		     "nnnnnnnnnnnnnnnnnnnnnnnn; t... "
		     "22b22bbbbbbbbbbbbb4ol22boolbbblllbbbmmmmmmmmmmmmmmmmmm4mlmmmomlm"
		     "mmlllmmmmmmmmmmmmmmmmmmmmmddlmmmddlmmmlllmmmnnnnnnnnnnnnnnnnnnnn"
		     "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
		     "nnnnnnnnnnnnnnnnnnnnnnnn; k... "
		     "22222222222222222222l22222l2222dl222mmmmmmmmmmmmdddddd4mlmmmomlm"
		     "mmddldddmmmmmmmmmmmmddddddomlmmmomlmmmddldddnnnnnnnnnnnnnnnnnnnn"
		     "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
		     "nnnnnnnnnnnnnnnnnnnnnnnn; ");
}

static void test_behind(void **state)
{
	(void)state;
	rows_are("CPSTKctx", 3, BEHIND);
	steps_expect("C.. 1111111n1111111n1111111n11111111111111111111l11n1111l1113m3mnnnn; "
		     "P.. mmmmmmmnmmmmmmmnmmmmmmmnmmmmmmmmmmmmmmmm3m3mlmmnomomlmmm3m3mnnnn; "
		     "S.. 0000000n0000000n0000000n00000000111111110000l00n0000l0003m3mnnnn; "
		     "T.. mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmdddddddm3m3mlmmmomomlmmm3m3mmmmm; "
		     "K.. dddddddmdddddddmdddddddmddddddddddddddddddddlddmddddldddnnnnnmmm; "
		     "c.. 2222222nmmmmmmmn2222222nmmmmdmmmdddddddmnnnnnnnnnnnnnnnnnnnnnnnn; "
		     "t.. bbbbbbb2mmmmmmmm22222222mmmmmmmmmmmmmmmmnnnnnnnnnnnnnnnnnnnnnnnn; "
		     "x.. 2222n22nmmmmnmmn2222n22nmmmmnmmmmmmmnmmmnnnnnnnnnnnnnnnnnnnnnnnn; ");
}

/* of the line is a branch alone */
static void test_branches(void **state)
{
	(void)state;
	rows_are("CBcts", 3, BEFORE);
	steps_expect("C.. 11111111111l1111l1111l111; B.. dddddddddddlddddlddddlddd; c.. "
		     "22222dddddnnnnnnnnnnnnnnn; t.. 2b2b2mmmmmnnnnnnnnnnnnnnn; s.. "
		     "22222dddddnnnnnnnnnnnnnnn; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

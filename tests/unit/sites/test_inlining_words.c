// SPDX-License-Identifier: Apache-2.0
/* Where an inlined copy is probed and timed, in all functions of three pieces (codewords.h) behind
 * a push, on whose line the copy's call stands: those in capitals are the copy's, others of a line
 * before or behind that. A place is the number of the piece, and a letter a reason. */
#include "gofile_open.h"

#include <stdlib.h>
#include <string.h>

#include "codewords.h"
#include "program/program.h"
#include "sites/inlining_internal.h"
#include "sites/site.h"
#include "steps.h"

enum { CALL_LINE = 20, OF_MAIN_A = -0x40, BEFORE = -1, BEHIND = 1, WORDS_MAX = 512 };

static struct said {
	char entry[WORDS_MAX], span[WORDS_MAX], exit[WORDS_MAX], places[WORDS_MAX], call[WORDS_MAX];
} said;

struct subject {
	struct opened o;
	struct codeword word;
	struct site_finder *finder;
	struct inlining_copy copy;
};

/* n: none is left, m: may have been moved, o: no instruction is part of all, l: a loop's, f: the
 * first is not, w: work of the caller's, e: the end is the next one's beginning, c: not one call,
 * k: the kernel, z: never ends, y: nothing follows */
static char reason_of(const char *reason)
{
	static const char *const known[] = {
		"nnone of the inlined code is left here",
		"mthe compiler may have moved the code",
		"ono instruction is part of every run",
		"lthe first instruction is also part of a loop",
		"fsome of the code may run before the first instruction",
		"wthe code is mixed with the caller's",
		"ethe end is also the beginning of the next run",
		"cthe copy makes no call, or more than one",
		"kthe kernel cannot probe the place where a run begins",
		"qthe kernel cannot probe the place where a run ends",
		"hnewer kernels write to the stack when a long nop is probed",
		"zthe copy never ends",
		"yno code of the function follows the copy"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i] + 1, reason))
			return *known[i];
	fail_msg("%s", reason);
	return 0;
}

static void put_lines(struct gofile *g, const struct codeword *word, int others)
{
	struct gofile_lines lines[CODEWORDS_PIECES + 1] = {0};

	for (unsigned i = 0; i < word->count; i++)
		lines[i] = (struct gofile_lines){i + 1 == word->count ? 64 : word->starts[i + 1],
						 CALL_LINE + (i ? others : 0)};
	gofile_put_lines(g, lines);
}

/* the copy is node 0, main.inl1; node 1 has no code */
static void put_copy(struct gofile *g, const struct codeword *word)
{
	uint8_t table[32], *at = table;
	unsigned from = 0;
	int before = -1;

	for (unsigned i = 1; i <= word->count; i++) {
		int node = word->pieces[i - 1] < 'a' ? 0 : -1;
		unsigned end = i == word->count ? 64 : word->starts[i];

		if (i < word->count && (word->pieces[i] < 'a') == (node == 0))
			continue; /* the same run of code */
		at = gofile_put_step(at, node - before, end - from);
		before = node;
		from = end;
	}
	*at++ = 0;
	elffile_bytes(g->f, GOFILE_TAB + GOFILE_PCS_FREE, table, at - table);
	elffile_u32(g->f, gofile_record(g, 1) + 52, GOFILE_PCS_FREE - GOFILE_PCS);
}

static bool keep_copy(const struct inlining_copy *copy, void *ctx)
{
	*(struct inlining_copy *)ctx = *copy;
	return true;
}

static void subject_make(struct subject *s, const char *letters, int others)
{
	char pieces[CODEWORDS_PIECES];

	snprintf(pieces, sizeof(pieces), "u%s", letters);
	codeword_make(&s->word, pieces, OF_MAIN_A);
	gofile_make(&s->o.g, 23, EM_X86_64);
	memset(elffile_at(s->o.g.f, s->o.g.starts[1]), 0xcc, 0x40);
	elffile_bytes(s->o.g.f, s->o.g.starts[1], s->word.bytes, s->word.starts[s->word.count]);
	put_lines(&s->o.g, &s->word, others);
	put_copy(&s->o.g, &s->word);
	open_it(&s->o);
	s->finder = site_finder_new(&(struct program){.img = s->o.img, .tab = s->o.tab});
	inlining_each(s->o.tab, keep_copy, &s->copy);
}

static void subject_drop(struct subject *s)
{
	site_finder_free(s->finder);
	close_it(&s->o);
}

static char place_of(const struct subject *s, const struct site *site)
{
	return codeword_place(&s->word, site->addr - s->o.g.starts[1]);
}

/* where it begins, and where it ends: of two the first one's letter of A, B, ... */
static void say_span(struct subject *s, unsigned n)
{
	struct site_list exits = {0};
	const char *reason = "";
	struct site site;

	said.exit[n] = '-';
	if (inlining_span(s->finder, &s->copy, &site, &exits, &reason)) {
		said.span[n] = reason_of(reason);
	} else {
		said.span[n] = place_of(s, &site);
		said.exit[n] = place_of(s, &exits.items[0]);
		if (exits.count > 1)
			said.exit[n] += said.exit[n] < 'a' ? 'A' - '0' : 'P' - 'a';
	}
	free(exits.items);
}

static void say(const char *letters, int others, unsigned n)
{
	struct subject s = {0};
	const char *reason = "";
	struct site_list places = {0};
	struct inlining_call call;
	struct site site;

	subject_make(&s, letters, others);
	said.entry[n] = inlining_entry(s.finder, &s.copy, &site, &reason) ? reason_of(reason)
									  : place_of(&s, &site);
	say_span(&s, n);
	said.places[n] = inlining_places(s.finder, &s.copy, &places, &reason)
				 ? reason_of(reason)
				 : (char)('0' + places.count);
	said.call[n] = inlining_call(s.finder, &s.copy, &call, &reason) ? reason_of(reason)
									: place_of(&s, &call.site);
	free(places.items);
	subject_drop(&s);
}

static void say_all(const char *letters, int others)
{
	char word[CODEWORDS_PIECES];

	memset(&said, 0, sizeof(said));
	for (unsigned n = 0; codeword_nth(letters, 3, n, word); n++) {
		if (strpbrk(word, "SPCTKNM"))
			say(word, others, n);
		else
			said.entry[n] = said.span[n] = said.exit[n] = said.places[n] =
				said.call[n] = '.'; /* no copy at all */
	}
}

/* a row for each first letter */
static void rows_are(const char *letters, const char *what, const char *row)
{
	unsigned each = strlen(letters) * strlen(letters);

	for (unsigned i = 0; letters[i]; i++)
		steps_are("%c.. %s %.*s", letters[i], what, each, row + i * each);
}

static void test_before(void **state)
{
	static const char letters[] = "SPTKtk";

	(void)state;
	say_all(letters, BEFORE);
	rows_are(letters, "entry", said.entry);
	rows_are(letters, "span", said.span);
	rows_are(letters, "exit", said.exit);
	rows_are(letters, "places", said.places);
	steps_expect("S.. entry 00000000000000000000000l000000111111; P.. entry "
		     "000m0m00dmd0cccmcm000m0mmcmmc0mcmmc1; T.. entry "
		     "bbbbbbbbbbbbbbbbbb00000lbbbbbbbbbbbb; K.. entry "
		     "llllllllllllllllllllllllllllllllllll; t.. entry "
		     "omoo22momm22omooccomoocc33dd..33dd..; k.. entry "
		     "222l2222dlddccclccccclcc3mdd..3mdd..; S.. span "
		     "11111w11111w11111w00000l111111eeee11; P.. span "
		     "111m1m111m1w111m1m000m0mm1mm11memm11; T.. span "
		     "11111111111111111100000l111w11eeew11; K.. span "
		     "llllllllllllllllllllllllllllllllllll; t.. span "
		     "omoo22momm22omoo22omoo223333..3333..; k.. span "
		     "222l22222l22222l22222l223m33..3m33..; S.. exit "
		     "44F43-44F43-44E4E-44F43-44E422----22; P.. exit "
		     "44F-3-44F-3-44E-E-44F-3--4--22----22; T.. exit "
		     "44F43444F43444E4D444F43-44E-DD----DD; K.. exit "
		     "------------------------------------; t.. exit "
		     "----33----33----EE----BB44FC..44FC..; k.. exit "
		     "44F-3344F-3344E-EEBBB-BB4-FC..4-FC..; S.. places "
		     "11111111111111111111111l111111111111; P.. places "
		     "222m2m344m41333m3m111m1mm3mm31m3mm31; T.. places "
		     "22222222222222222211111l222222222222; K.. places "
		     "llllllllllllllllllllllllllllllllllll; t.. places "
		     "omoo11momm11omoo22omoo221122..1222..; k.. places "
		     "111l11233l33222l22222l221m22..1m22..; ");
}

static void test_behind(void **state)
{
	static const char letters[] = "PTktjc";

	(void)state;
	say_all(letters, BEHIND);
	rows_are(letters, "entry", said.entry);
	rows_are(letters, "span", said.span);
	steps_expect("P.. entry 0d0d33ccmccccm1ccccm0cccmm0222220222; T.. entry "
		     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb; k.. entry "
		     "mdmmmmccccccmd....md....3d....md....; t.. entry "
		     "ommmmmmoccccmd....md....md....3d....; j.. entry "
		     "mmm222mocccc3d....3d....3d....3d....; c.. entry "
		     "2ddd33ccccccmd....md....3d....3d....; P.. span "
		     "11w11111m111em11111m1111mm1111ww1111; T.. span "
		     "111111111111ee1111111111111111ww1111; k.. span "
		     "m2mmmm222222m3....m3....33....m3....; t.. span "
		     "ommmmmmo2222m3....m3....m3....33....; j.. span "
		     "mmm222mo222233....33....33....33....; c.. span "
		     "222222222222m3....m3....33....33....; ");
}

static void test_calls(void **state)
{
	static const char letters[] = "CPNncs";

	(void)state;
	say_all(letters, BEFORE);
	rows_are(letters, "entry", said.entry);
	rows_are(letters, "span", said.span);
	rows_are(letters, "exit", said.exit);
	rows_are(letters, "places", said.places);
	rows_are(letters, "call", said.call);
	steps_expect("C.. entry 111111111111111111111111111111111111; P.. entry "
		     "222222300030300030300030222222000000; N.. entry "
		     "22222230003030nnnn30nnnn33nnnn33nnnn; n.. entry "
		     "22222230003030nnnn30n...33n...33n...; c.. entry "
		     "22222232223233nnnn33n...33n...33n...; s.. entry "
		     "22222232223233nnnn33n...33n...33n...; C.. span "
		     "111111111111111111111111w11111111111; P.. span "
		     "1222223111113111113111113w1111311111; N.. span "
		     "22222232222233nnnn33nnnn33nnnn33nnnn; n.. span "
		     "22222232222233nnnn33n...33n...33n...; c.. span "
		     "22222232222233nnnn33n...33n...33n...; s.. span "
		     "22222232222233nnnn33n...33n...33n...; C.. exit "
		     "444433422222434433434433-22222422222; P.. exit "
		     "4344334444334444334444334-2222442222; N.. exit "
		     "43443344443344----44----44----44----; n.. exit "
		     "43443344443344----44-...44-...44-...; c.. exit "
		     "43443344443344----44-...44-...44-...; s.. exit "
		     "43443344443344----44-...44-...44-...; C.. places "
		     "111111111111111111111111111111111111; P.. places "
		     "222222343333232222232222222222222222; N.. places "
		     "11111123222212nnnn12nnnn12nnnn12nnnn; n.. places "
		     "11111123222212nnnn12n...12n...12n...; c.. places "
		     "11111123222212nnnn12n...12n...12n...; s.. places "
		     "11111123222212nnnn12n...12n...12n...; C.. call "
		     "ccccccc11111c11111c11111c11111c11111; P.. call "
		     "c222223ccccc3ccccc3ccccc3ccccc3ccccc; N.. call "
		     "c222223ccccc3ccccc3ccccc3ccccc3ccccc; n.. call "
		     "c222223ccccc3ccccc3cc...3cc...3cc...; c.. call "
		     "c222223ccccc3ccccc3cc...3cc...3cc...; s.. call "
		     "c222223ccccc3ccccc3cc...3cc...3cc...; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

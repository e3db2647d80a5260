// SPDX-License-Identifier: Apache-2.0
/* Where runs of inlined code begin and end, in all functions of three pieces (codewords.h), of
 * which those in capitals are the callee's. A place is the number of the piece; a letter is a
 * reason, and - nothing. */
#include <stdlib.h>
#include <string.h>

#include "codewords.h"
#include "machine/arch.h"
#include "machine/insn.h"
#include "sites/body_internal.h"
#include "steps.h"
#include "unit.h"

enum { BASE = 0x401000, WORDS_MAX = 1024 };

static struct said {
	char start[WORDS_MAX], cheapest[WORDS_MAX], last[WORDS_MAX], call[WORDS_MAX],
		exits[WORDS_MAX];
	unsigned count;
} said;

struct subject {
	struct codeword word;
	struct flow flow;
	struct graph graph;
	bool inside[32];
	uint32_t insns[32];
	struct body body;
};

static void subject_make(struct subject *s, struct insn_decoder *dec, const char *letters)
{
	codeword_make(&s->word, letters, 0x1000);

	struct insn_code code = {s->word.bytes, s->word.starts[s->word.count], BASE};
	size_t count = 0;

	if (flow_decode(&s->flow, dec, &code))
		fail_msg("%s: not decoded", letters);
	assert_int_equal(graph_build(&s->graph, &s->flow, &(struct graph_source){0}), 0);
	s->body = (struct body){&s->graph, s->inside, s->insns, .mark = FLOW_NONE};
	for (size_t i = 0; i < s->flow.count; i++) {
		char place = codeword_place(&s->word, s->flow.insns[i].addr - BASE);
		char letter = s->word.pieces[place < 'a' ? place - '0' : place - 'a'];

		s->inside[i] = letter < 'a';
		if (s->inside[i])
			s->insns[count++] = i;
		if (letter == 'm')
			s->body.mark = (long)i;
	}
	s->body.count = count;
}

static char place_of(const struct subject *s, long at)
{
	return at == FLOW_NONE ? '-' : codeword_place(&s->word, s->flow.insns[at].addr - BASE);
}

/* n: none is left, m: may have been moved, o: no instruction is part of all, l: a loop's,
 * f: the first is not, w: work of the caller's, e: the end is the next one's beginning */
static char reason_of(const char *reason)
{
	static const char *const known[] = {
		"nnone of the inlined code is left here",
		"mthe compiler may have moved the code",
		"ono instruction is part of every run",
		"lthe first instruction is also part of a loop",
		"fsome of the code may run before the first instruction",
		"wthe code is mixed with the caller's",
		"ethe end is also the beginning of the next run"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i] + 1, reason))
			return *known[i];
	fail_msg("%s", reason);
	return 0;
}

/* the place, or of two the first one's letter of A, B, ... */
static char exits_of(const struct subject *s, long start)
{
	struct body_exits exits = {0};
	const char *reason;
	int ret = body_exits(&s->body, start, &exits, &reason);
	char first = exits.count ? place_of(s, exits.items[0]) : '.';

	if (exits.count > 1)
		first = (first < 'a' ? first - '0' + 'A' : first - 'a' + 'P');
	free(exits.items);
	return ret ? reason_of(reason) : first;
}

static void say(struct insn_decoder *dec, const char *letters)
{
	struct subject s = {0};
	const char *reason;
	unsigned n = said.count++;

	subject_make(&s, dec, letters);
	long start = body_start(&s.body, &reason);

	said.start[n] = start == FLOW_NONE ? reason_of(reason) : place_of(&s, start);
	said.cheapest[n] = start == FLOW_NONE ? '-' : place_of(&s, body_cheapest(&s.body, start));
	said.last[n] = start == FLOW_NONE ? '-' : place_of(&s, body_last(&s.body, start));
	said.call[n] = start == FLOW_NONE ? '-' : place_of(&s, body_only_call(&s.body, start));
	said.exits[n] = start == FLOW_NONE ? '-' : exits_of(&s, start);
	graph_free(&s.graph);
	flow_free(&s.flow);
}

static void say_all(const char *letters, unsigned len)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	char word[CODEWORDS_PIECES];

	memset(&said, 0, sizeof(said));
	for (unsigned n = 0; codeword_nth(letters, len, n, word); n++)
		say(dec, word);
	insn_decoder_free(dec);
}

/* a row for each first letter */
static void rows_are(const char *letters, unsigned len, const char *what, const char *row)
{
	unsigned each = said.count / strlen(letters);

	for (unsigned i = 0; letters[i]; i++)
		steps_are("%c%.*s %s %.*s", letters[i], len - 1, "...", what, each, row + i * each);
}

static const char three_said[] = "S.. start "
				 "000000000000000000000000000000000000lllllllll0000000000000000000"
				 "00000000000000000; P.. start "
				 "0000m0m000m00mmmmm0000m0m000000m0m00llllmlmllmmmmmmmmmmmmmmmmmm0"
				 "m00mmmmm0m00mmmmm; C.. start "
				 "000000000000000000000000000000000000lllllllll0000000000000000000"
				 "00000000000000000; T.. start "
				 "000000000000000000000000000000000000lllllllll0000000000000000000"
				 "00000000000000000; K.. start "
				 "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
				 "lllllllllllllllll; t.. start "
				 "omooo1111mmmmmmmmmomooo1111omooo1111omooo11112m222nnnn2m222nnnn2"
				 "m22lnnnn2m22lnnnn; k.. start "
				 "1111l11111m11lmmmm1111l11111111l11111111l11112m222nnnn2m222nnnn2"
				 "m22lnnnn2m22lnnnn; c.. start "
				 "1111011111m110mmmm111101111111101111lllllllll2m222nnnn2m222nnnn2"
				 "m22lnnnn2m220nnnn; n.. start "
				 "1111011111m110mmmm111101111111101111lllllllll2m222nnnn2m222nnnn2"
				 "m22lnnnn2m220nnnn; S.. cheapest "
				 "000000000000000000000000000000000000---------0000000000000000000"
				 "00000000000000000; P.. cheapest "
				 "0000-0-000-2c-----1111-1-11bbbb-b-bb---------------------------1"
				 "-11-----0-2c-----; C.. cheapest "
				 "000000000000000000000000000000000000---------0000000000000000000"
				 "00000000000000000; T.. cheapest "
				 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa---------aaaaaaaaaaaaaaaaaaa"
				 "aaaaaaaaaaaaaaaaa; K.. cheapest "
				 "----------------------------------------------------------------"
				 "-----------------; t.. cheapest "
				 "-----1111--------------1111-----bbbb-----bbbb2-2cc----2-2cc----2"
				 "-2c-----2-2c-----; k.. cheapest "
				 "1111-11111-2c-----1111-1111bbbb-bbbbbbbb-bbbb2-2cc----2-2cc----2"
				 "-2c-----2-2c-----; c.. cheapest "
				 "1111011111-2c0----111101111bbbb0bbbb---------2-2cc----2-2cc----2"
				 "-2c-----2-2c0----; n.. cheapest "
				 "1111-11111-2c-----1111-1111bbbb-bbbb---------2-2cc----2-2cc----2"
				 "-2c-----2-2c-----; S.. last "
				 "000000000000000000000000000000000000---------0000000000000000000"
				 "00000000000000000; P.. last "
				 "1111-1-112-2c-----1111-1-11bbbb-b-bb---------------------------1"
				 "-11-----2-2c-----; C.. last "
				 "000000000000000000000000000000000000---------0000000000000000000"
				 "00000000000000000; T.. last "
				 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa---------aaaaaaaaaaaaaaaaaaa"
				 "aaaaaaaaaaaaaaaaa; K.. last "
				 "----------------------------------------------------------------"
				 "-----------------; t.. last "
				 "-----1111--------------1111-----bbbb-----bbbb2-2cc----2-2cc----2"
				 "-2c-----2-2c-----; k.. last "
				 "1111-11112-2c-----1111-1111bbbb-bbbbbbbb-bbbb2-2cc----2-2cc----2"
				 "-2c-----2-2c-----; c.. last "
				 "1111011112-2c0----111101111bbbb0bbbb---------2-2cc----2-2cc----2"
				 "-2c-----2-2c0----; n.. last "
				 "1111011112-2c0----111101111bbbb0bbbb---------2-2cc----2-2cc----2"
				 "-2c-----2-2c0----; S.. call "
				 "--2--------2------11---1-11-------------------------------------"
				 "-2--------2------; P.. call "
				 "--2--------2------11---1-11-------------------------------------"
				 "-2--------2------; C.. call "
				 "00---000000---0000---------------------------00---000000---00000"
				 "0---000000---0000; T.. call "
				 "----------------------------------------------------------------"
				 "-----------------; K.. call "
				 "----------------------------------------------------------------"
				 "-----------------; t.. call "
				 "-----------------------1111--------------------2--------2-------"
				 "-2--------2------; k.. call "
				 "--2--------2------11---1111--------------------2--------2-------"
				 "-2--------2------; c.. call "
				 "--2--------2------11---1111--------------------2--------2-------"
				 "-2--------2------; n.. call "
				 "--2--------2------11---1111--------------------2--------2-------"
				 "-2--------2------; S.. exits "
				 "333E32w23333E32w23333E32w23333D3DwDD---------333D31111eeeee1111w"
				 "wwww1111333E32223; P.. exits "
				 "333E-2-233-3E-----333E-2-23333D-D-DD---------------------------w"
				 "-ww-----3-3E-----; C.. exits "
				 "333E32w23333E32w23333E32w23333D3DwDD---------333D31111eeeee1111w"
				 "wwww1111333E32223; T.. exits "
				 "333E32323333E32323333E32323333D3C3CC---------333DwCCCCeeeewCCCDw"
				 "wwwwCCCD333EwCCCD; K.. exits "
				 "----------------------------------------------------------------"
				 "-----------------; t.. exits "
				 "-----2223--------------2223-----DDDD-----AAAA3-3EB----3-3EB----3"
				 "-3E-----3-3E-----; k.. exits "
				 "333E-22233-3E-----333E-2223333D-DDDDAAAA-AAAA3-3EB----3-3EB----3"
				 "-3E-----3-3E-----; c.. exits "
				 "333Ew22233-3Ew----333Ew2223333DwDDDD---------3-3EB----3-3EB----3"
				 "-3E-----3-3Ew----; n.. exits "
				 "333E322233-3E3----333E32223333D3DDDD---------3-3EB----3-3EB----3"
				 "-3E-----3-3E3----; ";

static void test_three(void **state)
{
	(void)state;
	say_all("SPCTKtkcn", 3);
	rows_are("SPCTKtkcn", 3, "start", said.start);
	rows_are("SPCTKtkcn", 3, "cheapest", said.cheapest);
	rows_are("SPCTKtkcn", 3, "last", said.last);
	rows_are("SPCTKtkcn", 3, "call", said.call);
	rows_are("SPCTKtkcn", 3, "exits", said.exits);
	steps_expect(three_said);
}

static void test_four(void **state)
{
	(void)state;
	say_all("STKjk", 4);
	rows_are("STKjk", 4, "start", said.start);
	rows_are("STKjk", 4, "exits", said.exits);
	steps_expect("S... start "
		     "000000000000000ooo00000000000000000000000000000000llllllllllllll"
		     "looollllllloo0o0oo0o0oo0o000000oo000000000000000000ooo0000000; T... "
		     "start 000000000000000ooo00000000000000000000000000000000llllllllllllll"
		     "looolllllll0000000000000000000000000000000000000000ooo0000000; K... "
		     "start lllllllllllllllooollllllllllllllllllllllllllllllllllllllllllllll"
		     "looollllllloololoololoololllllloollllllllllllllllllooolllllll; j... "
		     "start oooooooooo0000looo11ooo11oooooooooo0000l11111ooo11oooooooooo0000"
		     "looo11ooo11ooo22ooo2222022333nn333nn22l2222l2222l22333nn333nn; k... "
		     "start 1111111111lllllooo11111111111111111lllll11111111111111111111llll"
		     "looo1111111oo122oo122oo122333nn333nn22l2222l2222l22333nn333nn; S... "
		     "exits 4F43w4E4Ew4F43w---22wwwww4F4344E4D44F434CCCDDwwwww--------------"
		     "-------------4-4--4-4--4-44FC11--w11eeeeweeeeweeeew---11www11; T... "
		     "exits 4F43w4E4Ew4F43w---224F43w4F43w4F4Dw4F43wCCCCC4F43w--------------"
		     "-----------4F4Bw4F4Bw4F4BwCCCCC4F4CCeeeeweeeewwwwww---CCwwwCC; K... "
		     "exits ----------------------------------------------------------------"
		     "-------------------------------------------------------------; j... "
		     "exits ----------4F43----22---22----------4F43-CCCDD---DD----------eeee"
		     "----AA---AA---33---EE4F4BB4FC--4FC--4F-334E-EEBB-BB4FC--4FC--; k... "
		     "exits 4F43w4E4Ew--------22eee224F4344E4D4-----CCCDDeewDDAAAAwAAAAw----"
		     "----AAeeeAA--433--4EE--eBB4FC--4FC--4F-334E-EEBB-BB4FC--4FC--; ");
}

/* loops to the piece itself, a way out in it, what may fault, a mark */
static void test_others(void **state)
{
	(void)state;
	say_all("SOXlmJRo", 3);
	rows_are("SOXlmJRo", 3, "start", said.start);
	rows_are("SOXlmJRo", 3, "cheapest", said.cheapest);
	rows_are("SOXlmJRo", 3, "exits", said.exits);
	steps_expect("S.. start "
		     "0000200000002000onm020m00000200011112111onm020m0onm020m000002000; O.. "
		     "start llll2lllllll2lllonml2lmlllll2lll11112111onml2lmlonml2lmlllll2lll"
		     "; X.. start "
		     "mmmm2mmmnnnn2nnnmnmm2mmmmmmm2mmm11112111mnmm2mmmmnmm2mmmnnnm2mnm; l.. "
		     "start 1111211100002000mnmm2mmm21mn2nmn111121112nmn2nmnmnmm2mmm2lmn2nmn"
		     "; m.. start "
		     "0000200000002000000020000000200011112111000020000000200000002000; J.. "
		     "start oom121m1nnnn2nnnmmmm2mmm2lmn2nmn1111211120mn2nmnmmmm2mmm20mn2nmn"
		     "; R.. start "
		     "mmmm2mmmnnnn2nnnmnmm2mmmmmmm2mmm11112111mnmm2mmmmnmm2mmmnnnm2mnm; o.. "
		     "start 11112111llll2lllmnmm2mmm21mn2nmn111121112nmn2nmnmnmm2mmm2lmn2nmn"
		     "; S.. cheapest "
		     "0000200000002000---020-00000200011112111---020-0---020-000002000; O.. "
		     "cheapest "
		     "----2-------2-------2-------2---11112111----2-------2-------2---; X.. "
		     "cheapest "
		     "----2-------2-------2-------2---11112111----2-------2-------2---; l.. "
		     "cheapest "
		     "1111211100002000----2---21--2---111121112---2-------2---2---2---; m.. "
		     "cheapest "
		     "0000200000002000000020000000200011112111000020000000200000002000; J.. "
		     "cheapest "
		     "---121-1----2-------2---2---2---1111211120--2-------2---20--2---; R.. "
		     "cheapest "
		     "----2-------2-------2-------2---11112111----2-------2-------2---; o.. "
		     "cheapest "
		     "11112111----2-------2---21--2---111121112---2-------2---2---2---; S.. "
		     "exits 33.234.233.2f4.2---.f.-.33.134.133.234.2---3f3-3---.f.-.www1fww1"
		     "; O.. exits "
		     "----f-------f-------f-------f---ffffffff----f-------f-------f---; X.. "
		     "exits ----3-------f-------3-------3---3f.234.f----f-------3-------f---"
		     "; l.. exits "
		     "33.234.233.2f4.2----3---33--3---33.234.23---f-------3---3---3---; m.. "
		     "exits 33.234.233.2f4.2ff..3...33.134.133.234.2ff33f333ff..3...www13ww1"
		     "; J.. exits "
		     "---2f2-2----f-------3---3---3---ffff3fff33--3-------3---33--3---; R.. "
		     "exits ----3-------f-------3-------3---3f.234.f----f-------3-------f---"
		     "; o.. exits "
		     "33.234.2----f-------3---33--3---33.234.23---f-------3---3---3---; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three),
		cmocka_unit_test(test_four),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

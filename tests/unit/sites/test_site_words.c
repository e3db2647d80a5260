// SPDX-License-Identifier: Apache-2.0
/* Entries and returns of all functions of three pieces (codewords.h): a place is the number of the
 * piece, or its letter where it is not the piece's first instruction; in capitals, digits as P, Q,
 * ..., where arguments are no more intact. Other letters are reasons. */
#include <stdlib.h>
#include <string.h>

#include "codewords.h"
#include "machine/arch.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "sites/site.h"
#include "sites/site_finder_internal.h"
#include "sites/site_internal.h"
#include "steps.h"
#include "unit.h"

enum { BASE = 0x401000, WORDS_MAX = 1024 };

/* l: a loop's, k: the kernel, n: long nop, e: never returns, d: not decoded, c: a conditional jump
 * leaves */
static char reason_of(const char *reason)
{
	static const char *const known[] = {
		"lthe first instruction is also part of a loop",
		"kthe kernel cannot probe the start",
		"rthe kernel cannot probe the return",
		"nnewer kernels write to the stack when a long nop is probed",
		"ecalls never return",
		"dthe code cannot be decoded completely",
		"ca conditional jump leaves the function"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i] + 1, reason))
			return *known[i];
	fail_msg("%s", reason);
	return 0;
}

static char entry_of(struct site_finder *finder, const struct codeword *word,
		     const struct functab_func *fn, bool want_args)
{
	const char *reason = "";
	struct site site;

	if (site_entry(finder, fn, want_args, &site, &reason))
		return reason_of(reason);
	if ((site.kind == SITE_FIRST) != (site.addr == BASE))
		fail_msg("%s: %s", word->pieces, site_kind_name(site.kind));

	char place = codeword_place(word, site.addr - BASE);

	return site.args_intact ? place
				: (char)(place < 'a' ? place - '0' + 'P' : place - 'a' + 'A');
}

static char returns_of(struct site_finder *finder, const struct functab_func *fn)
{
	struct site_list list = {0};
	const char *reason = "";
	int ret = site_returns(finder, fn, &list, &reason);
	char said = (char)(ret ? reason_of(reason) : '0' + (char)list.count);

	free(list.items);
	return said;
}

static void say(const char *letters, char *any, char *args, char *stack, char *returns)
{
	struct codeword word = {0};

	codeword_make(&word, letters, 0x1000);

	unsigned len = word.starts[word.count];
	struct insn_code code = {word.bytes, len, BASE};
	struct functab_func fn = {.name = "main.f", .addr = BASE, .end = BASE + len};
	struct site_finder *finder = site_finder_new_code(ARCH_AMD64, &code);

	*any = entry_of(finder, &word, &fn, false);
	*args = entry_of(finder, &word, &fn, true);
	*returns = returns_of(finder, &fn);
	finder->stack_args = true;
	*stack = entry_of(finder, &word, &fn, true);
	site_finder_free(finder);
}

static void say_all(const char *letters)
{
	char any[WORDS_MAX], args[WORDS_MAX], stack[WORDS_MAX], returns[WORDS_MAX];
	unsigned n = 0, each = strlen(letters) * strlen(letters);
	char word[CODEWORDS_PIECES];

	for (; codeword_nth(letters, 3, n, word); n++)
		say(word, any + n, args + n, stack + n, returns + n);
	for (unsigned i = 0; letters[i]; i++)
		steps_are("%c.. any %.*s args %.*s stack %.*s returns %.*s", letters[i], each,
			  any + i * each, each, args + i * each, each, stack + i * each, each,
			  returns + i * each);
}

static const char three_said[] = "s.. any "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 args "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 stack "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 returns "
				 "2222222232222222232222222232222222232222222232222222232222222232"
				 "22222223333333334; p.. any "
				 "000000000000RC00R0000000000QQQQQ0QQQBBBBB0BBBlllllllll000RC00R0Q"
				 "QQQQ0QQQ000000000 args "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 stack "
				 "0000000000002c0020000000000111110111bbbbb0bbblllllllll0002c00201"
				 "11110111000000000 returns "
				 "2222222232222222232222222232222222232222222232222222232222222232"
				 "22222223333333334; l.. any "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 args "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 stack "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 returns "
				 "2222222232222222232222222232222222232222222232222222232222222232"
				 "22222223333333334; c.. any "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 args "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 stack "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 returns "
				 "2222222232222222232222222232222222232222222232222222232222222232"
				 "22222223333333334; t.. any "
				 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlllllllllAAAAAAAAAA"
				 "AAAAAAAAAAAAAAAAA args "
				 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaalllllllllaaaaaaaaaa"
				 "aaaaaaaaaaaaaaaaa stack "
				 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaalllllllllaaaaaaaaaa"
				 "aaaaaaaaaaaaaaaaa returns "
				 "2222222232222222232222222232222222232222222232222222232222222232"
				 "22222223333333334; k.. any "
				 "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
				 "lllllllllllllllll args "
				 "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
				 "lllllllllllllllll stack "
				 "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
				 "lllllllllllllllll returns "
				 "2222222232222222232222222232222222232222222232222222232222222232"
				 "22222223333333334; n.. any "
				 "QQQQQnQQQQQQRCnQRQQQQQQnQQQQQQQQnQQQBBBBBnBBBlllllllllRRRRCnSRRQ"
				 "QQQQnQQQQQQQQnQQQ args "
				 "11111n11111111n11111111n11111111n111bbbbbnbbblllllllll2222cn3221"
				 "1111n11111111n111 stack "
				 "11111n1111112cn12111111n11111111n111bbbbbnbbblllllllll2222cn3221"
				 "1111n11111111n111 returns "
				 "2222222232222222232222222232222222232222222232222222232222222232"
				 "22222223333333334; u.. any "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 args "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 stack "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 returns "
				 "2222222232222222232222222232222222232222222232222222232222222232"
				 "22222223333333334; r.. any "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 args "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 stack "
				 "000000000000000000000000000000000000000000000lllllllll0000000000"
				 "00000000000000000 returns "
				 "3333333343333333343333333343333333343333333343333333343333333343"
				 "33333334444444445; ";

static void test_three(void **state)
{
	(void)state;
	say_all("splctknur");
	steps_expect(three_said);
}

static void test_others(void **state)
{
	(void)state;
	say_all("snomjx");
	steps_expect("s.. any 000000000000000000000000000000000000 args "
		     "000000000000000000000000000000000000 stack "
		     "000000000000000000000000000000000000 returns "
		     "222222222222222222222222222222222222; n.. any "
		     "QQQQQQRSnRRnnnnnnnQQQQQQQQQQQQnnnnnn args "
		     "11111123n22nnnnnnn111111111111nnnnnn stack "
		     "11111123n22nnnnnnn111111111111nnnnnn returns "
		     "222222222222222222222222222222222222; o.. any "
		     "llllllllllllllllllllllllllllllllllll args "
		     "llllllllllllllllllllllllllllllllllll stack "
		     "llllllllllllllllllllllllllllllllllll returns "
		     "222222222222222222222222222222222222; m.. any "
		     "000000000000000000000000000000000000 args "
		     "000000000000000000000000000000000000 stack "
		     "000000000000000000000000000000000000 returns "
		     "222222222222222222222222222222222222; j.. any "
		     "000000000000000000000000000000000000 args "
		     "000000000000000000000000000000000000 stack "
		     "000000000000000000000000000000000000 returns "
		     "222222222222222222222222222222222222; x.. any "
		     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk args "
		     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk stack "
		     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk returns "
		     "222222222222222222222222222222222222; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

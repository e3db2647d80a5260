// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tally.h"
#include "unit.h"

static void print(const char *text, uint64_t count, void *ctx)
{
	fprintf(ctx, "%s %d\n", text, (int)count);
}

static void expect(const struct tally *tally, const char *expected)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	tally_each(tally, print, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* Rarest first; of those that are as frequent, in the order in which they came. */
static void test_order(void **state)
{
	static const char *const texts[] = {"often", "z", "twice", "often", "a",
					    "twice", "",  "often", "zz"};
	struct tally *tally = tally_new();

	(void)state;
	expect(tally, "");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		tally_add(tally, texts[i]);
	expect(tally, "z 1\na 1\n 1\nzz 1\ntwice 2\noften 3\n");
	tally_add(tally, "z");
	tally_add(tally, "z");
	expect(tally, "a 1\n 1\nzz 1\ntwice 2\noften 3\nz 3\n");
	tally_free(tally);
	tally_free(NULL);
}

static void test_many(void **state)
{
	struct tally *tally = tally_new();
	char text[16];

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%u", i % 3 + 7);
		tally_add(tally, text);
	}
	expect(tally, "9 1666\n7 1667\n8 1667\n");
	tally_free(tally);
}

static void print_group(const char *group, uint64_t count, size_t texts, void *ctx)
{
	fprintf(ctx, "[%s %" PRIu64 " %zu] ", group, count, texts);
}

/* The group that was seen least first, and its texts in the same order. */
static void test_groups(void **state)
{
	static const char *const pairs[][2] = {{"f", "x"}, {"g", "y"}, {"f", "y"}, {"f", "x"},
					       {"h", "y"}, {"g", "y"}, {"f", "z"}};
	struct tally *tally = tally_new();
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		tally_add_to(tally, pairs[i][0], pairs[i][1]);
	tally_show(tally, 0, &(struct tally_show){print_group, print, NULL, out});
	fclose(out);
	assert_string_equal(text, "[h 1 1] y 1\n[g 2 1] y 2\n[f 4 3] y 1\nz 1\nx 2\n");
	free(text);
	expect(tally, "y 1\ny 2\ny 1\nz 1\nx 2\n");
	tally_free(tally);
}

static void print_note(const char *note, uint64_t count, uint64_t of, void *ctx)
{
	fprintf(ctx, "  %s %d of %d\n", note, (int)count, (int)of);
}

/* The most frequent, with their groups' whole sums; and what is noted below texts, as it came. */
static void test_top(void **state)
{
	static const char *const pairs[][2] = {{"f", "x 1"}, {"g", "y 1"}, {"f", "z"}, {"f", "x 2"},
					       {"h", "y"},   {"g", "y 1"}, {"f", "z"}, {"f", "z"}};
	struct tally *tally = tally_new();
	uint64_t total;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	tally_fold_numbers(tally);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		tally_note(tally, tally_add_to(tally, pairs[i][0], pairs[i][1]),
			   i % 2 ? "odd" : "even");
	tally_show(tally, 2, &(struct tally_show){print_group, print, print_note, out});
	assert_int_equal(tally_texts(tally, &total), 4);
	assert_int_equal(total, 8);
	tally_show(tally, 1, &(struct tally_show){NULL, print, NULL, out});
	tally_show(tally, 4, &(struct tally_show){NULL, print, NULL, out});
	fclose(out);
	assert_string_equal(text, "[f 5 2] x N 2\n  even 1 of 2\n  odd 1 of 2\n"
				  "z 3\n  even 2 of 3\n  odd 1 of 3\n"
				  "z 3\ny 1\ny 1 2\nx N 2\nz 3\n");
	free(text);
	tally_free(tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

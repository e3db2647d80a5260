// SPDX-License-Identifier: Apache-2.0
/* Labels of samples, as the kernel side sends them and as it never would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf-src/shared/profile.h"
#include "profile/profile.h"
#include "sampling/labels_internal.h"
#include "unit.h"

enum { ROOM = 1024 };

static struct profile_sample sample;
static uint64_t words[ROOM];
static char said[ROOM];

/* --- in place of profile/profile.c --- */

void profile_program_label(struct profile *profile, const char *key, const char *text)
{
	size_t len = strlen(said);

	(void)profile;
	snprintf(said + len, sizeof(said) - len, "%s=%s ", key, text);
}

void profile_program_labels_cut(struct profile *profile)
{
	(void)profile;
	strcat(said, "cut");
}

/* --- a sample --- */

static int begin(void **state)
{
	(void)state;
	memset(words, 0, sizeof(words));
	sample = (struct profile_sample){.kernel = 2, .count = 2};
	return 0;
}

static void put(const char *text, size_t len)
{
	size_t there = len < PROFILE_LABEL_TEXT ? len : PROFILE_LABEL_TEXT;

	memcpy(&words[sample.count], text, there);
	sample.count += (there + 7) / 8;
}

static void label(const char *key, size_t key_len, const char *value, size_t value_len)
{
	uint32_t before = sample.count;

	words[sample.count++] = key_len | (uint64_t)value_len << 32;
	put(key, key_len);
	put(value, value_len);
	sample.labels++;
	sample.label_words += sample.count - before;
}

#define LABEL(key, value) label(key, sizeof(key) - 1, value, sizeof(value) - 1)

static void expect(const char *key, const char *want)
{
	said[0] = '\0';
	labels_add(&sample, words, key, NULL);
	assert_string_equal(said, want);
}

static void test_in_order(void **state)
{
	(void)state;
	expect(NULL, "");
	LABEL("tenant", "acme");
	LABEL("a", "");
	LABEL("ten", "exactly eight bytes, or not");
	expect(NULL, "a= ten=exactly eight bytes, or not tenant=acme ");
	expect("ten", "ten=exactly eight bytes, or not ");
	expect("tenan", "");
}

static void test_any_bytes(void **state)
{
	(void)state;
	LABEL("a\0b", "\0");
	LABEL("a\0b", "twice");
	expect(NULL, "a\xef\xbf\xbd"
		     "b=\xef\xbf\xbd ");
}

static void test_cut(void **state)
{
	char *x = calloc(1, 2 * PROFILE_LABEL_TEXT), *want = calloc(1, 2 * PROFILE_LABEL_TEXT);

	(void)state;
	assert_true(x && want);
	memset(x, 'x', 2 * PROFILE_LABEL_TEXT - 1);
	label("a", 1, x, PROFILE_LABEL_TEXT + 1);
	label("b", 1, x, PROFILE_LABEL_TEXT);
	sprintf(want, "a=%.*s... ", PROFILE_LABEL_TEXT, x);
	expect("a", want);
	sprintf(want, "b=%.*s ", PROFILE_LABEL_TEXT, x);
	expect("b", want);
	sample.labels_cut = 1; /* this one is known all the same */
	expect("b", want);
	expect("c", "cut");
	free(x);
	free(want);
}

static void test_unsound(void **state)
{
	(void)state;
	LABEL("a", "b");
	sample.label_words--; /* no room for the value */
	expect(NULL, "");
	sample.label_words = sample.count;
	expect(NULL, "");
	sample.kernel = sample.count + 1;
	expect(NULL, "");
	begin(state);
	for (unsigned i = 0; i < 2 * PROFILE_LABELS; i++)
		label((char[]){(char)('a' + i)}, 1, "", 0);
	expect(NULL, "a= b= c= d= e= f= g= h= i= j= k= l= m= n= o= p= ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_in_order, begin),
		cmocka_unit_test_setup(test_any_bytes, begin),
		cmocka_unit_test_setup(test_cut, begin),
		cmocka_unit_test_setup(test_unsound, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/errmsg.h"
#include "profile/profile_internal.h"
#include "unit.h"

static const struct profile_type types[] = {{"count", "count"}, {"time", "nanoseconds"}};
static const struct profile_spec spec = {.tool = "tool", .types = types, .type_count = 2};

static void add(struct profile *profile, const char *word, const char *state, uint64_t pid,
		uint64_t count)
{
	profile_word(profile, word);
	profile_word(profile, "main.main");
	profile_label(profile, "state", state);
	profile_number(profile, "pid", pid);
	profile_add(profile, (uint64_t[]){count, count * 10});
}

/* Checks the row of this number. */
static void check(const struct profile *profile, size_t row, const char *word, const char *state,
		  uint64_t pid, uint64_t count)
{
	size_t len;
	const uint64_t *words = interned_words_at(&profile->rows, row, &len);
	const uint64_t *labels =
		interned_words_at(&profile->labels, words[PROFILE_ROW_LABELS], &len);

	assert_int_equal(len, 2 * PROFILE_LABEL_WORDS);
	assert_string_equal(interned_text_at(&profile->texts, labels[PROFILE_LABEL_TEXT]), state);
	assert_int_equal(labels[PROFILE_LABEL_WORDS + PROFILE_LABEL_NUMBER], pid);
	const uint64_t *stack = interned_words_at(&profile->stacks, words[PROFILE_ROW_STACK], &len);

	assert_int_equal(len, 2);
	const uint64_t *place = interned_words_at(&profile->locations, stack[0], &len);

	assert_true(place[PROFILE_LOCATION_MAPPING] == PROFILE_NO_MAPPING);
	const uint64_t *func =
		interned_words_at(&profile->funcs, place[PROFILE_LOCATION_WORDS], &len);

	assert_string_equal(interned_text_at(&profile->texts, func[PROFILE_FUNC_NAME]), word);
	assert_int_equal(profile->values[row * 2], count);
	assert_int_equal(profile->values[row * 2 + 1], count * 10);
}

/* Numbers of the one are not those of the other; rows that are the same are added up. */
static void test_added(void **state)
{
	struct profile *from = profile_new(&spec), *to = profile_new(&spec);
	struct errmsg err = {0};
	int fd;

	(void)state;
	assert_int_equal(profile_channel("file", &fd, &err), 0);
	add(to, "main.first", "running", 1, 1);
	add(to, "main.both", "waiting", 2, 2);
	add(from, "main.both", "waiting", 2, 30);
	add(from, "main.both", "waiting", 3, 4);
	add(from, "main.other", "running", 1, 5);
	profile_period(from, 512);
	for (uint64_t i = 1; i <= 2; i++) {
		assert_int_equal(profile_pass(from, fd, &err), 0);
		assert_int_equal(profile_take(to, fd, &err), 0);
		assert_int_equal(to->rows.count, 4);
		assert_int_equal(to->period, 512);
		check(to, 0, "main.first", "running", 1, 1);
		check(to, 1, "main.both", "waiting", 2, 2 + 30 * i);
		check(to, 2, "main.both", "waiting", 3, 4 * i);
		check(to, 3, "main.other", "running", 1, 5 * i);
	}
	profile_free(from);
	profile_free(to);
	close(fd);
}

/* One that was cut off anywhere is refused, and one that is empty is none. */
static void test_cut(void **state)
{
	struct profile *from = profile_new(&spec);
	struct errmsg err = {0};
	int fd;

	(void)state;
	assert_int_equal(profile_channel("file", &fd, &err), 0);
	add(from, "main.both", "waiting", 2, 30);
	assert_int_equal(profile_pass(from, fd, &err), 0);
	for (off_t len = lseek(fd, 0, SEEK_END) - 1; len >= 0; len -= 3) {
		struct profile *to = profile_new(&spec);

		assert_int_equal(ftruncate(fd, len), 0);
		assert_int_equal(profile_take(to, fd, &err), -1);
		assert_string_equal(err.text, "--pprof: the profile of a process is not whole");
		profile_free(to);
	}
	profile_free(from);
	close(fd);
}

static void test_none(void **state)
{
	struct errmsg err;
	int fd = -1;

	(void)state;
	assert_int_equal(profile_channel(NULL, &fd, &err), 0);
	assert_int_equal(fd, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_added),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

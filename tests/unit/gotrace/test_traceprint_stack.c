// SPDX-License-Identifier: Apache-2.0
/* Events with their stacks, as lines, as JSON and as rows of a profile; and the columns above them.
 */
#include "event_subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "printed.h"
#include "profile/profile.h"
#include "profile/profile_show.h"

enum { BIAS = 0x10000 };

static uint64_t *stack_of(struct event_subject *s)
{
	return s->event.words + traceplan_item(s->plan, 0)->record_size / sizeof(uint64_t);
}

/* main.b with both calls that are inlined in it, called by main.c, in a goroutine that main.c has
 * created */
static void add_stack(struct event_subject *s)
{
	uint64_t *frames = stack_of(s);

	s->event.words[0] = 8;
	s->event.words[1] = 3;
	s->event.head.goid = 5;
	s->event.head.parent_goid = 2;
	s->event.head.bias = BIAS;
	s->event.head.created_by = s->o.g.starts[2] + 5 + BIAS;
	s->event.head.user_frames = 3;
	frames[0] = s->o.g.starts[0] + BIAS;
	frames[1] = s->o.g.starts[1] + 30 + BIAS;
	frames[2] = s->o.g.starts[2] + 1 + BIAS;
	s->len += TRACE_FRAMES * sizeof(uint64_t);
}

static void add_kernel(struct event_subject *s)
{
	uint64_t *frames = stack_of(s);

	if (s->event.head.user_frames)
		frames += TRACE_FRAMES;
	s->event.head.kernel_frames = 1;
	frames[0] = 0x10; /* in no function of any kernel's */
	s->len += TRACE_FRAMES * sizeof(uint64_t);
}

#define LINE "16061   16063   5       functions       main.a           3\n"
#define STACK                                                                                      \
	"        main.a +0x0\n"                                                                    \
	"        main.inl2 +0x1e (inlined)\n"                                                      \
	"        main.inl1 +0x1e (inlined)\n"                                                      \
	"        main.b +0x1e\n"                                                                   \
	"        main.c +0x1\n"                                                                    \
	"        created by main.c in goroutine 2\n"

#define DETAILS                                                                                    \
	"        0x0000000000411000 main.a +0x0 a.s:10\n"                                          \
	"        0x000000000041105e main.inl2 +0x1e (inlined) b.go:20\n"                           \
	"        0x000000000041105e main.inl1 +0x1e (inlined) b.go:20\n"                           \
	"        0x000000000041105e main.b +0x1e b.go:10\n"                                        \
	"        0x0000000000411081 main.c +0x1 b.go:10\n"                                         \
	"        0x0000000000411085 created by main.c in goroutine 2 +0x5 b.go:20\n"

#define KERNEL "        0x0000000000000010 [unknown] +0x0 [kernel]\n"

static void expect(struct event_subject *s, const char *text)
{
	bool more;
	char *got = event_print(s, &more);

	assert_string_equal(got, text);
	assert_true(more);
	free(got);
}

static void check(const struct traceprint_config *config, bool user, bool kernel, const char *text)
{
	struct event_subject s;

	event_make(&s, "main.a(n int) \"%d\", n", config);
	add_stack(&s);
	if (!user) {
		s.event.head.user_frames = 0;
		s.len -= TRACE_FRAMES * sizeof(uint64_t);
	}
	if (kernel)
		add_kernel(&s);
	expect(&s, text);
	assert_int_equal(traceprint_lacks_kernel(s.print), config->kernel_stack && !kernel);
	event_drop(&s);
}

static void test_text(void **state)
{
	struct traceprint_config config = {.user_stack = true};

	(void)state;
	check(&config, true, false, LINE STACK "\n");
	config.addresses = true;
	check(&config, true, false, LINE DETAILS "\n");
	config = (struct traceprint_config){.kernel_stack = true};
	check(&config, false, false, LINE);
	check(&config, false, true, LINE KERNEL "\n");
	config.user_stack = true;
	check(&config, true, true, LINE KERNEL STACK "\n");
	config = (struct traceprint_config){0}; /* others have asked for it */
	check(&config, true, false, LINE);
}

/* So that the moment is 3723.5 s after 1970 began, but for what is passing. */
static void set_time(struct event_subject *s)
{
	struct timespec since, boot;

	clock_gettime(CLOCK_REALTIME, &since);
	clock_gettime(CLOCK_MONOTONIC, &boot);
	s->event.head.time_ns = (boot.tv_sec - since.tv_sec) * 1000000000 + boot.tv_nsec -
				since.tv_nsec + 3723500000000;
}

#define JSON                                                                                       \
	"{\"type\":\"call\",\"time\":\"1970-01-01T01:02:03.Z\",\"pid\":16061,\"tid\":16063,"       \
	"\"goid\":5,\"cpu\":2,\"comm\":\"functions\",\"func\":\"main.a\",\"how\":\"entry\","       \
	"\"message\":\"3\",\"values\":[3],\"stack\":["                                             \
	"{\"addr\":4263936,\"func\":\"main.a\",\"off\":0,\"file\":\"a.s\",\"line\":10},"           \
	"{\"addr\":4264030,\"func\":\"main.inl2\",\"off\":30,\"file\":\"b.go\",\"line\":20,"       \
	"\"inlined\":true},"                                                                       \
	"{\"addr\":4264030,\"func\":\"main.inl1\",\"off\":30,\"file\":\"b.go\",\"line\":20,"       \
	"\"inlined\":true},"                                                                       \
	"{\"addr\":4264030,\"func\":\"main.b\",\"off\":30,\"file\":\"b.go\",\"line\":10},"         \
	"{\"addr\":4264065,\"func\":\"main.c\",\"off\":1,\"file\":\"b.go\",\"line\":10}],"         \
	"\"created_by\":{\"addr\":4264069,\"func\":\"main.c\",\"off\":5,\"file\":\"b.go\","        \
	"\"line\":20,\"goid\":2},"                                                                 \
	"\"kernel_stack\":[{\"func\":null,\"off\":0,\"addr\":\"0x10\"}]}\n"

static void test_json(void **state)
{
	const struct traceprint_config config = {.json = true, .user_stack = true};
	struct event_subject s;
	bool more;

	(void)state;
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	add_stack(&s);
	add_kernel(&s);
	set_time(&s);
	char *got = event_print(&s, &more), *point = strstr(got, "03."), *end = strchr(got, 'Z');

	assert_true(point && end && end - point == 12 && point[3] >= '4' && point[3] <= '6');
	memmove(point + 3, end, strlen(end) + 1);
	assert_string_equal(got, JSON);
	free(got);
	event_drop(&s);
}

#define PROFILED(labels, creator, frames)                                                          \
	"{\"type\":\"row\",\"func\":\"main.a\"," labels creator                                    \
	",\"pid\":16061,\"comm\":\"functions\",\"calls\":2,\"stack\":[" frames "]}\n"
#define FRAMES_OF_ALL                                                                              \
	"{\"func\":\"main.a\",\"file\":\"a.s\",\"line\":10},"                                      \
	"{\"func\":\"main.inl2\",\"file\":\"b.go\",\"line\":20,\"inlined\":true},"                 \
	"{\"func\":\"main.inl1\",\"file\":\"b.go\",\"line\":20,\"inlined\":true},"                 \
	"{\"func\":\"main.b\",\"file\":\"b.go\",\"line\":10},"                                     \
	"{\"func\":\"main.c\",\"file\":\"b.go\",\"line\":10}"
#define CREATOR ",\"created_by\":\"main.c\""

static void check_profile(const char *probe, uint64_t goid, uint32_t frames, const char *line,
			  const char *row)
{
	const struct profile_style style = {.type = "row", .json = true};
	struct profile *profile = profile_new(&traceprint_profile_spec);
	struct traceprint_config config = {.header = "", .profile = profile};
	struct event_subject s;

	event_make(&s, probe, &config);
	add_stack(&s);
	s.event.head.goid = goid;
	s.event.head.user_frames = frames;
	expect(&s, line);
	expect(&s, line);
	printed_begin();
	profile_show(stdout, profile, &style);
	printed_expect(row);
	profile_free(profile);
	event_drop(&s);
}

/* A row for what is the same: its labels are the format's names, or else the message. Goroutine 1
 * was made by no go statement. */
static void test_profile(void **state)
{
	(void)state;
	check_profile("main.a(n int) \"%d\", n", 5, 3, "3\n",
		      PROFILED("\"message\":\"3\"", CREATOR, FRAMES_OF_ALL));
	check_profile("main.a(n int) \"%{key:%d} %{of:%s}\", n, $func", 5, 3, "3 main.a\n",
		      PROFILED("\"key\":\"3\",\"of\":\"main.a\"", CREATOR, FRAMES_OF_ALL));
	check_profile("main.a(n int) \"%d\", n", 1, 0, "3\n",
		      PROFILED("\"message\":\"3\"", "",
			       "{\"func\":\"[lost]\",\"file\":null,\"line\":null}"));
}

/* As many frames as there is room for may not be all. */
static void test_profile_cut(void **state)
{
	const struct profile_style style = {.type = "row", .folded = true};
	struct profile *profile = profile_new(&traceprint_profile_spec);
	struct traceprint_config config = {.header = "", .profile = profile};
	struct event_subject s;

	(void)state;
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	add_stack(&s);
	s.event.head.user_frames = TRACE_FRAMES;
	for (unsigned i = 3; i < TRACE_FRAMES; i++)
		stack_of(&s)[i] = stack_of(&s)[2];
	expect(&s, "3\n");
	printed_begin();
	profile_show(stdout, profile, &style);
	char *got = printed_end();

	assert_ptr_equal(strstr(got, "functions-16061;...;main.c;main.c;"), got);
	free(got);
	profile_free(profile);
	event_drop(&s);
}

static void expect_header(const struct traceprint_config *config, const char *text)
{
	struct event_subject s;

	event_make(&s, "main.a(n int) \"%d\", n", config);
	printed_begin();
	traceprint_header(s.print);
	printed_expect(text);
	event_drop(&s);
}

#define COLUMNS "PID     TID     GOID    COMM            FUNC             -\n"

static void test_header(void **state)
{
	(void)state;
	expect_header(&(struct traceprint_config){0}, COLUMNS);
	expect_header(&(struct traceprint_config){.time = true}, "TIME     " COLUMNS);
	expect_header(&(struct traceprint_config){.timestamp = true, .cpu = true},
		      "TIME     CPU " COLUMNS);
	expect_header(&(struct traceprint_config){.timestamp = true, .unix_time = true},
		      "TIME              " COLUMNS);
	expect_header(&(struct traceprint_config){.time = true, .header = "KEY"}, "TIME     KEY\n");
	expect_header(&(struct traceprint_config){.time = true, .header = ""}, "");
	expect_header(&(struct traceprint_config){.json = true}, "");
	expect_header(&(struct traceprint_config){.aggregate = true}, "");
}

/* -T, -t: since the tool began, no less than 0 */
static void test_times(void **state)
{
	struct traceprint_config config = {.time = true, .header = ""};
	struct event_subject s;

	(void)state;
	setenv("TZ", "UTC", 1);
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	s.event.words[0] = 8;
	set_time(&s);
	expect(&s, "01:02:03 0\n");
	event_drop(&s);
	config = (struct traceprint_config){.timestamp = true, .header = ""};
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	s.event.words[0] = 8;
	s.event.head.time_ns = 1;
	expect(&s, "0.000000 0\n");
	event_drop(&s);
}

/* --not-under: callers, inlined ones too; the function itself is one */
static void test_not_under(void **state)
{
	static const char *const others[] = {"main.d", NULL}, *const inlined[] = {
								      "main.d", "main.inl1", NULL};
	struct traceprint_config config = {.not_under = others, .user_stack = true};

	(void)state;
	check(&config, true, false, LINE STACK "\n");
	config.not_under = inlined;
	check(&config, true, false, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),      cmocka_unit_test(test_json),
		cmocka_unit_test(test_profile),   cmocka_unit_test(test_profile_cut),
		cmocka_unit_test(test_header),    cmocka_unit_test(test_times),
		cmocka_unit_test(test_not_under),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Profiles as text, as folded stacks and as JSON. */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "frames/frames.h"
#include "printed.h"
#include "profile/profile.h"
#include "profile/profile_internal.h"
#include "profile/profile_show.h"

static const struct profile_type types[] = {{"objects", "count"}, {"bytes", "bytes"}};
static const struct profile_spec spec = {
	.tool = "test", .types = types, .type_count = 2, .shown = 1};
static struct profile *made;

/* in place of profile/profile_mapping.c: addresses are of no file */
uint64_t profile_mapping(struct profile *profile, const struct frames *frames, uint64_t addr)
{
	(void)profile;
	(void)frames;
	(void)addr;
	return PROFILE_NO_MAPPING;
}

static int begin(void **state)
{
	(void)state;
	made = profile_new(&spec);
	return 0;
}

static int end(void **state)
{
	(void)state;
	profile_free(made);
	return 0;
}

static void add_frame(const char *func, const char *file, int line, size_t number, uint64_t at)
{
	static const struct frames frames;
	struct profile_at to = {made, &frames};
	const struct frame frame = {
		.func = func, .file = file, .line = line, .number = number, .at = at};

	profile_frame(&to, &frame);
}

/* main.inner is inlined into main.f, which main.main calls. */
static void add_stack(uint64_t at)
{
	add_frame("main.inner;x", "/a.go", 3, 0, at);
	add_frame("main.f", "/a.go", 7, 0, at);
	add_frame("main.main", NULL, 0, 1, 0x99);
}

static void add(uint64_t objects, uint64_t bytes)
{
	profile_add(made, (uint64_t[]){objects, bytes});
}

static void expect(const struct profile_style *style, const char *want)
{
	printed_begin();
	profile_show(stdout, made, style);
	printed_expect(want);
}

#define LINES                                                                                      \
	"    main.inner;x a.go:3\n"                                                                \
	"    main.f a.go:7\n"                                                                      \
	"    main.main\n"

/* The largest value of the type that is shown last, of equal ones that which came first first;
 * stacks that differ by addresses alone are one, with labels that differ they are not. */
static void test_rows(void **state)
{
	const struct profile_style style = {0};

	(void)state;
	add_stack(0x10);
	add(1, 50);
	profile_word(made, "[lost]");
	add(9, 20);
	add_stack(0x20);
	add(2, 30);
	add_stack(0x20);
	profile_label(made, "comm", "app");
	add(3, 80);
	expect(&style, "    [lost]\n"
		       "        9 20\n\n" LINES "        3 80\n\n" LINES "        3 80\n\n");
}

static void test_process(void **state)
{
	const struct profile_style style = {0};

	(void)state;
	add_stack(0x10);
	profile_number(made, "pid", 4711);
	profile_label(made, "comm", "app\x1b");
	add(1, 2);
	add_stack(0x10);
	profile_number(made, "pid", 4712);
	add(1, 3);
	expect(&style, LINES "    -                app\\x1b (4711)\n"
			     "        1 2\n\n" LINES "    -                - (4712)\n"
			     "        1 3\n\n");
}

/* With a leaf, values have names. */
static void test_leaf(void **state)
{
	struct profile_style style = {.leaf = "go_type"};

	(void)state;
	add_stack(0x10);
	profile_label(made, "go_type", "[]main.T\n");
	add(1, 20);
	profile_word(made, "main.g");
	add(2, 30);
	expect(&style, "    []main.T\\n\n" LINES "        1 objects 20 bytes\n\n"
		       "    \n    main.g\n        2 objects 30 bytes\n\n");
	style.lines = true;
	expect(&style, "           1           20 []main.T\\n\n"
		       "           2           30 \n");
	style.folded = true;
	expect(&style, "main.main;main.f;main.inner,x;[]main.T\\n 20\n"
		       "main.g 30\n");
}

/* A state stands behind the process, and values are told in a larger unit, but in JSON. */
static void test_state(void **state)
{
	struct profile_style style = {.type = "wall", .state = "state", .unit = 10};

	(void)state;
	profile_word(made, "main.g");
	profile_number(made, "pid", 7);
	profile_label(made, "comm", "app");
	profile_label(made, "state", "chan\nreceive;");
	add(19, 256);
	expect(&style,
	       "    main.g\n    -                app (7): chan\\nreceive;\n        1 25\n\n");
	style.folded = true;
	expect(&style, "app-7;main.g;[chan\\nreceive,] 25\n");
	style.json = true;
	expect(&style,
	       "{\"type\":\"wall\",\"pid\":7,\"comm\":\"app\",\"state\":\"chan\\nreceive;\","
	       "\"objects\":19,\"bytes\":256,\"stack\":[{\"func\":\"main.g\",\"file\":null,"
	       "\"line\":null}]}\n");
}

static void test_folded(void **state)
{
	const struct profile_style style = {.folded = true};

	(void)state;
	add_stack(0x10);
	profile_number(made, "pid", 4711);
	profile_label(made, "comm", "a;b");
	add(1, 20);
	add_stack(0x10);
	profile_number(made, "pid", 4712);
	add(3, 10);
	expect(&style, "--4712;main.main;main.f;main.inner,x 10\n"
		       "a,b-4711;main.main;main.f;main.inner,x 20\n");
}

static void add_time(struct json *json)
{
	json_member_string(json, "time", "now");
}

static void test_json(void **state)
{
	struct profile_style style = {.type = "alloc", .json = true};

	(void)state;
	add_stack(0x10);
	profile_number(made, "pid", 0);
	profile_label(made, "go_type", "main.T");
	profile_label(made, "state", ""); /* none */
	profile_label(made, "comm", NULL);
	add(1, 20);
	expect(&style,
	       "{\"type\":\"alloc\",\"pid\":0,\"go_type\":\"main.T\",\"objects\":1,\"bytes\":20,"
	       "\"stack\":[{\"func\":\"main.inner;x\",\"file\":\"/a.go\",\"line\":3,"
	       "\"inlined\":true},{\"func\":\"main.f\",\"file\":\"/a.go\",\"line\":7},"
	       "{\"func\":\"main.main\",\"file\":null,\"line\":null}]}\n");
	profile_word(made, "[lost]");
	add(1, 30);
	style.begin = add_time;
	printed_begin();
	profile_show(stdout, made, &style);
	char *text = printed_end();

	assert_non_null(strstr(text, "\n{\"type\":\"alloc\",\"time\":\"now\",\"objects\":1,"
				     "\"bytes\":30,\"stack\":[{\"func\":\"[lost]\""));
	free(text);
}

/* Of the kernel's, the module in place of the file; what is no function of it may have its name. */
static void test_kernel(void **state)
{
	struct profile_style style = {0};

	(void)state;
	profile_kernel(made, "vfs_write", "kernel");
	add_stack(0x10);
	add(1, 20);
	profile_word(made, "vfs_write");
	add_stack(0x10);
	add(1, 30);
	expect(&style, "    vfs_write [kernel]\n" LINES "        1 20\n\n"
		       "    vfs_write\n" LINES "        1 30\n\n");
	style.folded = true;
	expect(&style, "main.main;main.f;main.inner,x;vfs_write_[k] 20\n"
		       "main.main;main.f;main.inner,x;vfs_write 30\n");
	style = (struct profile_style){.type = "profile", .json = true};
	printed_begin();
	profile_show(stdout, made, &style);
	char *text = printed_end();

	assert_non_null(strstr(text, "[{\"func\":\"vfs_write\",\"file\":null,\"line\":null,"
				     "\"module\":\"kernel\"},"));
	free(text);
}

/* Of the program's own: whatever their keys are, they are not the tool's. */
static void test_labels(void **state)
{
	struct profile_style style = {0};

	(void)state;
	add_stack(0x10);
	profile_number(made, "pid", 4711);
	profile_program_label(made, "pid", "a b");
	profile_program_label(made, "comm", "");
	add(1, 20);
	add_stack(0x10);
	profile_number(made, "pid", 4711);
	profile_program_labels_cut(made);
	add(1, 30);
	expect(&style,
	       LINES "    -                - (4711) {pid: \"a b\", comm: }\n        1 20\n\n" LINES
		     "    -                - (4711) {...}\n        1 30\n\n");
	style.folded = true;
	expect(&style, "--4711;{pid: \"a b\", comm: };main.main;main.f;main.inner,x 20\n"
		       "--4711;{...};main.main;main.f;main.inner,x 30\n");
	style = (struct profile_style){.type = "profile", .json = true, .labels = true};
	printed_begin();
	profile_show(stdout, made, &style);
	char *text = printed_end();

	assert_non_null(strstr(text, "\"pid\":4711,\"objects\":1,\"bytes\":20,"
				     "\"labels\":{\"pid\":\"a b\",\"comm\":\"\"},\"stack\":"));
	assert_non_null(strstr(text, "\"bytes\":30,\"labels\":{},\"labels_cut\":true,\"stack\":"));
	free(text);
}

static void test_nothing(void **state)
{
	const struct profile_style style = {0};

	(void)state;
	expect(&style, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, begin, end),
		cmocka_unit_test_setup_teardown(test_process, begin, end),
		cmocka_unit_test_setup_teardown(test_leaf, begin, end),
		cmocka_unit_test_setup_teardown(test_state, begin, end),
		cmocka_unit_test_setup_teardown(test_folded, begin, end),
		cmocka_unit_test_setup_teardown(test_json, begin, end),
		cmocka_unit_test_setup_teardown(test_kernel, begin, end),
		cmocka_unit_test_setup_teardown(test_labels, begin, end),
		cmocka_unit_test_setup_teardown(test_nothing, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

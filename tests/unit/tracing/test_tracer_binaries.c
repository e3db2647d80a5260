// SPDX-License-Identifier: Apache-2.0
/* Which programs functions of the runtime are looked for in, and how they are asked for: as a list
 * of what is called, with programs of this test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "selection/target.h"
#include "tracing/command_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

enum { PROGRAMS_MAX = 4 };

static struct program programs[PROGRAMS_MAX] = {{.path = "0"}, {.path = "1"}, {.path = "2"}};
static struct program *opened[PROGRAMS_MAX];
static const char *refused; /* the function that one program has not */
static FILE *calls;

/* --- of other modules --- */

struct heldfile *command_open(struct command *cmd, struct errmsg *err)
{
	(void)cmd;
	(void)err;
	return (struct heldfile *)"COMMAND";
}

struct heldfile *target_resolve(const char *binary, const struct process *proc, struct errmsg *err)
{
	if (binary && !strncmp(binary, "none", 4)) {
		errmsg_set(err, "no %s", binary);
		return NULL;
	}
	fprintf(calls, "%s", proc ? "in process: " : "");
	return (struct heldfile *)(binary ? binary : "itself");
}

bool target_is_number(const char *name)
{
	return strchr(name, '7') != NULL;
}

struct program *tracer_open(struct tracer *tracer, struct heldfile *file, struct errmsg *err)
{
	if (!file || !strcmp((const char *)file, "77")) {
		errmsg_set(err, "cannot open");
		return NULL;
	}
	fprintf(calls, "open %s\n", (const char *)file);
	opened[tracer->program_count] = &programs[tracer->program_count];
	return opened[tracer->program_count++];
}

void selection_group(struct selection *sel, uint32_t group, bool returns)
{
	sel->group = group;
	sel->returns = returns;
}

int runtime_func_add(struct selection *sel, const struct program *prog,
		     const struct runtime_func *func, struct errmsg *err)
{
	assert_true(sel->want.runtime);
	fprintf(calls, "%s of %s in group %u%s\n", func->names[0], prog->path, sel->group,
		sel->returns ? ", returns" : "");
	return refused && !strcmp(prog->path, refused) ? errmsg_set(err, "not in %s", refused) : 0;
}

/* --- */

static const struct runtime_func funcs[] = {
	{.names = {"block"}},
	{.names = {"lock"}, .returns = true},
};

struct subject {
	struct tracer_config config;
	struct selection sel;
	struct tracer tracer;
	struct errmsg err;
};

static struct subject *subject_new(char *const *binaries, size_t count)
{
	struct subject *s = mem_zalloc(1, sizeof(*s));

	refused = NULL;
	s->config = (struct tracer_config){.patterns = binaries,
					   .pattern_count = count,
					   .runtime_funcs = funcs,
					   .runtime_func_count = 2};
	s->tracer.config = &s->config;
	s->tracer.sel = &s->sel;
	s->tracer.programs = opened;
	return s;
}

static void expect(struct subject *s, int ret, const char *want)
{
	char *text = NULL;
	size_t len;

	calls = open_memstream(&text, &len);
	int got = tracer_add_binaries(&s->tracer, &s->err);

	fclose(calls);
	assert_string_equal(text, want);
	assert_int_equal(got, ret);
	free(text);
}

#define FUNCS_OF_0 "block of 0 in group 0\nlock of 0 in group 1, returns\n"

static void test_process_or_command(void **state)
{
	struct subject *s = subject_new(NULL, 0);

	(void)state;
	s->tracer.process = (struct process *)s;
	expect(s, 0, "in process: open itself\n" FUNCS_OF_0);
	assert_ptr_equal(s->tracer.executed, &programs[0]);
	free(s);

	s = subject_new(NULL, 0);
	s->tracer.command = (struct command *)s;
	expect(s, 0, "open COMMAND\n" FUNCS_OF_0);
	assert_ptr_equal(s->tracer.executed, &programs[0]);
	free(s);
}

/* They were opened before. */
static void test_running(void **state)
{
	struct subject *s = subject_new(NULL, 0);

	(void)state;
	opened[0] = &programs[0];
	s->tracer.running = s->tracer.program_count = 1;
	expect(s, 0, FUNCS_OF_0);
	assert_null(s->tracer.executed);
	free(s);
}

static void test_binaries(void **state)
{
	char *binaries[] = {"/a", "b"};
	struct subject *s = subject_new(binaries, 2);

	(void)state;
	s->tracer.command = (struct command *)s; /* has no part in it */
	s->config.want.returns = true;
	expect(s, 0,
	       "open /a\n"
	       "open b\n"
	       "block of 0 in group 0, returns\n"
	       "block of 1 in group 0, returns\n"
	       "lock of 0 in group 1, returns\n"
	       "lock of 1 in group 1, returns\n");
	assert_null(s->tracer.executed);
	free(s);
}

static void test_refused(void **state)
{
	char *none[] = {"/a", "none"}, *number[] = {"77", "/a"}, *no_number[] = {"none"};
	struct subject *s = subject_new(none, 2);

	(void)state;
	expect(s, -1, "open /a\n");
	assert_string_equal(s->err.hint, "");
	free(s);

	s = subject_new(number, 2);
	expect(s, -1, "");
	assert_string_equal(s->err.text, "cannot open");
	assert_string_equal(s->err.hint, "");
	free(s);

	s = subject_new(no_number, 1);
	s->tracer.running = 1;
	expect(s, -1, "");
	free(s);

	s = subject_new(none, 1);
	refused = "0";
	expect(s, -1, "open /a\nblock of 0 in group 0\n");
	assert_string_equal(s->err.text, "not in 0");
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_or_command),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_binaries),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* What the kernel side is compiled with, as a whole: with a kernel of this test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/attach.h"
#include "kernel/btf.h"
#include "kernel/kernelfeature.h"
#include "tracing/pidspace.h"
#include "tracing/spending_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

static struct kernel {
	bool types, fsbase, cmpxchg, sleepable, refuses_pid;
	enum attach_how how;
} kernel;

/* --- of other modules --- */

bool attach_sleepable(void)
{
	return kernel.sleepable;
}

enum attach_how attach_how(void)
{
	return kernel.how;
}

bool kernelfeature_cmpxchg(void)
{
	return kernel.cmpxchg;
}

int btf_process(struct btf_process *out, struct errmsg *err)
{
	*out = (struct btf_process){.leader = 1,
				    .start_ns = 2,
				    .exec = 3,
				    .signal = 4,
				    .signal_live = 5,
				    .signal_flags = 6};
	return kernel.types ? 0 : errmsg_set(err, "no types");
}

int btf_thread_fsbase(uint32_t *off, struct errmsg *err)
{
	*off = 7;
	return kernel.fsbase ? 0 : errmsg_set(err, "no fs base");
}

int pidspace_define(pid_t pid, struct bpfprog_define *defs, size_t *count, struct errmsg *err)
{
	if (kernel.refuses_pid)
		return errmsg_set(err, "in another namespace");
	if (pid)
		defs[(*count)++] = (struct bpfprog_define){"TGID", (uint64_t)pid};
	defs[(*count)++] = (struct bpfprog_define){"PIDNS_DEV", 8};
	return 0;
}

size_t spending_rows(const struct tracer *tracer)
{
	return tracer->sel->row_count + 100;
}

void tracer_define_tls(struct tracer *tracer)
{
	tracer_define(tracer, "TLS", 1);
}

void tracer_define_emulation(struct tracer *tracer)
{
	tracer_define(tracer, "EMULATION", 1);
}

/* --- */

struct subject {
	struct tracer_config config;
	struct selection sel;
	struct goruntime rt;
	struct tracer tracer;
};

static struct subject *subject_new(void)
{
	struct subject *s = mem_zalloc(1, sizeof(*s));

	kernel = (struct kernel){.types = true, .fsbase = true, .how = ATTACH_MULTI};
	s->config.cpu = -1;
	s->sel.row_count = 3;
	s->sel.item_count = 5;
	s->rt = (struct goruntime){.tls_g = -8,
				   .g_goid = 152,
				   .g_m = 48,
				   .g_sched_sp = 56,
				   .m_curg = 192,
				   .split_backoff = 64};
	s->tracer.config = &s->config;
	s->tracer.sel = &s->sel;
	s->tracer.runtimes = &s->rt;
	return s;
}

static void subject_free(struct subject *s)
{
	free(s->tracer.defs);
	for (size_t i = 0; i < s->tracer.insert_count; i++)
		free((char *)s->tracer.inserts[i].text);
	free(s->tracer.inserts);
	free(s);
}

/* "NAME=VALUE " of each */
static void expect_defines(const struct tracer *tracer, const char *want)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < tracer->def_count; i++)
		fprintf(out, "%s=%lld ", tracer->defs[i].name, (long long)tracer->defs[i].value);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

/* Defines all of it, and ends the subject. */
static void expect_all(struct subject *s, const char *want)
{
	struct errmsg err = {0};

	if (tracer_define_all(&s->tracer, &err))
		fail_msg("%s", err.text);
	expect_defines(&s->tracer, want);
	subject_free(s);
}

static void expect_refusal(struct subject *s, const char *why)
{
	struct errmsg err = {0};

	assert_int_equal(tracer_define_all(&s->tracer, &err), -1);
	assert_string_equal(err.text, why);
	subject_free(s);
}

static void test_given_again(void **state)
{
	struct subject *s = subject_new();

	(void)state;
	for (int i = 0; i < 3; i++)
		tracer_define(&s->tracer, i % 2 ? "B" : "A", 10 + i);
	tracer_define(&s->tracer, "C", UINT64_MAX);
	expect_defines(&s->tracer, "A=12 B=11 C=-1 ");
	tracer_insert(&s->tracer, "mark", mem_strdup("1"));
	tracer_insert(&s->tracer, "other", mem_strdup("2"));
	tracer_insert(&s->tracer, "mark", mem_strdup("3"));
	assert_int_equal(s->tracer.insert_count, 2);
	assert_string_equal(s->tracer.inserts[0].mark, "mark");
	assert_string_equal(s->tracer.inserts[0].text, "3");
	assert_string_equal(s->tracer.inserts[1].mark, "other");
	assert_string_equal(s->tracer.inserts[1].text, "2");
	subject_free(s);
}

static void test_least(void **state)
{
	struct subject *s = subject_new();

	(void)state;
	/* what the kernel can, nobody asks for */
	kernel.sleepable = kernel.cmpxchg = true;
	kernel.how = ATTACH_PERF_COOKIE;
	expect_all(s, "ROWS=3 PIDNS_DEV=8 EMULATION=1 ");
}

static void test_process(void **state)
{
	struct subject *s = subject_new();

	(void)state;
	s->tracer.pid = 1234;
	expect_all(s, "ROWS=3 TGID=1234 PIDNS_DEV=8 FOLLOW_EXEC=1 EMULATION=1 ");
	s = subject_new();
	s->tracer.pid = 1234;
	s->tracer.follows = true;
	expect_all(s, "ROWS=3 TGID=1234 PIDNS_DEV=8 EMULATION=1 ");
	s = subject_new();
	kernel.refuses_pid = true;
	expect_refusal(s, "in another namespace");
}

static void test_asked_for(void **state)
{
	static const struct bpfprog_define own[] = {{"OWN", 77}, {"ROWS", 4}};
	struct subject *s = subject_new();

	(void)state;
	s->config.cpu = 0;
	s->config.want.places = true;
	s->config.sleepable = true;
	s->config.defs = own;
	s->config.def_count = 2;
	s->tracer.spending = (struct spending *)s;
	kernel.how = ATTACH_PERF_STUB;
	kernel.sleepable = true;
	assert_int_equal(tracer_define_all(&s->tracer, NULL), 0);
	assert_true(s->tracer.sleepable);
	assert_int_equal(s->tracer.place_max, 65576);
	expect_defines(&s->tracer, "ROWS=4 PIDNS_DEV=8 EMULATION=1 CPU=0 PLACES=65576 "
				   "COST_ROWS=103 SLEEPABLE=1 OWN=77 BY_STUB=1 ");
	subject_free(s);
	/* the kernel cannot */
	s = subject_new();
	s->config.sleepable = true;
	s->tracer.sleepable = true;
	assert_int_equal(tracer_define_all(&s->tracer, NULL), 0);
	assert_false(s->tracer.sleepable);
	expect_defines(&s->tracer, "ROWS=3 PIDNS_DEV=8 EMULATION=1 ");
	subject_free(s);
}

/* A cookie has room for so many numbers. */
static void test_places_at_most(void **state)
{
	struct subject *s = subject_new();

	(void)state;
	s->config.want.places = true;
	s->sel.item_count = ((1 << 24) - (1 << 16)) / 8 - 1;
	expect_all(s, "ROWS=3 PIDNS_DEV=8 EMULATION=1 PLACES=16777208 ");
	s = subject_new();
	s->config.want.places = true;
	s->sel.item_count = ((1 << 24) - (1 << 16)) / 8 + 1;
	expect_all(s, "ROWS=3 PIDNS_DEV=8 EMULATION=1 PLACES=16777216 ");
}

#define OFFSETS "GOID_OFF=152 G_M=48 G_SCHED_SP=56 M_CURG=192 "
#define TASK "TASK_LEADER=1 TASK_START=2 TASK_EXEC=3 TASK_SIGNAL=4 SIGNAL_LIVE=5 SIGNAL_FLAGS=6 "
#define BEGINNING "ROWS=3 PIDNS_DEV=8 EMULATION=1 "

static struct subject *with_goroutines(bool g_in_register)
{
	struct subject *s = subject_new();

	s->config.goroutines = true;
	s->rt.g_in_register = g_in_register;
	return s;
}

static void test_goroutines(void **state)
{
	struct subject *s = with_goroutines(false);

	(void)state;
	kernel.cmpxchg = true;
	expect_all(s, BEGINNING "CMPXCHG=1 " OFFSETS "TLS_G=-8 FSBASE_OFF=7 TLS=1 " TASK);
	s = with_goroutines(true);
	s->rt.args_in_registers = true;
	expect_all(s, BEGINNING "G_REGISTER=1 ARGS_IN_REGISTERS=1 " OFFSETS
				"TLS_G=-8 FSBASE_OFF=7 TLS=1 " TASK);
	s = with_goroutines(true);
	s->rt.split_stack = true;
	expect_all(s, BEGINNING "G_REGISTER=1 SPLIT_STACK=1 SPLIT_BACKOFF=64 " OFFSETS
				"TLS_G=-8 FSBASE_OFF=7 TLS=1 " TASK);
}

/* Without the kernel's types, or those of amd64 */
static void test_types_unknown(void **state)
{
	struct subject *s = with_goroutines(true);

	(void)state;
	kernel.fsbase = false;
	expect_all(s, BEGINNING "G_REGISTER=1 " OFFSETS "TLS_G=0 FSBASE_OFF=0 " TASK);
	s = with_goroutines(true);
	kernel.types = false;
	expect_all(s, BEGINNING "G_REGISTER=1 " OFFSETS "TLS_G=0 FSBASE_OFF=0 ");
	s = with_goroutines(false);
	kernel.fsbase = false;
	expect_refusal(s, "no fs base");
	s = with_goroutines(false);
	kernel.types = false;
	expect_refusal(s, "no types");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given_again),    cmocka_unit_test(test_least),
		cmocka_unit_test(test_process),        cmocka_unit_test(test_asked_for),
		cmocka_unit_test(test_places_at_most), cmocka_unit_test(test_goroutines),
		cmocka_unit_test(test_types_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

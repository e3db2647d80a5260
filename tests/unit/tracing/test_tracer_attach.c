// SPDX-License-Identifier: Apache-2.0
/* What is attached, in which order, and what the kernel side is told of the places before: with
 * programs, probes and a kernel of this test's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "bpf-src/shared/trace.h"
#include "files/process.h"
#include "kernel/attach.h"
#include "kernel/bpfmap.h"
#include "program/functab.h"
#include "program/program.h"
#include "tracing/probes_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

enum { PROGRAMS = 2, PARTS = 2, PLACES = 8, MAP = 5, COOKIES };

static FILE *notes; /* what was called */
static struct world {
	bool ended, gone, update_fails, attach_fails, sp_unknown;
	unsigned refuses;        /* so often, the first program's probes */
	unsigned held;           /* probes and attachments */
	unsigned tls, tls_fails; /* notes: from 1 on, the one that fails; 0: none */
	struct trace_place told[PLACES];
} world;

static struct program programs[PROGRAMS] = {{.path = "a"}, {.path = "b"}};
static struct selection_item items[] = {{.row = 0}, {.is_copy = true}, {.row = 2}};

/* --- of other modules --- */

int tracer_check(struct tracer *tracer, struct errmsg *err)
{
	(void)tracer;
	return world.gone ? errmsg_set(err, "gone") : 0;
}

bool process_runs(const struct process *proc)
{
	assert_non_null(proc);
	return !world.ended;
}

enum attach_how attach_how(void)
{
	return ATTACH_PERF_COOKIE;
}

bool tracer_emulates(const struct tracer *tracer, const struct program *prog,
		     const struct goruntime *rt)
{
	assert_ptr_equal(rt, tracer->runtimes ? &tracer->runtimes[prog - programs] : NULL);
	return prog == &programs[1];
}

void tracer_find_taken_rets(struct tracer *tracer)
{
	assert_non_null(tracer->attached);
	fputs("taken\n", notes);
}

void tracer_attach_emulator(struct tracer *tracer, size_t n, uint32_t part,
			    const struct probes *probes)
{
	(void)tracer;
	fprintf(notes, "%s.%u: %zu from %zu%s", programs[n].path, part, probes->count,
		probes->first_place, probes->emulates ? ", emulated" : "");
}

void tracer_hint_memory(const struct tracer *tracer, struct errmsg *err)
{
	(void)tracer;
	errmsg_hint(err, "memory");
}

int tracer_note_tls(struct tracer *tracer, const struct goruntime *rt, struct probes *probes,
		    struct errmsg *err)
{
	(void)tracer;
	(void)rt;
	(void)probes;
	return ++world.tls == world.tls_fails ? errmsg_set(err, "no TLS") : 0;
}

void tracer_forget_tls(struct tracer *tracer, const struct probes *probes)
{
	(void)tracer;
	fprintf(notes, "forget %zu\n", probes->count);
}

int tracer_fill_tls(const struct tracer *tracer, struct errmsg *err)
{
	(void)tracer;
	(void)err;
	fputs(", TLS", notes);
	return 0;
}

/* The first program has a function, a hook and a copy in part 0; the second a function, of which
 * part 1 has a probe as well. */
struct probes *probes_new(const struct probes_want *want)
{
	static const struct attach_probe first[] = {
		{.addr = 0x100},
		{.addr = 0x110},
		{.addr = 0x120, .cookie = UINT64_C(3) << COOKIE_ROW_BITS /* 24 bytes */},
	};
	static const size_t owners[] = {0, SIZE_MAX, 1};
	struct probes *probes = mem_zalloc(1, sizeof(*probes));
	bool is_first = want->prog == &programs[0];

	probes->count = !is_first ? 1 : want->part ? 0 : 3;
	probes->items = mem_zalloc(3, sizeof(*probes->items));
	probes->owners = mem_zalloc(3, sizeof(*probes->owners));
	memcpy(probes->items, first, sizeof(first));
	memcpy(probes->owners, owners, sizeof(owners));
	if (!is_first) {
		probes->items->addr = 0x200 + want->part;
		*probes->owners = 2;
	}
	probes->first_place = want->first_place;
	probes->emulates = want->emulates;
	probes->refusal = is_first && world.refuses ? "the kernel's words" : NULL;
	world.held++;
	return probes;
}

void probes_free(struct probes *probes)
{
	world.held--;
	free(probes->items);
	free(probes->owners);
	free(probes);
}

bool probes_note_refused(struct probes *probes, struct selection *sel)
{
	(void)sel;
	if (probes->owners[0] || !world.refuses)
		return false;
	world.refuses--;
	return true;
}

struct attach *attach_new(const struct attach_way *way, struct heldfile *file,
			  struct attach_probe *probes, size_t count, struct errmsg *err)
{
	(void)file;
	fprintf(notes, ", attach %d %d %d %d: %zu from %llx\n", way->how, way->prog_fd,
		way->cookies_fd, way->pid, count, (unsigned long long)probes->addr);
	if (world.attach_fails) {
		errmsg_set(err, "not permitted");
		return NULL;
	}
	world.held++;
	return mem_zalloc(1, 1);
}

void attach_free(struct attach *at)
{
	world.held -= at != NULL;
	free(at);
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	(void)prog;
	if (!strcmp(name, "places"))
		return MAP;
	assert_string_equal(name, "cookies");
	return COOKIES;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	uint32_t number = *(const uint32_t *)key;

	assert_true(fd == MAP && number < PLACES);
	fprintf(notes, ", tell %u", number);
	world.told[number] = *(const struct trace_place *)value;
	errno = E2BIG;
	return world.update_fails ? -1 : 0;
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out)
{
	(void)tab;
	*out = (struct functab_func){.addr = addr};
	return true;
}

bool functab_sp_delta(const struct functab *tab, const struct functab_func *fn, uint64_t addr,
		      int32_t *bytes)
{
	(void)tab;
	assert_int_equal(fn->addr, addr);
	*bytes = 64;
	return !world.sp_unknown;
}

/* --- */

struct subject {
	struct tracer_config config;
	struct selection sel;
	struct goruntime runtimes[PROGRAMS];
	struct program *programs[PROGRAMS];
	struct tracer tracer;
	struct errmsg err;
};

static struct subject *subject_new(void)
{
	struct subject *s = mem_zalloc(1, sizeof(*s));

	world = (struct world){0};
	s->sel = (struct selection){.items = items, .item_count = 3, .want.places = true};
	s->tracer = (struct tracer){.config = &s->config,
				    .sel = &s->sel,
				    .programs = s->programs,
				    .program_count = PROGRAMS,
				    .part_count = PARTS,
				    .pid = 7,
				    .place_max = PLACES};
	for (int i = 0; i < PROGRAMS; i++) {
		s->programs[i] = &programs[i];
		s->runtimes[i] = (struct goruntime){.tls_word = 0x1000 + i, .tls_delta = -i};
	}
	return s;
}

static void subject_free(struct subject *s)
{
	for (size_t i = 0; s->tracer.attached && i < PROGRAMS * PARTS; i++)
		attach_free(s->tracer.attached[i]);
	assert_int_equal(world.held, 0);
	free(s->tracer.attached);
	free(s->tracer.places);
	free(s);
}

static void expect(struct subject *s, int ret, const char *want)
{
	const int fds[PARTS] = {70, 71};
	char *text = NULL;
	size_t len;

	notes = open_memstream(&text, &len);
	int got = tracer_attach_all(&s->tracer, fds, &s->err);

	fclose(notes);
	assert_string_equal(text, want);
	assert_int_equal(got, ret);
	free(text);
}

/* "ADDR ITEM PLAN TABLE RESTART FRAME TLS_WORD TLS_DELTA" of each */
static void expect_places(const struct subject *s, const char *want)
{
	char *text = NULL;
	size_t len;

	notes = open_memstream(&text, &len);
	for (size_t i = 0; i < s->tracer.place_count; i++) {
		const struct trace_place *p = &s->tracer.places[i];

		fprintf(notes, "%llx %u %u %u %u %d %llx %lld\n", p->addr, p->item, p->plan,
			p->table, p->restart, p->frame, p->tls_word, p->tls_delta);
	}
	fclose(notes);
	assert_string_equal(text, want);
	assert_memory_equal(s->tracer.places, world.told,
			    s->tracer.place_count * sizeof(*world.told));
	free(text);
}

#define PLACED                                                                                     \
	"taken\n"                                                                                  \
	"a.0: 3 from 0, tell 0, tell 1, tell 2, TLS, attach 1 70 6 0: 3 from 100\n"                \
	"a.1: 0 from 3, TLSb.0: 1 from 3, emulated, tell 3, TLS, attach 1 70 6 0: 1 from 200\n"    \
	"b.1: 1 from 4, emulated, tell 4, TLS, attach 1 71 6 0: 1 from 201\n"

static void test_places(void **state)
{
	static const struct tracer_plan plans[] = {
		{4, 0, 5, 0x130, false}, {6, 0, 7, 0, false}, {8, 1, 9, 0, false}};
	struct subject *s = subject_new();

	(void)state;
	s->tracer.plans = plans;
	s->tracer.runtimes = s->runtimes;
	expect(s, 0, PLACED);
	expect_places(s, "100 0 4 5 48 0 1000 0\n"
			 "110 0 0 0 0 0 1000 0\n"
			 "120 1 6 7 0 40 1000 0\n"
			 "200 2 8 9 0 0 1001 -1\n"
			 "201 2 8 9 0 0 1001 -1\n");
	assert_non_null(s->tracer.attached[0]);
	assert_null(s->tracer.attached[1]);
	assert_true(s->tracer.attached[2] && s->tracer.attached[3]);
	assert_null(s->tracer.refusal);
	subject_free(s);

	s = subject_new();
	world.sp_unknown = true;
	expect(s, 0, PLACED);
	expect_places(s, "100 0 0 0 0 0 0 0\n"
			 "0 0 0 0 0 0 0 0\n"
			 "120 1 0 0 0 -1 0 0\n"
			 "200 2 0 0 0 0 0 0\n"
			 "201 2 0 0 0 0 0 0\n");
	subject_free(s);
}

/* Without places; one process alone, through a gate, the last part first */
static void test_gate(void **state)
{
	struct subject *s = subject_new();

	(void)state;
	s->sel.want.places = false;
	s->tracer.place_max = 0;
	s->tracer.gate = (struct gate *)s;
	s->tracer.execs = (struct execwatch *)s;
	s->tracer.process = (struct process *)s;
	s->tracer.parts_reversed = true;
	expect(s, 0,
	       "taken\n"
	       "a.1: 0 from 0a.0: 3 from 0, attach 1 70 -1 7: 3 from 100\n"
	       "b.1: 1 from 0, emulated, attach 1 71 -1 7: 1 from 201\n"
	       "b.0: 1 from 0, emulated, attach 1 70 -1 7: 1 from 200\n");
	assert_int_equal(s->tracer.place_count, 0);
	assert_null(s->tracer.attached[1]);
	subject_free(s);
}

/* What the kernel refuses is attached anew without it, and has its places again. */
static void test_refused(void **state)
{
	struct subject *s = subject_new();

	(void)state;
	world.refuses = 1;
	expect(s, 0,
	       "taken\n"
	       "a.0: 3 from 0, tell 0, tell 1, tell 2, TLS, attach 1 70 6 0: 3 from 100\n"
	       "forget 3\n"
	       "a.0: 3 from 0, tell 0, tell 1, tell 2, TLS, attach 1 70 6 0: 3 from 100\n"
	       "a.1: 0 from 3, TLSb.0: 1 from 3, emulated, tell 3, TLS, attach 1 70 6 0: 1 from "
	       "200\n"
	       "b.1: 1 from 4, emulated, tell 4, TLS, attach 1 71 6 0: 1 from 201\n");
	assert_string_equal(s->tracer.refusal, "the kernel's words");
	subject_free(s);
}

static void expect_failure(struct subject *s, const char *text, const char *hint, const char *want)
{
	expect(s, -1, want);
	assert_string_equal(s->err.text, text);
	assert_string_equal(s->err.hint, hint);
	subject_free(s);
}

static void test_failures(void **state)
{
	struct subject *s = subject_new();

	(void)state;
	world.gone = true;
	expect_failure(s, "gone", "", "");
	s = subject_new();
	world.ended = true;
	s->tracer.process = (struct process *)s;
	expect_failure(s, "process 7 has ended", "", "");
	s = subject_new();
	s->tracer.place_max = 2;
	expect_failure(s, "more than 2 places to probe: trace fewer functions", "memory",
		       "taken\na.0: 3 from 0");
	s = subject_new();
	world.tls_fails = 1;
	expect_failure(s, "no TLS", "memory", "taken\na.0: 3 from 0");
	s = subject_new();
	world.update_fails = true;
	expect_failure(s, "cannot pass 3 probes to the BPF program: Argument list too long",
		       "memory", "taken\na.0: 3 from 0, tell 0");
	s = subject_new();
	world.attach_fails = true;
	s->tracer.place_max = 3;
	expect_failure(s, "not permitted", "memory",
		       "taken\na.0: 3 from 0, tell 0, tell 1, tell 2, TLS, attach 1 70 6 0: 3 from "
		       "100\n");
	/* what was attached first is not any more */
	s = subject_new();
	world.refuses = 1;
	world.tls_fails = 2;
	s->sel.want.places = false;
	expect_failure(s, "no TLS", "memory",
		       "taken\na.0: 3 from 0, TLS, attach 1 70 6 0: 3 from 100\nforget 3\n"
		       "a.0: 3 from 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

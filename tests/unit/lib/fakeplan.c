// SPDX-License-Identifier: Apache-2.0
#include "fakeplan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/copyinfo.h"
#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "elf/image.h"
#include "golang/gotype_internal.h"
#include "golang/signature.h"
#include "gotrace/traceplan_internal.h"
#include "kernel/bpfmap.h"
#include "kernel/kernelfeature.h"
#include "latency/states.h"
#include "printed.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "roots/roots.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "steps.h"
#include "tracing/tracer.h"

enum { ITEMS = 32, FUNC_BYTES = 0x100 };

/* By its index in the function table. A name with "copy" is an inlined copy's. */
static const struct known {
	const char *name, *signature; /* NULL: not known */
	bool words;                   /* but raw words are */
	unsigned long long restart;
} known[] = {
	{"main.f", "(a int, s string) (n int, err error)", false, 0},
	{"main.g", "(b uint8)", false, 7},
	{"main.raw", NULL, false, 0},
	{"main.(*T).words", NULL, true, 0},
	{"main.long", "(s, t, u, v interface{}, w, x, y, z []string)", false, 0},
	{"main.copy", "(a int)", false, 0},
	{"main.unknowncopy", NULL, false, 0},
	{"main.Unwrap", "(e error) error", false, 0},
	{"main.pointer", "(p *struct { a int; b string })", false, 0},
	{NULL, NULL, false, 0}, /* malformed */
};

struct fakeplan fakeplan;
static struct selection_row rows[ITEMS];
static struct selection_item items[ITEMS];
static struct selection selected;
static const struct tracer_plan *told; /* the tracer */
static unsigned usual;                 /* of what is defined, what is mostly */
static uint32_t parts;

struct funcinfo {
	const struct program *prog;
	struct gotypes *memory;
};

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum arch image_arch(const struct image *img)
{
	return fakeplan.arch;
}

bool functab_func(const struct functab *tab, size_t index, struct functab_func *out)
{
	*out = (struct functab_func){.name = known[index].name,
				     .addr = 0x1000 + index * FUNC_BYTES,
				     .end = 0x1000 + (index + 1) * FUNC_BYTES};
	return out->name;
}

/* --- in place of arguments/ --- */

struct funcinfo *funcinfo_new(const struct program *prog, struct gotypes *memory)
{
	struct funcinfo *info = mem_zalloc(1, sizeof(*info));

	*info = (struct funcinfo){prog, memory};
	return info;
}

void funcinfo_free(struct funcinfo *info)
{
	free(info);
}

static const struct gotype *find_none(void *ctx, const char *name)
{
	return NULL;
}

struct signature_names funcinfo_names(struct funcinfo *info)
{
	return (struct signature_names){find_none, info, 24};
}

static int parse(struct funcinfo *info, const char *text, struct gofunc *out, struct errmsg *err)
{
	const struct signature_names names = funcinfo_names(info);

	*out = (struct gofunc){.dictionary = -1, .source = GOFUNC_SIGNATURE};
	int ret = signature_parse(info->memory, &names, text, out, NULL, err);

	out->source = GOFUNC_SIGNATURE;
	out->dictionary = -1;
	return ret;
}

static const struct known *known_of(const struct functab_func *fn)
{
	return &known[(fn->addr - 0x1000) / FUNC_BYTES];
}

void funcinfo_find(struct funcinfo *info, const struct functab_func *fn, struct gofunc *out)
{
	struct errmsg err;
	const struct known *of = known_of(fn);

	*out = (struct gofunc){.dictionary = -1, .source = GOFUNC_NONE};
	if (of->signature)
		assert_int_equal(parse(info, of->signature, out, &err), 0);
}

int funcinfo_signature(struct funcinfo *info, const struct functab_func *fn, const char *text,
		       unsigned col, struct gofunc *out, struct errmsg *err)
{
	steps_are("signature %.*s at col %u", (int)strcspn(text, "{\" "), text, col);
	return parse(info, text, out, err);
}

uint64_t funcinfo_layout(struct funcinfo *info, const struct functab_func *fn,
			 const struct gofunc *sig, struct abi_layout *out)
{
	abi_layout(sig, fakeplan.arch, ABI_REGISTERS, out);
	return known_of(fn)->restart;
}

bool funcinfo_words(struct funcinfo *info, const struct functab_func *fn, bool whole,
		    struct gofunc *sig, struct abi_layout *abi)
{
	struct errmsg err;

	steps_are("words %s%s", fn->name, whole ? " whole" : "");
	if (!known_of(fn)->words)
		return false;
	parse(info, "(a uintptr)", sig, &err);
	abi_layout(sig, fakeplan.arch, ABI_REGISTERS, abi);
	return true;
}

void funcinfo_type_receiver(struct funcinfo *info, const struct functab_func *fn,
			    struct gofunc *sig)
{
	steps_are("receiver %s of %zu", fn->name, sig->param_count);
}

void funcinfo_link(struct funcinfo *info, struct funcinfo *library)
{
	steps_are("link %s %s", info->prog->path, library->prog->path);
}

int copyinfo_find(const struct copyinfo_asker *asker, const struct inlining_copy *copy,
		  struct site_list *exits, struct copyinfo *out, struct errmsg *err)
{
	bool is_known = !strcmp(copy->name, "main.copy");

	*out = (struct copyinfo){.entry.addr = 5, .known = is_known};
	out->sig = (struct gofunc){.dictionary = -1, .source = GOFUNC_NONE};
	if (is_known)
		parse(asker->info, "(a int)", &out->sig, err);
	if (steps_answer(err, "copy %s of %s by %s%s %s %u", copy->name, asker->prog->path,
			 ((const struct program *)(const void *)asker->finder)->path,
			 asker->timed ? " timed" : "", asker->signature ? "typed" : "-",
			 asker->col))
		return -1;
	abi_layout(&out->sig, fakeplan.arch, ABI_REGISTERS, &out->layout);
	return 0;
}

/* Two types: int, and one whose descriptor both fakeplan.programs have. */
void funcinfo_each_rtype(struct funcinfo *info,
			 bool (*fn)(const struct gotype *type, bool direct, void *ctx), void *ctx)
{
	struct gotype *types[] = {gotypes_alloc(info->memory, 1, sizeof(struct gotype)),
				  gotypes_alloc(info->memory, 1, sizeof(struct gotype)),
				  gotypes_alloc(info->memory, 1, sizeof(struct gotype))};

	*types[0] = *gotypes_basic(info->memory, "int");
	*types[1] = *gotypes_pointer(info->memory, gotypes_basic(info->memory, "int"));
	*types[2] = *gotypes_basic(info->memory, "string");
	if (info->prog == &fakeplan.programs[1])
		*types[2] = *gotypes_basic(info->memory, "uint8");
	for (unsigned i = 0; i < 3; i++) {
		types[i]->rtype = 0x100 * (i + 1);
		if (!fn(types[i], i == 1, ctx))
			return;
	}
}

uint64_t funcinfo_rtype_key(struct funcinfo *info, uint64_t addr)
{
	return addr == 0x100 ? 0 : addr + 1; /* the first is of no other program */
}

const struct gotype *funcinfo_rtype(struct funcinfo *info, uint64_t addr, bool *direct)
{
	*direct = true;
	return addr == 0x100 ? gotypes_basic(info->memory, "int") : NULL;
}

/* --- in place of the tracer --- */

size_t tracer_program_count(const struct tracer *tracer)
{
	return fakeplan.program_count;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	assert_true(n < fakeplan.program_count);
	return &fakeplan.programs[n];
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	assert_true(n < fakeplan.program_count);
	return &fakeplan.runtimes[n];
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	return &selected;
}

pid_t tracer_pid(const struct tracer *tracer)
{
	return 0;
}

const struct program *tracer_executed(const struct tracer *tracer)
{
	return NULL;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	static const struct {
		const char *name;
		uint64_t value;
	} mostly[] = {
		{"STRING_MAX", 80},     {"SAVED_MAX", 0},        {"RING_PAGES", 2048},
		{"CALLS", 1 << 17},     {"GOROUTINES", 1 << 17}, {"USER_FRAMES", 0},
		{"KERNEL_FRAMES", 0},   {"TABLES", 0},           {"G_GOPC", 288},
		{"G_PARENT_GOID", 280},
	};

	for (size_t i = 0; i < sizeof(mostly) / sizeof(*mostly); i++)
		if (!strcmp(mostly[i].name, name) && mostly[i].value == value) {
			usual++;
			return;
		}
	steps_are("%s=%llu", name, (unsigned long long)value);
}

void tracer_insert(struct tracer *tracer, const char *mark, char *text)
{
	steps_are("insert %s", mark);
	free(text);
}

void tracer_set_plans(struct tracer *tracer, const struct tracer_plan *plans)
{
	told = plans;
}

uint32_t tracer_parts(const struct tracer *tracer)
{
	return parts;
}

void tracer_set_parts(struct tracer *tracer, uint32_t count)
{
	parts = count;
	steps_are("%u parts", count);
}

void tracer_set_otherwise(struct tracer *tracer,
			  void (*otherwise)(void *ctx, struct tracer *tracer,
					    const struct errmsg *why),
			  void *ctx)
{
	steps_are("otherwise");
	fakeplan.otherwise = otherwise;
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	return !strcmp(name, "dyntypes") ? 1 : !strcmp(name, "tables") ? 2 : 3;
}

struct site_finder *selection_finder(const struct selection *sel, const struct program *prog)
{
	assert_ptr_equal(sel, &selected);
	return (struct site_finder *)prog;
}

void selection_locate(struct selection *sel, struct selection_item *item, const struct site *entry,
		      const struct site_list *exits, const char *reason)
{
	steps_are("locate %zu at %d", (size_t)(item - items), (int)entry->addr);
}

void selection_skip(struct selection *sel, struct selection_item *item, const char *why)
{
	steps_are("skip %zu: %s", (size_t)(item - items), why);
	item->skipped = why;
}

void selection_note(struct selection *sel, char *text)
{
	steps_are("note %s", text);
	free(text);
}

/* --- in place of states, roots and the kernel --- */

int states_plan_brief(struct tracer *tracer, const char *asked, struct errmsg *err)
{
	selected.item_count++;
	return steps_answer(err, "states %s", asked);
}

int states_check(const struct tracer *tracer, const char *asked, struct errmsg *err)
{
	return steps_answer(err, "check %s", asked);
}

int roots_plan(struct roots *roots, struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(roots, FAKEPLAN_SOME);
	return steps_answer(err, "roots");
}

void roots_serve(struct roots *roots, struct tracer *tracer)
{
	assert_ptr_equal(roots, FAKEPLAN_SOME);
	steps_are("serve roots");
}

bool goruntime_same_creation(const struct goruntime *a, const struct goruntime *b)
{
	steps_are("compare %d %d", (int)(a - fakeplan.runtimes), (int)(b - fakeplan.runtimes));
	return a->g_gopc == b->g_gopc;
}

uint32_t goruntime_labels(const struct program *prog, const struct goruntime *rt)
{
	return prog->release ? 0x168 : 0;
}

bool kernelfeature_cmpxchg(void)
{
	return fakeplan.cmpxchg;
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	const struct trace_dyntype *how = value;

	errno = E2BIG;
	if (fd == 1)
		return steps_are("type %llx size %u%s inner %d %llx",
				 (unsigned long long)*(const uint64_t *)key, how->size,
				 how->direct ? " direct" : "", how->inner,
				 how->inner < 0 ? 0 : how->inner_type)
			       ? -1
			       : 0;
	errno = ENOMEM;
	return steps.fails && !strcmp(steps.fails, "tables") ? -1 : 0;
}

/* NOLINTEND(misc-unused-parameters) */

/* --- plans --- */

int fakeplan_begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < FAKEPLAN_PROGRAMS; i++) {
		fakeplan.programs[i] = (struct program){
			.path = i ? "lib" : "app", .release = 24, .toolchain = &toolchain_gc};
		fakeplan.runtimes[i] =
			(struct goruntime){.g_goid = 152, .g_gopc = 288, .g_parent_goid = 280};
	}
	fakeplan.program_count = 1;
	selected = (struct selection){.rows = rows, .items = items};
	fakeplan.config = (struct traceplan_config){.tool = "gotrace", .string_max = 80};
	fakeplan.arch = ARCH_AMD64;
	fakeplan.cmpxchg = true;
	usual = 0;
	parts = 0;
	fakeplan.otherwise = NULL;
	steps = (struct steps){0};
	unsetenv("GOTOOLS_TABLES");
	return 0;
}

/* An item for PROBE number `group` */
struct selection_item *fakeplan_add(uint32_t group, uint32_t func, bool returns)
{
	struct selection_item *item = &items[selected.item_count];

	rows[selected.item_count] = (struct selection_row){.name = known[func].name};
	*item = (struct selection_item){.prog = &fakeplan.programs[0],
					.row = (uint32_t)selected.item_count,
					.group = group,
					.func = func,
					.returns = returns};
	if (known[func].name && strstr(known[func].name, "copy")) {
		item->is_copy = true;
		item->copy.name = known[func].name;
	}
	selected.item_count++;
	return item;
}

static void dump(const struct traceplan *plan)
{
	const char *first;

	for (size_t i = 0; i < plan->item_count; i++) {
		const struct traceplan_item *item = traceplan_item(plan, i);
		const struct tracer_plan *to = &told[i];

		steps_are("%zu: plan %u, %zu args, %u/%u bytes", i, item->plan, item->arg_count,
			  item->saved_size, item->record_size);
		if (item->program || to->number || to->part || to->table || to->restart)
			steps_are("program %u number %x part %u table %u restart %u%s",
				  item->program, to->number, to->part, to->table,
				  (unsigned)to->restart, to->ends_apart ? " apart" : "");
	}
	assert_null(traceplan_item(plan, plan->item_count));
	size_t unknown = traceplan_unknown(plan, &first);
	const char *copy = traceplan_unknown_copy(plan);

	steps_are("%u usual; record %u, dynamic %u, %zu unknown%s%s%s%s", usual,
		  traceplan_record_max(plan), traceplan_limits(plan).dynamic_max, unknown,
		  unknown ? ": " : "", unknown ? first : "", copy ? ", copy " : "",
		  copy ? copy : "");
}

/* Makes a plan of these PROBEs for the items that were added: what is asked for and made of it, and
 * what is said on stderr. */
struct traceplan *fakeplan_make(char *const *probes, size_t count, const char *said)
{
	struct errmsg err = {0};
	FILE *theirs = stderr;
	char *text;
	size_t len;

	fakeplan.config.probes = probes;
	fakeplan.config.probe_count = count;
	struct traceplan *plan = traceplan_new(&fakeplan.config, &err);

	if (!plan) {
		steps_are("refused: %s%s%s", err.text, *err.hint ? " hint " : "", err.hint);
		return NULL;
	}
	stderr = open_memstream(&text, &len);
	int ret = traceplan_make(plan, NULL, &err);

	if (!ret) {
		dump(plan);
		ret = traceplan_loaded(plan, NULL, &err) || traceplan_attached(plan, NULL, &err);
		traceplan_say_served(plan);
	}
	fclose(stderr);
	stderr = theirs;
	if (ret)
		steps_are("error: %s%s%s", err.text, *err.hint ? " hint " : "", err.hint);
	printed_is(text, said);
	return plan;
}

void fakeplan_expect(char *const *probes, size_t count, const char *said, const char *did)
{
	traceplan_free(fakeplan_make(probes, count, said));
	steps_expect(did);
	fakeplan_begin(NULL);
}

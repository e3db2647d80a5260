// SPDX-License-Identifier: Apache-2.0
/* A look at the objects of a heap, from the process to what is printed: all other modules are of
 * this test's own, and write down what they are asked. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "golang/gotype.h"
#include "frames/frames.h"
#include "goroutines/memory_pages.h"
#include "gostacks/goprocesses.h"
#include "gostacks/goroutines_print.h"
#include "objects/object_walk_internal.h"
#include "objects/objects_look.h"
#include "objects/objects_print_internal.h"
#include "objects/objects_still_internal.h"
#include "objects/objects_sum_internal.h"
#include "objects/processors_internal.h"
#include "objects/retained_internal.h"
#include "program/functab.h"
#include "program/moduledata.h"
#include "program/program.h"
#include "rtti/rtti.h"
#include "steps.h"

enum { BIAS = 0x10000, MODULEDATA = 0x77, PLACE = 0x88, RELEASE = 27, SLOTS = 10, PID = 181 };
enum { QUEUE = 0x99, POINTER_TYPE = 0x110, OTHER_TYPE = 0x120, OBJECT = 0x130 };

static int anything; /* its address stands for what only others look into */
#define SOME ((void *)&anything)

static struct program program;
static uint64_t scanned, stopped_ns;
static struct memory pages_of[2]; /* what was copied, and what lives */
static unsigned pages_made;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* --- in place of the process and its program --- */

const struct program *goprocess_program(const struct goprocess *gp)
{
	return &program;
}

int goprocess_release(const struct goprocess *gp)
{
	return RELEASE;
}

const struct memory *goprocess_memory(const struct goprocess *gp)
{
	return &pages_of[1];
}

const struct frames *goprocess_frames(const struct goprocess *gp)
{
	static const struct frames frames = {.bias = BIAS};

	return &frames;
}

uint64_t functab_moduledata(const struct functab *tab)
{
	assert_ptr_equal(tab, SOME);
	return MODULEDATA;
}

const struct moduledata_layout *moduledata_layout(int release)
{
	static const struct moduledata_layout layout = {.types = 3, .types_end = 4};

	assert_int_equal(release, RELEASE);
	return &layout;
}

uint64_t moduledata_word(const struct image *img, uint64_t addr, unsigned index)
{
	assert_int_equal(addr, MODULEDATA);
	return index == 3 ? 0x100 : index == 4 ? 0x200 : 0;
}

struct rtti *rtti_open(const struct image *img, const struct functab *tab, int release,
		       struct gotypes *types, struct errmsg *err)
{
	assert_non_null(types);
	return steps_answer(err, "types of 1.%d", release) ? NULL : SOME;
}

void rtti_close(struct rtti *rtti)
{
	steps_are(rtti ? "end of types" : "no types");
}

struct memory_pages *memory_pages_new(const struct memory *mem)
{
	steps_are(mem == &pages_of[1] ? "live" : "still");
	return (struct memory_pages *)&pages_of[pages_made++];
}

const struct memory *memory_pages_memory(const struct memory_pages *pages)
{
	return (const struct memory *)pages;
}

void memory_pages_free(struct memory_pages *pages)
{
	steps_are("pages freed");
}

/* --- in place of the room's own --- */

int spans_find(const struct program *prog, const struct memory *mem, uint64_t bias, uint64_t *place,
	       struct errmsg *err)
{
	assert_true(prog == &program && mem == &pages_of[1] && bias == BIAS);
	*place = PLACE;
	return steps_answer(err, "spans");
}

void special_queues_find(const struct program *prog, struct special_queues *out)
{
	assert_true(prog == &program);
	*out = (struct special_queues){.finalizers = QUEUE};
}

int objects_still_take(const struct goprocesses_one *one, const struct objects_places *places,
		       struct objects_still *out, struct errmsg *err)
{
	static struct objects_range roots[] = {{0x10, 8}, {0x20, 16}};
	static struct special specials[] = {{.how = SPECIAL_CLEANUP},
					    {.type = OTHER_TYPE, .typed = OBJECT + 1},
					    {.type = POINTER_TYPE, .typed = OBJECT}};

	assert_int_equal(places->spans, PLACE);
	assert_int_equal(places->queues.finalizers, QUEUE);
	*out = (struct objects_still){.spans.slots = SLOTS,
				      .spans.specials = {.all = specials, .count = 3},
				      .roots = roots,
				      .root_count = 2,
				      .scanned = scanned,
				      .stopped_ns = stopped_ns};
	return steps_answer(err, "take");
}

void objects_still_free(struct objects_still *still)
{
	steps_are("still freed");
}

void goroutines_print_stopped(FILE *out, const char *tool, pid_t pid, uint64_t ns)
{
	assert_ptr_equal(out, stderr);
	steps_are("%s %d stood for %d", tool, pid, (int)ns);
}

void budget_watch_allow(uint64_t ns, uint64_t bytes)
{
	steps_are("allow %llu ns %llu bytes", (unsigned long long)ns, (unsigned long long)bytes);
}

void object_walk_headers(struct object_walk *walk)
{
	assert_true(walk->mem == &pages_of[0] && walk->live == &pages_of[1] && walk->rtti == SOME);
	for (size_t i = 0; i <= SLOTS; i++)
		assert_int_equal(walk->kind_of[i], 0);
	steps_are("headers: types %llx-%llx, %llu words", (unsigned long long)walk->types,
		  (unsigned long long)walk->types_end, (unsigned long long)walk->words_left);
}

const struct gotype *object_walk_type(struct object_walk *walk, uint64_t addr)
{
	static const struct gotype pointer = {.kind = GOTYPE_POINTER},
				   other = {.kind = GOTYPE_STRUCT};

	return addr == POINTER_TYPE ? &pointer : addr == OTHER_TYPE ? &other : NULL;
}

void object_walk_pointer(struct object_walk *walk, const struct gotype *type, uint64_t word)
{
	assert_int_equal(type->kind, GOTYPE_POINTER);
	steps_are("special %x", (unsigned)word);
}

void processors_find(struct object_walk *walk)
{
	steps_are("processors");
}

void object_walk_words(struct object_walk *walk, uint64_t addr, uint64_t len)
{
	steps_are("root %d %d", (int)addr, (int)len);
}

void object_walk_unknown(struct object_walk *walk)
{
	steps_are("unknown");
}

void object_walk_end(struct object_walk *walk)
{
	free(walk->kind_of);
	steps_are("end");
}

void objects_add_up(struct objects_table *table, const struct object_walk *walk)
{
	*table = (struct objects_table){.objects = 5};
	steps_are("add up");
}

void objects_table_free(struct objects_table *table)
{
	steps_are("table freed");
}

size_t objects_print(FILE *out, const struct objects_look *look, const struct goprocesses_one *one,
		     struct objects_table *table)
{
	assert_ptr_equal(out, stdout);
	assert_int_equal(table->release, RELEASE);
	steps_are("print %d", one->pid);
	return 4;
}

void objects_say(FILE *err, const struct object_walk *walk, const struct objects_table *table)
{
	assert_true(err == stderr && table->objects == 5);
	steps_are("say");
}

int retained_find(const struct objects_look *look, struct object_walk *walk,
		  const struct objects_still *still, const struct frames *frames,
		  struct retained *out, struct errmsg *err)
{
	assert_true(frames->bias == BIAS && still->root_count == 2);
	return steps_answer(err, "retained, %llu words", (unsigned long long)walk->words_left);
}

size_t retained_print(FILE *out, const struct objects_look *look, const struct goprocesses_one *one,
		      const struct object_walk *walk, struct retained *retained)
{
	assert_ptr_equal(out, stdout);
	steps_are("print retained %d", one->pid);
	return 3;
}

void retained_say(FILE *err, const struct object_walk *walk, const struct retained *retained)
{
	assert_ptr_equal(err, stderr);
	steps_are("say retained");
}

void retained_free(struct retained *retained)
{
	steps_are("retained freed");
}

/* NOLINTEND(misc-unused-parameters) */

/* --- looks --- */

static int setup(void **state)
{
	(void)state;
	program = (struct program){
		.path = "/app", .release = RELEASE, .release_told = true, .tab = SOME};
	scanned = 8000;
	stopped_ns = 0;
	steps = (struct steps){0};
	return 0;
}

static void expect(const struct objects_look *look, uint64_t rows, const char *fails,
		   const char *did)
{
	const struct goprocesses_one one = {.pid = PID};
	struct errmsg err = {0};
	uint64_t count = 0;

	pages_made = 0;
	assert_int_equal(objects_look(look, &one, &count, &err), fails ? -1 : 0);
	assert_string_equal(err.text, fails ? fails : "");
	assert_int_equal(count, rows);
	steps_expect(did);
}

static void test_types(void **state)
{
	(void)state;
	expect(&(struct objects_look){0}, 4, NULL,
	       "types of 1.27; spans; take; still; live; allow 201000 ns 8640 bytes; "
	       "headers: types 10100-10200, 16793216 words; processors; special 130; root 16 8; "
	       "root 32 16; unknown; add up; print 181; say; table freed; end; pages "
	       "freed; pages freed; still freed; end of types; ");
	scanned = UINT64_C(1) << 30;
	stopped_ns = 7;
	expect(&(struct objects_look){0}, 4, NULL,
	       "types of 1.27; spans; take; goheap 181 stood for 7; still; live; "
	       "allow 26843546600 ns 1073742464 bytes; headers: types 10100-10200, "
	       "2164260864 words; processors; special 130; root 16 8; root 32 16; unknown; add up; "
	       "print 181; say; table freed; end; pages freed; pages freed; still "
	       "freed; end of types; ");
}

static void test_retained(void **state)
{
	(void)state;
	expect(&(struct objects_look){.retained = SOME}, 3, NULL,
	       "types of 1.27; spans; take; still; live; allow 201000 ns 8640 bytes; "
	       "headers: types 10100-10200, 16793216 words; processors; special 130; root 16 8; "
	       "root 32 16; unknown; allow 201000 ns 8640 bytes; retained, 16793216 "
	       "words; print retained 181; say retained; retained freed; end; pages "
	       "freed; pages freed; still freed; end of types; ");
	expect(&(struct objects_look){.retained_addr = 5}, 3, NULL,
	       "types of 1.27; spans; take; still; live; allow 201000 ns 8640 bytes; "
	       "headers: types 10100-10200, 16793216 words; processors; special 130; root 16 8; "
	       "root 32 16; unknown; allow 201000 ns 8640 bytes; retained, 16793216 "
	       "words; print retained 181; say retained; retained freed; end; pages "
	       "freed; pages freed; still freed; end of types; ");
}

static void test_failures(void **state)
{
	static const char *const all[][3] = {
		{"types", "no types", "types of 1.27; no types; "},
		{"spans", "no spans", "types of 1.27; spans; end of types; "},
		{"take", "no take",
		 "types of 1.27; spans; take; goheap 181 stood for 9; still freed; end "
		 "of types; "},
		{"retained,", "no retained,",
		 "types of 1.27; spans; take; goheap 181 stood for 9; still; live; "
		 "allow 201000 ns 8640 bytes; headers: types 10100-10200, 16793216 "
		 "words; processors; special 130; root 16 8; root 32 16; unknown; allow 201000 ns "
		 "8640 bytes; retained, 16793216 words; end; pages freed; pages freed; "
		 "still freed; end of types; "},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		setup(state);
		stopped_ns = 9;
		steps.fails = all[i][0];
		expect(&(struct objects_look){.retained = SOME}, 0, all[i][1], all[i][2]);
	}
	program.release_told = false;
	expect(&(struct objects_look){0}, 0,
	       "/app: does not say which release of Go built it: how its heap is laid out is not "
	       "known",
	       "no types; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_types, setup),
		cmocka_unit_test_setup(test_retained, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

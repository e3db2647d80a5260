// SPDX-License-Identifier: Apache-2.0
#include "objects/objects_still_internal.h"

#include <stdlib.h>

#include "base/budget_watch.h"
#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/image.h"
#include "files/process_stop.h"
#include "gostacks/goprocesses.h"
#include "objects/memory_copy_internal.h"
#include "program/program.h"

#define STOPPED_MAX_NS 5000000000ull      /* a process is not to be stopped for longer */
#define COPY_MAX (UINT64_C(4) << 30)      /* bytes */
#define VARIABLES_MAX (UINT64_C(1) << 30) /* bytes; far more than programs have */
#define STACK_MAX (UINT64_C(1) << 30)     /* Go's own limit for a goroutine */
#define RUN_MAX (UINT64_C(16) << 20)      /* bytes, to be copied at once */
enum { PAGE = 4096, COPY_NS = 10 };       /* for a byte, on a slow machine */

struct taking {
	const struct goprocesses_one *one;
	const struct memory *mem;
	const struct objects_places *places;
	struct objects_still *out;
	uint64_t until_ns; /* 0: ever */
};

static void add_root(struct objects_still *out, uint64_t addr, uint64_t len)
{
	out->roots = mem_grow(out->roots, out->root_count, &out->root_cap, sizeof(*out->roots));
	out->roots[out->root_count++] = (struct objects_range){addr, len};
}

static void add_variables(const struct taking *taking)
{
	uint64_t bias = goprocess_frames(taking->one->gp)->bias;
	size_t count;
	const struct image_segment *segments =
		image_segments(goprocess_program(taking->one->gp)->img, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t from = (segments[i].addr + bias) / PAGE * PAGE;
		uint64_t len = segments[i].addr + bias + segments[i].memsz - from;

		if (segments[i].write && len < VARIABLES_MAX)
			add_root(taking->out, from, (len + PAGE - 1) / PAGE * PAGE);
	}
}

static void add_stacks(const struct taking *taking, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->count; i++) {
		const struct goroutine *g = &snap->all[i];
		uint64_t len = g->stack_hi - g->sp;

		if (g->sp && g->sp < g->stack_hi && len < STACK_MAX)
			add_root(taking->out, g->sp / 8 * 8, len);
	}
}

static int check_copy(const struct taking *taking, uint64_t bytes, struct errmsg *err)
{
	if (bytes > COPY_MAX) {
		errmsg_set(err,
			   "its objects with pointers take more than the %llu bytes that are "
			   "copied while it is stopped",
			   (unsigned long long)COPY_MAX);
		errmsg_hint(err, "take a core file with gcore(1), and read it with --core");
		return -1;
	}
	if (taking->until_ns && clock_ns() > taking->until_ns)
		return errmsg_set(err, "to copy its objects takes too long");
	return 0;
}

/* Spans from `from` on that stand one after the other, with pointers in them: to *to. Returns how
 * many bytes they are. */
static uint64_t run_of(const struct spans *spans, size_t from, size_t *to)
{
	uint64_t bytes = 0;

	for (*to = from; *to < spans->count && bytes < RUN_MAX; (*to)++) {
		const struct span *span = &spans->all[*to];

		if (span->noscan || span->base != spans->all[from].base + bytes)
			break;
		bytes += span->bytes;
	}
	return bytes;
}

static int copy_spans(const struct taking *taking, uint64_t *total, struct errmsg *err)
{
	const struct spans *spans = &taking->out->spans;
	struct memory_copy *copy = taking->out->copy;

	for (size_t i = 0, to; i < spans->count; i = to) {
		uint64_t bytes = run_of(spans, i, &to);

		*total += bytes;
		if (check_copy(taking, *total, err))
			return -1;
		if (!bytes)
			to = i + 1;
		else if (!memory_copy_add(copy, taking->mem, spans->all[i].base, bytes))
			for (size_t n = i; n < to; n++)
				memory_copy_add(copy, taking->mem, spans->all[n].base,
						spans->all[n].bytes);
	}
	return 0;
}

static int copy_all(const struct taking *taking, struct errmsg *err)
{
	struct objects_still *out = taking->out;
	uint64_t total = 0;

	if (check_copy(taking, out->scanned, err))
		return -1;
	budget_watch_allow(out->scanned * COPY_NS, out->scanned);
	if (copy_spans(taking, &total, err))
		return -1;
	for (size_t i = 0; i < out->root_count; i++) {
		total += out->roots[i].len;
		if (check_copy(taking, total, err))
			return -1;
		memory_copy_add(out->copy, taking->mem, out->roots[i].addr, out->roots[i].len);
	}
	return 0;
}

static uint64_t bytes_with_pointers(const struct spans *spans)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < spans->count; i++)
		bytes += spans->all[i].noscan ? 0 : spans->all[i].bytes;
	return bytes;
}

static int read_now(const struct taking *taking, const struct process_stop *stop,
		    struct errmsg *err)
{
	const struct goprocess_wanted wanted = {.stop = stop};
	struct goprocess *gp = taking->one->gp;
	struct objects_still *out = taking->out;

	if (goprocess_snapshot(gp, &wanted, &out->snap, err))
		return -1;
	out->has_snap = true;
	budget_watch_task(taking->one->proc ? "the process" : "the core file",
			  "a look at its heap");
	add_variables(taking);
	out->variables = out->root_count;
	add_stacks(taking, &out->snap);
	if (spans_read(taking->mem, taking->places->spans, goprocess_release(gp), taking->until_ns,
		       &out->spans, err))
		return -1;
	special_queues_read(&taking->places->queues, taking->mem, goprocess_frames(gp)->bias,
			    goprocess_release(gp), &out->spans.specials);
	out->scanned = out->copy ? bytes_with_pointers(&out->spans)
				 : spans_there(&out->spans, taking->mem);
	return out->copy ? copy_all(taking, err) : 0;
}

/* Before the process stands still, what is read of the program's file is in memory, and so is room
 * for the copy. */
static int read_ahead(const struct taking *taking, struct errmsg *err)
{
	const struct goprocess_wanted wanted = {0};
	struct goprocess *gp = taking->one->gp;
	struct spans spans;
	struct snapshot snap;

	if (goprocess_snapshot(gp, &wanted, &snap, err))
		return -1;
	snapshot_free(&snap);
	budget_watch_task("the process", "a look at its heap");
	/* it may change meanwhile, so that it cannot be read */
	if (spans_read(taking->mem, taking->places->spans, goprocess_release(gp),
		       clock_ns() + STOPPED_MAX_NS, &spans, NULL))
		return 0;
	uint64_t bytes = bytes_with_pointers(&spans);

	/* it is not to be stopped for nothing */
	if (check_copy(taking, bytes, err)) {
		spans_free(&spans);
		return -1;
	}
	bytes += bytes / 16 + RUN_MAX;
	spans_free(&spans);
	budget_watch_allow(bytes * COPY_NS, bytes);
	if (bytes < COPY_MAX)
		memory_copy_reserve(taking->out->copy, bytes);
	return 0;
}

static int take_process(struct taking *taking, struct errmsg *err)
{
	struct objects_still *out = taking->out;

	out->copy = memory_copy_new();
	out->mem = (struct memory){memory_copy_read, out->copy};
	if (read_ahead(taking, err))
		return -1;
	struct process_stop *stop = process_stop_new(taking->one->proc, err);

	if (!stop)
		return -1;
	taking->until_ns = clock_ns() + STOPPED_MAX_NS;
	int ret = read_now(taking, stop, err);

	out->stopped_ns = process_stop_end(stop);
	return ret;
}

int objects_still_take(const struct goprocesses_one *one, const struct objects_places *places,
		       struct objects_still *out, struct errmsg *err)
{
	struct taking taking = {
		.one = one, .mem = goprocess_memory(one->gp), .places = places, .out = out};

	*out = (struct objects_still){.mem = *taking.mem};
	return one->proc ? take_process(&taking, err) : read_now(&taking, NULL, err);
}

void objects_still_free(struct objects_still *still)
{
	if (still->has_snap)
		snapshot_free(&still->snap);
	spans_free(&still->spans);
	memory_copy_free(still->copy);
	free(still->roots);
	*still = (struct objects_still){0};
}

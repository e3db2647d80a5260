// SPDX-License-Identifier: Apache-2.0
#include "goroutines/gocore.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/index.h"
#include "base/mem.h"
#include "elf/corefile.h"
#include "elf/corefile_program.h"
#include "elf/image.h"
#include "files/process_stop.h"
#include "goroutines/memory.h"
#include "goroutines/signal_frame_internal.h"
#include "sites/goruntime.h"

enum {
	PAGE = 4096,
	/* bytes of signal stacks: some thousands of each thread that is in a handler */
	SIGNALS_MAX = 1 << 26,
	NOBODY = -1,
};

struct thread {
	pid_t own; /* as the runtime knows it */
	int call;
	uint64_t pc, sp;
};

struct gocore {
	const struct corefile *core;
	const struct image *img;
	uint64_t bias;
	bool told;
	struct memory mem;      /* all of it, for itself */
	struct thread *threads; /* as the core has them */
	struct index by_own;
	uint64_t signals_left; /* how much may be read yet of signal stacks */
};

struct gocore *gocore_new(const struct corefile *core, const struct image *img, struct errmsg *err)
{
	struct gocore *gc = mem_zalloc(1, sizeof(*gc));
	enum corefile_match match = corefile_program(core, img, &gc->bias);

	gc->core = core;
	gc->signals_left = SIGNALS_MAX;
	gc->img = img;
	gc->mem = (struct memory){gocore_read, gc};
	gc->told = match == COREFILE_SAME;
	if (match != COREFILE_OTHER)
		return gc;
	errmsg_set(err, "\"%s\": a core file of another program, or another build, than \"%s\"",
		   corefile_path(core), image_path(img));
	gocore_free(gc);
	return NULL;
}

void gocore_free(struct gocore *core)
{
	if (!core)
		return;
	index_free(&core->by_own);
	free(core->threads);
	free(core);
}

bool gocore_is_told(const struct gocore *core)
{
	return core->told;
}

uint64_t gocore_bias(const struct gocore *core)
{
	return core->bias;
}

bool gocore_read(void *ctx, uint64_t addr, void *out, size_t len)
{
	const struct gocore *gc = ctx;
	uint8_t *to = out;

	while (len) {
		size_t n = corefile_read(gc->core, addr, to, len);

		if (!n) {
			n = PAGE - addr % PAGE < len ? PAGE - addr % PAGE : len;
			const void *bytes = image_at(gc->img, addr - gc->bias, n);

			if (!bytes)
				return false;
			memcpy(to, bytes, n);
		}
		addr += n;
		to += n;
		len -= n;
	}
	return true;
}

/* --- threads --- */

/* Where a thread's g is, from what fs points to. */
static bool find_tls_g(const struct gocore *gc, const struct goruntime *rt, uint64_t *off)
{
	*off = (uint64_t)(int64_t)rt->tls_g;
	return rt->tls_g || (rt->tls_word && memory_u64(&gc->mem, rt->tls_word + gc->bias, off));
}

/* In a handler it still does, for who sees it from outside, what the signal has interrupted. */
static void leave_handler(struct gocore *gc, const struct goruntime *rt, uint64_t m,
			  struct thread *thread)
{
	uint64_t gsignal, lo, hi;
	struct signal_frame frame;

	/* m.gsignal stands behind m.procid */
	if (!memory_u64(&gc->mem, m + rt->m_procid + 8, &gsignal) ||
	    !memory_u64(&gc->mem, gsignal + rt->g_stack_hi - 8, &lo) ||
	    !memory_u64(&gc->mem, gsignal + rt->g_stack_hi, &hi) || thread->sp < lo ||
	    thread->sp >= hi || hi - thread->sp > gc->signals_left)
		return;
	gc->signals_left -= hi - thread->sp;
	if (!signal_frame_find(&gc->mem, thread->sp, lo, hi, &frame))
		return;
	thread->pc = frame.pc;
	thread->sp = frame.sp;
	thread->call = frame.call;
}

/* By the g that it has. Its m.procid is other than the core's number of the thread where gcore(1)
 * was in another PID namespace. */
static void find_own(struct gocore *gc, const struct goruntime *rt, uint64_t tls_g,
		     struct thread *thread)
{
	uint64_t g, m, id;

	if (!memory_u64(&gc->mem, tls_g, &g) || !g || !memory_u64(&gc->mem, g + rt->g_m, &m) ||
	    !m || !memory_u64(&gc->mem, m + rt->m_procid, &id) || !id || id > INT32_MAX)
		return;
	thread->own = (pid_t)id;
	leave_handler(gc, rt, m, thread);
}

static struct thread *find_thread(const struct gocore *gc, pid_t tid)
{
	size_t n = index_first(&gc->by_own, index_hash(0, (uint64_t)tid));

	while (n != INDEX_NONE && gc->threads[n].own != tid)
		n = index_next(&gc->by_own, n);
	return n == INDEX_NONE ? NULL : &gc->threads[n];
}

/* One that has just been cloned has its parent's g, up to Go 1.15: the number tells whose it is. */
static void leave_one(const struct gocore *gc, struct thread *thread, pid_t tid)
{
	struct thread *other = find_thread(gc, thread->own);

	if (!other)
		return;
	if (tid == thread->own)
		*other = *thread;
	thread->own = NOBODY;
}

void gocore_find_threads(struct gocore *core, const struct goruntime *rt)
{
	uint64_t off;
	bool has_g = find_tls_g(core, rt, &off);
	size_t count;
	const struct corefile_thread *all = corefile_threads(core->core, &count);

	core->threads = mem_zalloc(count + 1, sizeof(*core->threads));
	for (size_t i = 0; i < count; i++) {
		struct thread *thread = &core->threads[i];

		*thread = (struct thread){all[i].tid, all[i].call, all[i].pc, all[i].sp};
		if (has_g)
			find_own(core, rt, all[i].tls + off, thread);
		leave_one(core, thread, all[i].tid);
		index_add(&core->by_own, index_hash(0, (uint64_t)thread->own));
	}
}

bool gocore_registers(const void *ctx, pid_t tid, struct process_registers *out)
{
	const struct thread *thread = find_thread(ctx, tid);

	if (!thread)
		return false;
	*out = (struct process_registers){.pc = thread->pc, .sp = thread->sp};
	return true;
}

int gocore_call(const void *ctx, pid_t tid)
{
	const struct thread *thread = find_thread(ctx, tid);

	return thread ? thread->call : -1;
}

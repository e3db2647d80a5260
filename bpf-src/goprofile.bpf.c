// SPDX-License-Identifier: Apache-2.0
/* Samples of what runs, at each tick of a clock of this CPU: registers, some words of the stack,
 * and what frame pointers lead to. The tool unwinds, because it has the program's tables: code that
 * has no frame of its own yet, or never, is told by them alone.
 *
 *   -DRING_PAGES=n    size of the ring buffer, a power of two
 *   -DTARGETS=n       processes that are known at a time
 *   -DCGROUP          what runs in the cgroup that the tool has put into `cgroups`, and below it
 *   -DLABELS          labels of goroutines as well
 *   -DKERNEL_STACK    the kernel's stack as well
 *   -DFSBASE_OFF=n    byte offset of the fs base in struct task_struct; not defined: there is none
 */
#include "parts/no_text.h"
#include "parts/probe.h"
#include "parts/process_key.h"
#include "shared/profile.h"

#define LOSS_KINDS PROFILE_LOSSES
#define SWITCHES 4 /* to the system stack, a signal's, and back */

struct record {
	struct profile_sample sample;
	u64 words[PROFILE_WORDS + PROFILE_TOP];
};

struct stack_ends { /* the first words of Go's struct g */
	u64 lo, hi;
};

BPF_RINGBUF_OUTPUT(events, RING_PAGES);
BPF_TABLE("hash", u32, struct profile_target, targets, TARGETS);
NO_TEXT(records);
BPF_PERCPU_ARRAY(records, struct record, 1);

#ifdef CGROUP
BPF_CGROUP_ARRAY(cgroups, 1);

static inline bool in_cgroup(void)
{
	return cgroups.check_current_task(0) == 1;
}
#else
static inline bool in_cgroup(void)
{
	return true;
}
#endif

#include "parts/losses.bpf.c"
#include "parts/outside.bpf.c"

static struct task_struct *(*current_task)(void) = (void *)BPF_FUNC_get_current_task_btf;
static long (*task_registers)(struct task_struct *task) = (void *)BPF_FUNC_task_pt_regs;

struct registers {
	u64 pc, sp, bp, g;
};

#ifdef __aarch64__
#define IN_KERNEL(ctx) (probe_register(ctx, REGISTER_FLAGS) & 0xf)
#else
#define IN_KERNEL(ctx) (!(probe_register(ctx, __builtin_offsetof(struct pt_regs, cs)) & 3))
#endif

static inline u64 register_of(struct pt_regs *regs, const u32 at)
{
	return *(u64 *)((char *)regs + at);
}

/* Of the user's code, which the kernel may work for. */
static inline bool read_registers(struct pt_regs *ctx, struct registers *out)
{
	struct pt_regs regs = {};

	if (!IN_KERNEL(ctx)) {
		out->pc = probe_register(ctx, REGISTER_PC);
		out->sp = probe_register(ctx, REGISTER_SP);
		out->bp = probe_register(ctx, REGISTER_FP);
		out->g = probe_register(ctx, REGISTER_G);
		return false;
	}
	probe_read_kernel(&regs, sizeof(regs), (void *)task_registers(current_task()));
	out->pc = register_of(&regs, REGISTER_PC);
	out->sp = register_of(&regs, REGISTER_SP);
	out->bp = register_of(&regs, REGISTER_FP);
	out->g = register_of(&regs, REGISTER_G);
	return true;
}

static inline u64 find_g(const struct profile_target *target, const struct registers *regs)
{
	u64 base = 0, g = 0;

	if (!target->tls_g)
		return regs->g;
#ifdef FSBASE_OFF
	probe_read_kernel(&base, sizeof(base), (char *)bpf_get_current_task() + FSBASE_OFF);
	read_user(&g, sizeof(g), base + target->tls_g);
#endif
	return g;
}

/* --- a stack --- */

#define RECORD_WORDS PROFILE_WORDS
#include "parts/free_words.h"

/* What is above the stack pointer, or if some of that is not there, what is in the same page. */
static inline void read_top(struct record *rec, struct profile_part *part)
{
	u64 *to = free_words(rec), sp = part->sp;
	u32 left = -sp & 4095;

	if (!probe_read_user(to, PROFILE_TOP * 8, (void *)sp))
		part->top = PROFILE_TOP;
	else if (left < PROFILE_TOP * 8 && !(sp & 7) && !probe_read_user(to, left, (void *)sp))
		part->top = left / 8;
	rec->sample.count += part->top;
}

#ifdef LABELS
#include "parts/labels.h"
#else
static inline void read_labels(struct record *rec, const struct profile_target *target, u64 curg)
{
}
#endif

static inline void read_kernel_stack(struct pt_regs *ctx, struct record *rec)
{
#ifdef KERNEL_STACK
	long bytes = bpf_get_stack(ctx, free_words(rec), PROFILE_KERNEL * 8, 0);

	if (bytes <= 0)
		return;
	rec->sample.kernel = bytes / 8;
	rec->sample.count += rec->sample.kernel;
#endif
}

static inline void read_links(struct record *rec, struct profile_part *part)
{
	u64 bp = part->bp, before = 0, switches = 0;
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < PROFILE_LINKS && rec->sample.count <= PROFILE_WORDS - 2; i = loop_next(i)) {
		struct profile_link *link = (void *)free_words(rec);

		/* callers are at higher addresses; a shift, as the compiler makes a branch of a
		 * comparison, which the verifier would follow both ways, at each frame */
		switches += (bp - before - 1) >> 63;
		if (switches > SWITCHES || !bp || bp & 7 ||
		    probe_read_user(link, sizeof(*link), (void *)bp))
			break;
		rec->sample.count += 2;
		part->links++;
		before = bp;
		bp = link->caller;
	}
}

static inline void read_part(struct record *rec, struct profile_part *part)
{
	read_top(rec, part);
	read_links(rec, part);
}

/* --- whose stack it is --- */

/* Fills in what the thread does; and returns the goroutine that it does it for, 0: for none. */
static inline u64 read_runtime(const struct profile_target *target, u64 g,
			       struct profile_sample *sample)
{
	struct stack_ends stack = {};
	u64 m = 0, curg = 0, g0 = 0, gsignal = 0;

	if (read_user(&stack, sizeof(stack), g) || read_user(&m, sizeof(m), g + target->g_m) ||
	    read_user(&curg, sizeof(curg), m + target->m_curg) ||
	    read_user(&g0, sizeof(g0), m + target->m_g0) ||
	    read_user(&gsignal, sizeof(gsignal), m + target->m_gsignal))
		return 0;
	sample->stack_lo = stack.lo;
	sample->stack_hi = stack.hi;
	sample->runs = g == g0        ? PROFILE_RUNS_SYSTEM
		       : g == gsignal ? PROFILE_RUNS_SIGNAL
				      : PROFILE_RUNS_GOROUTINE;
	return curg;
}

/* Where it will go on, as the runtime has noted it: Go's struct gobuf begins with sp, pc. */
static inline void read_gobuf(const struct profile_target *target, u64 g, struct profile_part *part)
{
	read_user(&part->sp, sizeof(part->sp), g + target->g_sched_sp);
	read_user(&part->pc, sizeof(part->pc), g + target->g_sched_sp + 8);
	read_user(&part->bp, sizeof(part->bp), g + target->g_sched_bp);
}

static inline bool is_same(const struct profile_target *target, const struct process_key *process)
{
	return !target->key.start_ns ||
	       (target->key.start_ns == process->start_ns && target->key.exec == process->exec);
}

/* What is known of the process; NULL: nothing, so far. */
static inline struct profile_target *find_target(struct profile_sample *sample)
{
	struct profile_target *target = targets.lookup(&sample->pid);

	if (!target || !is_same(target, &sample->process))
		return NULL;
	sample->kind = target->kind;
	return target;
}

static inline void read_stacks(struct record *rec, const struct profile_target *target,
			       const struct registers *regs)
{
	struct profile_sample *sample = &rec->sample;
	struct profile_part *here = &sample->parts[PROFILE_HERE],
			    *other = &sample->parts[PROFILE_GOROUTINE];
	u64 curg = target ? read_runtime(target, find_g(target, regs), sample) : 0;

	if (target)
		read_labels(rec, target, curg);
	here->pc = regs->pc;
	here->sp = regs->sp;
	here->bp = regs->bp;
	read_part(rec, here);
	if (!curg || sample->runs != PROFILE_RUNS_SYSTEM)
		return;
	read_gobuf(target, curg, other);
	read_part(rec, other);
}

/* False: there is no room. */
static inline bool send(struct record *rec, u64 flags)
{
	u32 n = rec->sample.count;

	asm volatile("" : "+r"(n)); /* as above */
	n &= 2 * PROFILE_WORDS - 1;
	return n <= PROFILE_WORDS + PROFILE_TOP &&
	       !events.ringbuf_output(rec, sizeof(rec->sample) + n * 8, flags);
}

int on_sample(struct pt_regs *ctx)
{
	struct registers regs;
	u32 zero = 0;
	struct record *rec = records.lookup(&zero);
	u64 ids = probe_ids();

	if (!(u32)bpf_get_current_pid_tgid() || !rec || !in_cgroup() || !probe_wanted())
		return 0;
	__builtin_memset(&rec->sample, 0, sizeof(rec->sample));
	rec->sample.pid = ids >> 32;
	rec->sample.tid = ids;
	process_key_read(&rec->sample.process);
	struct profile_target *target = find_target(&rec->sample);

	if (rec->sample.kind == PROFILE_OTHER)
		return 0;
	rec->sample.time_ns = bpf_ktime_get_ns();
	rec->sample.in_kernel = read_registers(ctx, &regs);
	if (rec->sample.in_kernel)
		read_kernel_stack(ctx, rec);
	read_stacks(rec, target, &regs);
	/* somebody waits to be looked at before it ends */
	if (!send(rec, target ? 0 : BPF_RB_FORCE_WAKEUP))
		count_loss(PROFILE_LOSS_RING);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* goprofile's kernel side, run on this side: what is sent of a stack at a tick. */
#include "fakegoroutine.h"
#include "steps.h"
#include "unit.h"

#define RING_PAGES 1
#define TARGETS 4
#define KERNEL_STACK

static struct task_struct *fake_current_task(void);
static long fake_task_registers(struct task_struct *task);
static long bpf_get_stack(struct pt_regs *ctx, void *to, u32 size, u64 flags);

#define BPF_FUNC_get_current_task_btf fake_current_task
#define BPF_FUNC_task_pt_regs fake_task_registers

/* it has no cookies */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "bpf-src/goprofile.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { PID = FAKEGOROUTINE_PID, M_G0 = 24, M_GSIGNAL = 32, USER_CODE = 3 };

static struct pt_regs user_regs; /* where user code has called the kernel */
static u32 kernel_words;

static struct task_struct *fake_current_task(void)
{
	return fakekernel.task;
}

static long fake_task_registers(struct task_struct *task)
{
	return (void *)task == fakekernel.task ? (long)&user_regs : 0;
}

static long bpf_get_stack(struct pt_regs *ctx, void *to, u32 size, u64 flags)
{
	(void)ctx;
	(void)flags;
	for (u32 i = 0; i < kernel_words; i++)
		((u64 *)to)[i] = 0xffff0000 + i;
	return size < kernel_words * 8 ? -1 : (long)kernel_words * 8;
}

static int begin(void **state)
{
	(void)state;
	fakegoroutine_begin(3);
	memset(&steps, 0, sizeof(steps));
	memset(&user_regs, 0, sizeof(user_regs));
	kernel_words = 0;
	for (unsigned n = 0; n <= 3; n++) {
		fakemem_put(fakegoroutine_m(n) + M_G0, fakegoroutine_g(0));
		fakemem_put(fakegoroutine_m(n) + M_GSIGNAL, fakegoroutine_g(3));
	}
	/* on m 2, its g0 works for goroutine 2 */
	fakemem_put(fakegoroutine_g(0) + G_M, fakegoroutine_m(2));
	return 0;
}

static void know(enum profile_kind kind, u64 start_ns, u32 exec)
{
	const struct profile_target target = {.key = {.start_ns = start_ns, .exec = exec},
					      .kind = kind,
					      .g_m = G_M,
					      .g_sched_sp = G_SCHED_SP,
					      .g_sched_bp = G_SCHED_BP,
					      .m_curg = M_CURG,
					      .m_g0 = M_G0,
					      .m_gsignal = M_GSIGNAL};
	u32 pid = PID;

	targets.update(&pid, &target);
}

/* `links` frames above the stack pointer, 0x100 bytes each; the last leads to `end` */
static void put_frames(unsigned n, unsigned links, u64 end)
{
	u64 bp = regs.bp = regs.sp + 0x40;

	for (unsigned i = 0; i < links; i++, bp += 0x20) {
		fakemem_put(bp, i + 1 < links ? bp + 0x20 : end);
		fakemem_put(bp + 8, 0x1000 * n + i);
	}
}

static void say_part(const char *what, const struct profile_part *part)
{
	steps_are("%s %llx %llx %llx: %u words, %u links", what, part->pc, part->sp, part->bp,
		  part->top, part->links);
}

static void tick(const char *what)
{
	size_t before = fakekernel.event_count;

	assert_int_equal(on_sample(&regs), 0);
	steps_are("%s", what);
	if (fakekernel.event_count == before) {
		steps_are("nothing, lost %llu", FAKEGOROUTINE_COUNT(losses, PROFILE_LOSS_RING));
		return;
	}
	const struct fakeevent *event = &fakekernel.events[before];
	const struct record *rec = (const void *)event->data;
	const struct profile_sample *s = &rec->sample;

	steps_are("%zu bytes, flags %llu, at %llu, process %llu/%u, %u/%u, kind %u, runs %u%s",
		  event->len - sizeof(*s), event->flags, s->time_ns, s->process.start_ns,
		  s->process.exec, s->pid, s->tid, s->kind, s->runs,
		  s->in_kernel ? ", in kernel" : "");
	steps_are("kernel %u, count %u, %llx-%llx, first %llx, last %llx", s->kernel, s->count,
		  s->stack_lo, s->stack_hi, rec->words[0], s->count ? rec->words[s->count - 1] : 0);
	say_part("here", &s->parts[PROFILE_HERE]);
	if (s->parts[PROFILE_GOROUTINE].pc)
		say_part("goroutine", &s->parts[PROFILE_GOROUTINE]);
}

static void run(unsigned n, u64 depth)
{
	fakegoroutine_runs(n, depth);
	regs.ip = 0x4000 + n;
	regs.cs = USER_CODE;
	regs.bp = 0;
}

static void test_processes(void **state)
{
	(void)state;
	run(1, 0x800);
	tick("not known");
	know(PROFILE_GO, 0, 0);
	tick("any start");
	know(PROFILE_GO, 5000, 3);
	tick("known");
	know(PROFILE_GO, 5001, 3);
	tick("another's start");
	know(PROFILE_GO, 5000, 4);
	tick("another program");
	know(PROFILE_OTHER, 5000, 3);
	tick("not wanted");
	fakekernel.ids = 0;
	tick("idle");
	steps_expect("not known; 1024 bytes, flags 2, at 1000, process 5000/3, 77/78, kind 0, runs "
		     "0; kernel 0, count 128, 0-0, first 0, last 0; here 4001 31800 0: 128 words, "
		     "0 links; any start; 1024 bytes, flags 0, at 1010, process 5000/3, 77/78, "
		     "kind 1, runs 1; kernel 0, count 128, 31000-32000, first 0, last 0; here 4001 "
		     "31800 0: 128 words, 0 links; known; 1024 bytes, flags 0, at 1020, process "
		     "5000/3, 77/78, kind 1, runs 1; kernel 0, count 128, 31000-32000, first 0, "
		     "last 0; here 4001 31800 0: 128 words, 0 links; another's start; 1024 bytes, "
		     "flags 2, at 1030, process 5000/3, 77/78, kind 0, runs 0; kernel 0, count "
		     "128, 0-0, first 0, last 0; here 4001 31800 0: 128 words, 0 links; another "
		     "program; 1024 bytes, flags 2, at 1040, process 5000/3, 77/78, kind 0, runs "
		     "0; kernel 0, count 128, 0-0, first 0, last 0; here 4001 31800 0: 128 words, "
		     "0 links; not wanted; nothing, lost 0; idle; nothing, lost 0; ");
}

static void test_stacks(void **state)
{
	(void)state;
	know(PROFILE_GO, 5000, 3);
	run(1, 0x800);
	put_frames(1, 3, 0);
	tick("three frames");
	put_frames(1, 3, regs.sp + 4);
	tick("the last one is odd");
	put_frames(1, 3, regs.sp + 0x40);
	tick("in a circle");
	put_frames(1, 3, 8);
	tick("to nowhere");
	run(3, 0x800);
	tick("a signal's");
	run(1, 0x10);
	tick("near the end");
	regs.sp = FAKEMEM_BASE + FAKEMEM_MAX - 0x100;
	tick("what is in the page");
	regs.sp += 4;
	tick("odd");
	regs.r14 = 8;
	tick("no g");
	steps_expect(
		"three frames; 1072 bytes, flags 0, at 1000, process 5000/3, 77/78, kind 1, runs "
		"1; kernel 0, count 134, 31000-32000, first 0, last 1002; here 4001 31800 31840: "
		"128 words, 3 links; the last one is odd; 1072 bytes, flags 0, at 1010, process "
		"5000/3, 77/78, kind 1, runs 1; kernel 0, count 134, 31000-32000, first 0, last "
		"1002; here 4001 31800 31840: 128 words, 3 links; in a circle; 1264 bytes, flags "
		"0, at 1020, process 5000/3, 77/78, kind 1, runs 1; kernel 0, count 158, "
		"31000-32000, first 0, last 1002; here 4001 31800 31840: 128 words, 15 links; to "
		"nowhere; 1072 bytes, flags 0, at 1030, process 5000/3, 77/78, kind 1, runs 1; "
		"kernel 0, count 134, 31000-32000, first 0, last 1002; here 4001 31800 31840: 128 "
		"words, 3 links; a signal's; 1024 bytes, flags 0, at 1040, process 5000/3, 77/78, "
		"kind 1, runs 3; kernel 0, count 128, 33000-34000, first 0, last 0; here 4003 "
		"33800 0: 128 words, 0 links; near the end; 1024 bytes, flags 0, at 1050, process "
		"5000/3, 77/78, kind 1, runs 1; kernel 0, count 128, 31000-32000, first 0, last 0; "
		"here 4001 31ff0 0: 128 words, 0 links; what is in the page; 256 bytes, flags 0, "
		"at 1060, process 5000/3, 77/78, kind 1, runs 1; kernel 0, count 32, 31000-32000, "
		"first 0, last 0; here 4001 10ff00 0: 32 words, 0 links; odd; 0 bytes, flags 0, at "
		"1070, process 5000/3, 77/78, kind 1, runs 1; kernel 0, count 0, 31000-32000, "
		"first 0, last 0; here 4001 10ff04 0: 0 words, 0 links; no g; 0 bytes, flags 0, at "
		"1080, process 5000/3, 77/78, kind 1, runs 0; kernel 0, count 0, 0-0, first 0, "
		"last 0; here 4001 10ff04 0: 0 words, 0 links; ");
}

static void test_system_stack(void **state)
{
	u64 g = fakegoroutine_g(2);

	(void)state;
	know(PROFILE_GO, 5000, 3);
	fakemem_put(g + G_SCHED_SP, fakegoroutine_hi(2) - 0x600);
	fakemem_put(g + G_SCHED_SP + 8, 0x7777);
	fakemem_put(g + G_SCHED_BP, fakegoroutine_hi(2) - 0x500);
	fakemem_put(fakegoroutine_hi(2) - 0x500 + 8, 0x8888);
	run(0, 0x800);
	tick("for a goroutine");
	fakemem_put(fakegoroutine_m(2) + M_CURG, 0);
	tick("for none");
	steps_expect(
		"for a goroutine; 2064 bytes, flags 0, at 1000, process 5000/3, 77/78, kind 1, "
		"runs 2; kernel 0, count 258, 30000-31000, first 0, last 8888; here 4000 30800 0: "
		"128 words, 0 links; goroutine 7777 32a00 32b00: 128 words, 1 links; for none; "
		"1024 bytes, flags 0, at 1010, process 5000/3, 77/78, kind 1, runs 2; kernel 0, "
		"count 128, 30000-31000, first 0, last 0; here 4000 30800 0: 128 words, 0 links; ");
}

static void test_in_kernel(void **state)
{
	(void)state;
	know(PROFILE_GO, 5000, 3);
	run(1, 0x800);
	user_regs = regs;
	user_regs.ip = 0x4444;
	regs.cs = 0;
	regs.ip = 0xffff1234;
	kernel_words = 3;
	tick("a call of the kernel");
	kernel_words = 128;
	tick("too deep");
	kernel_words = 0;
	tick("nothing there");
	fakekernel.ring_room = 0;
	tick("no room");
	steps_expect("a call of the kernel; 1048 bytes, flags 0, at 1000, process 5000/3, 77/78, "
		     "kind 1, runs 1, in kernel; kernel 3, count 131, 31000-32000, first ffff0000, "
		     "last 0; here 4444 31800 0: 128 words, 0 links; too deep; 1024 bytes, flags "
		     "0, at 1010, process 5000/3, 77/78, kind 1, runs 1, in kernel; kernel 0, "
		     "count 128, 31000-32000, first 0, last 0; here 4444 31800 0: 128 words, 0 "
		     "links; nothing there; 1024 bytes, flags 0, at 1020, process 5000/3, 77/78, "
		     "kind 1, runs 1, in kernel; kernel 0, count 128, 31000-32000, first 0, last "
		     "0; here 4444 31800 0: 128 words, 0 links; no room; nothing, lost 1; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_processes, begin),
		cmocka_unit_test_setup(test_stacks, begin),
		cmocka_unit_test_setup(test_system_stack, begin),
		cmocka_unit_test_setup(test_in_kernel, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What every program of ours starts with: which probe is this, and is this process traced?
 *
 *   -DTGID=n             trace this process only
 *   -DCHILD_TGID=n       ... and its descendants: see descendants.bpf.c
 *   -DPIDNS_DEV, _INO    process IDs are those of this PID namespace, not of the machine's
 *   -DTASK_PID=n, -DPIDNS_LEADER=n, -DPID_LEVEL=n, -DPID_NUMBERS=n, -DUPID_SIZE=n, -DUPID_NR=n,
 *   -DUPID_NS=n, -DNS_INUM=n   byte offsets in task_struct, pid, upid and pid_namespace, and the
 *                        size of upid, for processes in namespaces below it
 *   -DTASK_SIGNAL=n, -DSIGNAL_LIVE=n   byte offsets in struct task_struct and signal_struct; not
 *                        defined: the ends of processes are not followed
 *   -DCPU=n              this CPU only
 *   -DSLEEPABLE          the program may wait for the process's memory
 *   -DEMULATED_RETS      a RET may have been carried out before this program runs: see emulator.h
 *   -DBY_STUB            no cookies (before Linux 5.15): map `cookies` has the hit's, by thread */
#ifndef PROBE_H
#define PROBE_H

#include <uapi/linux/ptrace.h>
#include "parts/assembly.h"
#include "shared/cookie.h"

#define E2BIG 7 /* the error of a full map; from the kernel's errno-base.h */

/* bpf_probe_read_kernel and _user under names of our own: if libbcc meets the usual names, it reads
 * all of /proc/kallsyms to see if the kernel has them, which takes as long as compiling. */
static long (*probe_read_kernel)(void *to, u32 size,
				 const void *from) = (void *)BPF_FUNC_probe_read_kernel;
static long (*probe_read_user)(void *to, u32 size,
			       const void *from) = (void *)BPF_FUNC_probe_read_user;
#ifdef SLEEPABLE
static long (*copy_from_user)(void *to, u32 size,
			      const void *from) = (void *)BPF_FUNC_copy_from_user;
#endif

/* Reads memory without which nothing can be said of a hit. Even pages in use are absent for a
 * moment while the kernel moves them or merges them into a huge page: a program that may wait waits
 * for them, as the process itself would. It has one call for that, not a quick one before: each
 * way on from here doubles what the verifier walks, most of all in loops. 0, or an error, and *to
 * is all zeroes. */
static inline long read_user(void *to, u32 size, u64 from)
{
#ifdef SLEEPABLE
	return copy_from_user(to, size, (void *)from);
#else
	return probe_read_user(to, size, (void *)from);
#endif
}

enum {
#ifdef __aarch64__
	REGISTER_G = 8 * 28,
	REGISTER_FP = 8 * 29,
	REGISTER_LR = 8 * 30,
	REGISTER_SP = __builtin_offsetof(struct pt_regs, sp),
	REGISTER_PC = __builtin_offsetof(struct pt_regs, pc),
	REGISTER_FLAGS = __builtin_offsetof(struct pt_regs, pstate),
#else
	REGISTER_AX = __builtin_offsetof(struct pt_regs, ax),
	REGISTER_BX = __builtin_offsetof(struct pt_regs, bx),
	REGISTER_CX = __builtin_offsetof(struct pt_regs, cx),
	REGISTER_DX = __builtin_offsetof(struct pt_regs, dx),
	REGISTER_DI = __builtin_offsetof(struct pt_regs, di),
	REGISTER_SI = __builtin_offsetof(struct pt_regs, si),
	REGISTER_R8 = __builtin_offsetof(struct pt_regs, r8),
	REGISTER_R9 = __builtin_offsetof(struct pt_regs, r9),
	REGISTER_R10 = __builtin_offsetof(struct pt_regs, r10),
	REGISTER_R11 = __builtin_offsetof(struct pt_regs, r11),
	REGISTER_R12 = __builtin_offsetof(struct pt_regs, r12),
	REGISTER_R13 = __builtin_offsetof(struct pt_regs, r13),
	REGISTER_R15 = __builtin_offsetof(struct pt_regs, r15),
	REGISTER_G = __builtin_offsetof(struct pt_regs, r14),
	REGISTER_FP = __builtin_offsetof(struct pt_regs, bp),
	REGISTER_SP = __builtin_offsetof(struct pt_regs, sp),
	REGISTER_PC = __builtin_offsetof(struct pt_regs, ip),
	REGISTER_FLAGS = __builtin_offsetof(struct pt_regs, flags),
#endif
};

#ifdef TASK_SIGNAL
/* At sched_process_exit: is the thread that ends the last one of its process? */
static inline bool probe_is_last_thread(void)
{
	char *signal = 0;
	u32 live = 1;

	probe_read_kernel(&signal, sizeof(signal), (char *)bpf_get_current_task() + TASK_SIGNAL);
	probe_read_kernel(&live, sizeof(live), signal + SIGNAL_LIVE);
	return !live;
}
#endif

static inline u64 probe_cookie(struct pt_regs *ctx); /* of find_cookie.bpf.c */

/* Is the site a RET that has been carried out already? Then the instruction pointer is the return
 * address, and the stack pointer is above it. 1 or 0, without a branch, which the verifier would
 * follow both ways. */
static inline u64 probe_returned(struct pt_regs *ctx, u64 cookie)
{
#ifdef EMULATED_RETS
	u64 differs = (probe_register(ctx, REGISTER_PC) ^ cookie_low(cookie)) & (COOKIE_PAGE - 1);

	return forget_value(-differs >> 63 & cookie_is_ret(cookie), cookie);
#else
	return 0;
#endif
}

/* the stack pointer at the site */
static inline u64 probe_sp(struct pt_regs *ctx)
{
#ifdef EMULATED_RETS
	return probe_register(ctx, REGISTER_SP) + 8 * -probe_returned(ctx, probe_cookie(ctx));
#else
	return probe_register(ctx, REGISTER_SP);
#endif
}

#ifdef TASK_PID
#define PIDNS_LEVELS 33 /* the kernel nests PID namespaces no deeper */

/* The ID, in the tool's PID namespace, of a task in a namespace nested in that, which the helper
 * does not tell; 0: the task is in neither. */
static inline u32 probe_nested_id(u64 task)
{
	u64 pid = 0, ns = 0, own;
	u32 level = 0, inum = 0, id = 0, i;

	probe_read_kernel(&pid, sizeof(pid), (void *)(task + TASK_PID));
	probe_read_kernel(&level, sizeof(level), (void *)(pid + PID_LEVEL));
#pragma clang loop unroll(disable)
	for (i = 0; i < PIDNS_LEVELS && i <= level; i = loop_next(i)) {
		own = pid + PID_NUMBERS + i * UPID_SIZE;
		probe_read_kernel(&ns, sizeof(ns), (void *)(own + UPID_NS));
		probe_read_kernel(&inum, sizeof(inum), (void *)(ns + NS_INUM));
		if (inum == PIDNS_INO)
			probe_read_kernel(&id, sizeof(id), (void *)(own + UPID_NR));
	}
	return id;
}

static inline u64 probe_nested_ids(void)
{
	u64 task = bpf_get_current_task(), leader = 0;

	probe_read_kernel(&leader, sizeof(leader), (void *)(task + PIDNS_LEADER));
	return (u64)probe_nested_id(leader) << 32 | probe_nested_id(task);
}
#else
static inline u64 probe_nested_ids(void)
{
	return 0;
}
#endif

/* Process and thread ID, packed as bpf_get_current_pid_tgid() returns them, in the tool's PID
 * namespace. */
static inline u64 probe_ids(void)
{
#ifdef PIDNS_INO
	struct bpf_pidns_info ns = {};

	if (bpf_get_ns_current_pid_tgid(PIDNS_DEV, PIDNS_INO, &ns, sizeof(ns)))
		return probe_nested_ids();
	return (u64)ns.tgid << 32 | ns.pid;
#else
	return bpf_get_current_pid_tgid();
#endif
}

#ifdef CHILD_TGID
static inline bool probe_is_descendant(void);
#else
static inline bool probe_is_descendant(void)
{
	return false;
}
#endif

#if defined(PIDNS_INO) && !defined(TGID)
static inline void probe_note_outside(void); /* of outside.bpf.c */
#endif

static inline bool probe_wanted_process(void)
{
#ifdef TGID
	return probe_ids() >> 32 == TGID || probe_is_descendant();
#elif defined(PIDNS_INO)
	if (probe_ids() >> 32)
		return true;
	probe_note_outside();
	return false;
#else
	return true;
#endif
}

static inline bool probe_wanted(void)
{
#ifdef CPU
	if (bpf_get_smp_processor_id() != CPU)
		return false;
#endif
	return probe_wanted_process();
}

/* At the stack check's branch: does it fall through to the function's body? It jumps away, to grow
 * the stack and start the function anew, if the stack pointer is lower or the same: with the carry
 * or the zero flag set on amd64; with the carry flag clear or the zero flag set on arm64. */
static inline bool probe_check_passed(struct pt_regs *ctx)
{
#ifdef __aarch64__
	return (probe_register(ctx, REGISTER_FLAGS) >> 29 & 3) == 1;
#else
	return !(probe_register(ctx, REGISTER_FLAGS) & 0x41);
#endif
}

static inline bool probe_is_call(struct pt_regs *ctx, u64 cookie)
{
	u32 kind = cookie_kind(cookie);

	return kind == COOKIE_CALL || (kind == COOKIE_CALL_IF_CHECKED && probe_check_passed(ctx));
}

#endif

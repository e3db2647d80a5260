/* SPDX-License-Identifier: Apache-2.0 */
/* Where fakegoroutine.h's goroutines and tasks have what the kernel side reads: the names that a
 * tool would define. A test defines before what it wants otherwise. */
#ifndef FAKELAYOUT_H
#define FAKELAYOUT_H

#include "fakekernel.h"

/* byte offsets in a g */
#define GOID_OFF 16
#define G_M 24
#define G_SCHED_SP 32 /* and pc */
#define G_SCHED_BP 104
#define G_STATUS 48
#define G_WAITREASON 52
#define G_GOPC 56 /* and ancestors, startpc */
#define G_PARENT_GOID 80
#define G_WAITING 88
#define G_PARAM 96
/* ... in an m */
#define M_CURG 8
#define M_P 16
/* ... in the kernel's struct task_struct and signal_struct */
#define FSBASE_OFF offsetof(struct fakegoroutine_task, fsbase)
#define TASK_LEADER offsetof(struct fakegoroutine_task, leader)
#define TASK_START offsetof(struct fakegoroutine_task, start_ns)
#define TASK_EXEC offsetof(struct fakegoroutine_task, exec)
#define TASK_SIGNAL offsetof(struct fakegoroutine_task, signal)
#define TASK_TID offsetof(struct fakegoroutine_task, tid)
#define TASK_TGID offsetof(struct fakegoroutine_task, tgid)
#define SIGNAL_LIVE offsetof(struct fakegoroutine_signal, live)
#define SIGNAL_FLAGS offsetof(struct fakegoroutine_signal, flags)
#ifndef NO_G_REGISTER
#define G_REGISTER 1
#endif
#ifndef TLS_G
#define TLS_G 0
#endif
#ifndef ARGS_ON_STACK
#define ARGS_IN_REGISTERS 1
#endif

struct fakegoroutine_signal {
	u32 none, live, flags;
};

struct fakegoroutine_task {
	u64 none, fsbase, start_ns;
	struct fakegoroutine_task *leader;
	struct fakegoroutine_signal *signal;
	u32 exec, tid, tgid;
};

#endif

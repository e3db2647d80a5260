/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel in place of the machine's, in which whole programs of bpf-src/ run on this side: a test
 * defines the names that a tool defines for them, includes this, then the program, and calls it.
 * The traced program's memory is that of fakemem.h; what the program's kernel side reads of the
 * kernel is memory of the test. A program that includes parts/hit.h includes "bpf-src/parts/hit.h"
 * first.
 *
 * The places of a g are those below; more of them where a test puts them. */
#ifndef FAKEKERNEL_H
#define FAKEKERNEL_H

#include <linux/bpf.h>
#include <string.h>

#include "fakemem.h"

/* as in the kernel's way of compiling; clang has more pragmas */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define asm __asm__

typedef unsigned long long u64;
typedef long long s64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

enum { FAKEKERNEL_EVENTS = 256 };

extern struct fakekernel {
	u64 ns, ns_step; /* the clock, and by how much it goes on when it is looked at */
	u64 ids;         /* process and thread, in the initial PID namespace */
	u64 cookie, random;
	u64 ns_ids; /* ... in the tool's; 0: it does not show the process */
	void *task;
	u32 cpu;
	char comm[16];
	const char *refuses;   /* the map that takes nothing: the kernel has no memory */
	unsigned pages_absent; /* so many reads of the program's memory fail */
	unsigned ring_room;    /* so many events more */
	struct fakeevent {
		size_t len;
		u64 flags;
		_Alignas(8) u8 data[1024 * 40];
	} events[FAKEKERNEL_EVENTS];
	size_t event_count;
} fakekernel;

void fakekernel_begin(void); /* all maps are empty, and the program's memory is 0 */
long fakekernel_read(void *to, u32 size, const void *from);
long fakekernel_read_user(void *to, u32 size, const void *from);
#define BPF_FUNC_probe_read_kernel fakekernel_read
#define BPF_FUNC_probe_read_user fakekernel_read_user
#define BPF_FUNC_copy_from_user fakekernel_read_user

struct pt_regs;

u64 bpf_ktime_get_ns(void);
u64 bpf_get_current_pid_tgid(void);
long bpf_get_ns_current_pid_tgid(u64 dev, u64 ino, struct bpf_pidns_info *ns, u32 size);
u64 bpf_get_current_task(void);
u32 bpf_get_smp_processor_id(void);
u32 bpf_get_prandom_u32(void);
long bpf_get_current_comm(char *to, u32 size);
u64 bpf_get_attach_cookie(struct pt_regs *ctx);

#include "fakemap.h"

#endif

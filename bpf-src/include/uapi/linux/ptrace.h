/* SPDX-License-Identifier: Apache-2.0 */
/* The registers at a probe, in the order of the kernel's struct pt_regs (arch/x86, arch/arm64). */
#ifndef _UAPI_LINUX_PTRACE_H
#define _UAPI_LINUX_PTRACE_H

#if defined(__x86_64__)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
#elif defined(__aarch64__)
struct pt_regs {
	unsigned long regs[31], sp, pc, pstate;
};
#endif

#endif

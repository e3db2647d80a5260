/* SPDX-License-Identifier: Apache-2.0 */
/* What Go's two compilers do unlike, fact by fact: cmd/compile (gc), and GCC's gccgo. Who needs a
 * fact asks for that one, not for the compiler. */
#ifndef TOOLCHAIN_H
#define TOOLCHAIN_H

#include <stdbool.h>

struct toolchain {
	/* The runtime and the standard library are libgo's, not Go's own: what is known of Go's
	 * functions by name and release does not hold. They may lie in the library whose name
	 * begins like this. NULL: they are Go's, and linked in. */
	const char *libgo;
	bool c_abi; /* calls are those of C on that machine: neither ABIInternal nor ABI0 */
	/* Stacks grow by segments that are not moved (-fsplit-stack), not by copying: functions are
	 * entered and left through code of libgcc's. */
	bool split_stacks;
	bool mangled;   /* functions are known by ELF symbols, which hide what Go calls them */
	bool gcc_dwarf; /* debug information is written by GCC */
	const char *keep_inlined; /* the option that leaves a function its own code, for messages */
};

extern const struct toolchain toolchain_gc, toolchain_gccgo;

#endif

// SPDX-License-Identifier: Apache-2.0
#include "program/toolchain.h"

#include <stddef.h>

const struct toolchain toolchain_gc = {
	.keep_inlined = "go build -gcflags=-l",
};

const struct toolchain toolchain_gccgo = {
	.libgo = "libgo.so.",
	.c_abi = true,
	.split_stacks = true,
	.mangled = true,
	.gcc_dwarf = true,
	.keep_inlined = "gccgo -fno-inline",
};

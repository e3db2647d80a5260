// SPDX-License-Identifier: Apache-2.0
#include "machine/calls.h"

#include "golang/release.h"

static const struct calls machines[] = {
	[ARCH_AMD64] = {.link = false,
			.args_from = RELEASE_REGISTERS_AMD64,
			.frames_from = CALLS_ALL,
			.g_from = RELEASE_REGISTERS_AMD64},
	[ARCH_ARM64] = {.link = true,
			.injected = 16, /* to which the stack pointer is kept aligned */
			.args_from = RELEASE_REGISTERS_ARM64,
			.frames_from = RELEASE_FRAMES_MOVE_ARM64,
			.g_from = CALLS_ALL},
};

const struct calls *calls_of(enum arch arch)
{
	return &machines[arch];
}

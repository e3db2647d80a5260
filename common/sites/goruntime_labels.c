// SPDX-License-Identifier: Apache-2.0
#include "program/program.h"
#include "program/toolchain.h"
#include "sites/goruntime.h"

/* gopc, ancestors, startpc, racectx, waiting, cgoCtxt, labels: Go's src/runtime/runtime2.go */
uint32_t goruntime_labels(const struct program *prog, const struct goruntime *rt)
{
	return rt->g_gopc && prog->release_told && !prog->toolchain->libgo ? rt->g_gopc + 64 : 0;
}

// SPDX-License-Identifier: Apache-2.0
/* What every program needs: which probe a hit is of, what hits cost, and which processes are traced
 * after an execve or a fork. */
#include "parts/probe.h"

#include "parts/cost.bpf.c"
#include "parts/find_cookie.bpf.c"
#include "parts/follow_exec.bpf.c"
#include "parts/outside.bpf.c"
#include "parts/descendants.bpf.c"

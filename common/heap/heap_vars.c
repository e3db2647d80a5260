// SPDX-License-Identifier: Apache-2.0
#include "heap/heap_vars_internal.h"

#include "base/errmsg.h"
#include "goroutines/runtime_refs.h"
#include "program/functab.h"
#include "program/program.h"

/* mProf_FlushLocked walks the list: the only word that it loads. The number of the cycle is the
 * only one of 4 bytes; from Go 1.19 on it is mProf_Flush that loads it. */
static bool find_buckets(const struct program *prog, struct heap_vars *out)
{
	struct runtime_refs refs = {0};

	if (!runtime_refs_add(prog, "runtime.mProf_Flush", &refs))
		return false;
	runtime_refs_add(prog, "runtime.mProf_FlushLocked", &refs);
	return runtime_refs_only(&refs, ACCESS_LOAD, 8, &out->buckets) &&
	       runtime_refs_only(&refs, ACCESS_LOAD, 4, &out->cycle);
}

/* What profilealloc loads (nextSample is inlined there) and the reader of GODEBUG sets, for
 * memprofilerate=N: parsegodebug from Go 1.20 on. */
static bool find_rate(const struct program *prog, struct heap_vars *out)
{
	struct runtime_refs loads = {0}, sets = {0};

	runtime_refs_add(prog, "runtime.profilealloc", &loads);
	if (!runtime_refs_add(prog, "runtime.parsegodebug", &sets))
		runtime_refs_add(prog, "runtime.parsedebugvars", &sets);
	for (size_t i = 0; i < loads.count; i++) {
		const struct coderef *ref = &loads.all[i];

		if (ref->how != ACCESS_LOAD || ref->bytes != 8 ||
		    !runtime_refs_has(&sets, ref->addr))
			continue;
		out->rate = ref->addr;
		return true;
	}
	return false;
}

/* The end of the mark phase notes all of these. */
static uint64_t find_last_gc(const struct program *prog)
{
	struct runtime_refs refs = {0};

	runtime_refs_add(prog, "runtime.gcMarkTermination", &refs);
	runtime_refs_add(prog, "runtime.gcMarkTermination.func1", &refs);
	for (size_t i = 0; i < refs.count; i++) {
		uint64_t addr = refs.all[i].addr;

		if (runtime_refs_has(&refs, addr + HEAP_PAUSE_TOTAL) &&
		    runtime_refs_has(&refs, addr + HEAP_PAUSE_NS) &&
		    runtime_refs_has(&refs, addr + HEAP_PAUSE_END) &&
		    runtime_refs_has(&refs, addr + HEAP_NUMGC))
			return addr;
	}
	return 0;
}

/* Where the linker finds none of these, it has the runtime begin with a rate of 0. */
static bool uses_profile(const struct program *prog)
{
	struct functab_func fn;

	return functab_named(prog->tab, "runtime.MemProfile", &fn) ||
	       functab_named(prog->tab, "runtime.memProfileInternal", &fn);
}

int heap_vars_find(const struct program *prog, struct heap_vars *out, struct errmsg *err)
{
	*out = (struct heap_vars){.used = uses_profile(prog)};
	if (!find_buckets(prog, out))
		return errmsg_set(err,
				  "%s: the profile of allocations was not found in the code of "
				  "runtime.mProf_Flush",
				  prog->path);
	if (!find_rate(prog, out))
		return errmsg_set(err,
				  "%s: the sampling rate was not found in the code of "
				  "runtime.profilealloc",
				  prog->path);
	out->last_gc = find_last_gc(prog);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "goroutines/goroutine_frames.h"

#include <string.h>

#include "frames/frames.h"
#include "golang/funcname.h"
#include "goroutines/goroutine.h"
#include "program/functab.h"

bool goroutine_creator(const struct goroutine *g, const struct frames *frames, struct frame *out)
{
	/* the first goroutine is created by no go statement */
	return g->created_by && g->goid != 1 && frames_go_statement(frames, g->created_by, out);
}

static bool any_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* Go's src/runtime/traceback.go, isSystemGoroutine() */
bool goroutine_is_system(const struct goroutine *g, const struct frames *frames,
			 const uint64_t *addrs, size_t count)
{
	static const char *const callers[] = {"runtime.runfinq", "runtime.runFinalizers",
					      "runtime.runCleanups", NULL};
	struct functab_func fn;

	if (!g->start || !functab_find(frames->tab, g->start - frames->bias, &fn) ||
	    !funcname_begins_system(fn.name))
		return false;
	/* beside runtime.runFinalizers itself, which is shown */
	return !any_of(fn.name, callers) ||
	       frames_shown(frames, addrs, count) <=
		       (size_t)(strcmp(fn.name, "runtime.runfinq") != 0);
}

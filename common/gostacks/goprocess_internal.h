/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room gostacks uses of goprocess. */
#ifndef GOPROCESS_INTERNAL_H
#define GOPROCESS_INTERNAL_H

#include "gostacks/goprocess.h"
#include "machine/arch.h"

/* `prog`, what the process executes, becomes its own. NULL and *err: one of gccgo or for another
 * machine, not permitted, ended... `proc` outlives it; the caller closes. */
struct goprocess *goprocess_open(const struct process *proc, struct program *prog,
				 struct errmsg *err);
/* The same of a core file, which becomes its own: one of another program is refused. */
struct goprocess *goprocess_open_core(struct corefile *file, struct program *prog,
				      struct errmsg *err);
/* Does the core file tell that it is one of this program? */
bool goprocess_core_is_told(const struct goprocess *gp);
void goprocess_close(struct goprocess *gp); /* NULL is all right */
/* Are labels of goroutines read of its release? */
bool goprocess_has_labels(const struct goprocess *gp);
/* Do its own tracebacks show them? */
bool goprocess_shows_labels(const struct goprocess *gp);
/* of struct wait_context; ctx: the process */
int goprocess_core_call(void *ctx, pid_t tid);
/* Of a snapshot with waits; NULL: it has none, or this release's are not known. Caller frees. */
struct wait_objects *goprocess_waits(struct goprocess *gp, struct snapshot *snap);
/* The name of the type with its descriptor at `addr` in memory; NULL: not known. ctx: the process.
 */
const char *goprocess_type(void *ctx, uint64_t addr);

enum arch goprocess_arch(const struct goprocess *gp);

#endif

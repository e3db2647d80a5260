/* SPDX-License-Identifier: Apache-2.0 */
/* From a selection's sites to the probes of one program, in the order in which they must be
 * attached: ends of calls and the runtime's hooks first, then entries, so that no call is seen to
 * begin whose end would be missed. */
#ifndef PROBES_INTERNAL_H
#define PROBES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/attach.h"

struct goruntime;
struct program;
struct selection;
struct tracer_plan;

struct probes_want {
	const struct selection *sel;
	const struct tracer_plan *plans; /* of its items; NULL: all are of part 0 */
	uint32_t part;
	const struct program *prog;
	const struct goruntime *rt; /* NULL: there are no hooks */
	bool emulates;              /* programs may carry out its RETs */
	size_t first_place;
	uint32_t leader; /* see tracer_lead() */
};

struct probes {
	struct attach_probe *items;
	size_t count, cap;
	size_t *owners; /* index of the selection's item that a probe is for; SIZE_MAX: a hook */
	size_t owner_cap;
	bool emulates;       /* as in struct probes_want */
	size_t first_place;  /* of items[0], where places are numbered */
	const char *refusal; /* why the kernel refused a probe; NULL: it did not; static text */
};

/* Covers the items of this part that are in `prog` and not skipped. The runtime's hooks belong to
 * part 0 and to the one that leads, if any item's calls are timed there; in part 0 those of others,
 * too. Cookies have the item's row, or with the selection's
 * want.places the number of their place: probe i is place first_place + i. Caller frees. */
struct probes *probes_new(const struct probes_want *want);
void probes_free(struct probes *probes);

/* After attaching: marks the items with a refused probe as skipped. True if another probe of such
 * an item is attached: then all must be detached and attached anew. */
bool probes_note_refused(struct probes *probes, struct selection *sel);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A PROBE with a signature, turned into a plan as gotrace does for a function that it has found. */
#ifndef GENPROBE_H
#define GENPROBE_H

#include "abi/abi.h"
#include "base/errmsg.h"
#include "gotrace/tracegen_internal.h"
#include "machine/arch.h"
#include "probespec/probespec.h"

struct genprobe_how {
	enum arch arch;
	enum abi_convention convention;
	bool several, is_copy;
	bool unknown; /* nothing is known but raw words, which the signature names */
	/* as goargdist's: the record becomes a key; log2: with a histogram's row */
	bool keyed, log2;
	bool has_states; /* another PROBE asks for $running or the like */
	unsigned absent; /* bit n: parameter n has no place */
	uint32_t string_max;
	uint32_t g_labels;
	bool label_map;
	const struct tracegen_contexts *contexts;
	const struct tracegen_told *told;
};

struct genprobe {
	struct gotypes *types;
	struct probespec spec;
	struct format *format;
	struct gofunc fn;
	struct abi_layout abi;
	struct tracegen_plan plan;
};

/* Signatures may use main.T, main.Box, main.Deep, main.Request, context.Context and time.Time: see
 * genprobe.c.
 * 0, or -1 with *err; the caller frees in both cases. */
int genprobe_make(struct genprobe *gp, const char *probe, const struct genprobe_how *how,
		  struct errmsg *err);
void genprobe_free(struct genprobe *gp);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "elf/unwind.h"

#include <string.h>

#include "base/budget.h"
#include "elf/image.h"
#include "elf/ehframe_internal.h"

enum {
	SEGMENTS_MAX = 128, /* steps beyond `max`, for frames of __morestack: not shown */
	/* for a whole stack: few frames have over a hundred, the largest of GCC's own 20,000 */
	RULES_MAX = 1 << 22,
};

const struct unwind_module *unwind_module(const struct unwind *u, uint64_t addr)
{
	for (size_t i = 0; i < u->module_count; i++)
		if (image_is_text(u->modules[i].img, addr - u->modules[i].bias))
			return &u->modules[i];
	return NULL;
}

static bool read_word(const struct unwind *u, uint64_t addr, uint64_t *out)
{
	for (size_t i = 0; i < u->piece_count; i++) {
		const struct unwind_piece *piece = &u->pieces[i];
		uint64_t off = addr - piece->addr;

		if (off < piece->len && piece->len - off >= sizeof(*out)) {
			memcpy(out, piece->bytes + off, sizeof(*out));
			return true;
		}
	}
	return false;
}

/* What a register holds once the function has returned; false: not known. */
static bool follow_rule(const struct unwind *u, const struct ehframe_rule *rule, uint64_t cfa,
			uint64_t *value)
{
	switch (rule->how) {
	case EHFRAME_SAME:
		return true;
	case EHFRAME_SAVED:
		return read_word(u, cfa + (uint64_t)rule->off, value);
	case EHFRAME_VALUE:
		*value = cfa + (uint64_t)rule->off;
		return true;
	default:
		return false;
	}
}

enum step { CALLED, BY_NOBODY, NOT_KNOWN };

/* From a frame to its caller's. `returns`: regs[RA] is a return address; *own: the frame is only
 * __morestack's. */
static enum step unwind_step(const struct unwind *u, struct budget *work, uint64_t *regs,
			     bool *known, bool returns, bool *own)
{
	const struct unwind_module *module = unwind_module(u, regs[EHFRAME_RA] - returns);
	uint64_t next[EHFRAME_REGS], cfa;
	struct ehframe_row row;

	*own = false;
	if (!module ||
	    !ehframe_row(module->img, regs[EHFRAME_RA] - returns - module->bias, work, &row))
		return NOT_KNOWN;
	*own = module->morestack && row.func == module->morestack;
	if (row.regs[EHFRAME_RA].how == EHFRAME_LOST)
		return BY_NOBODY;
	if (!known[row.cfa_reg] || row.regs[EHFRAME_RA].how == EHFRAME_SAME)
		return NOT_KNOWN;
	cfa = regs[row.cfa_reg] + (uint64_t)row.cfa_off;
	memcpy(next, regs, sizeof(next));
	for (unsigned i = 0; i < EHFRAME_REGS; i++)
		known[i] = follow_rule(u, &row.regs[i], cfa, &next[i]) &&
			   (known[i] || row.regs[i].how != EHFRAME_SAME);
	if (row.regs[AMD64_RSP].how == EHFRAME_SAME) {
		next[AMD64_RSP] = cfa;
		known[AMD64_RSP] = true;
	}
	memcpy(regs, next, sizeof(next));
	if (!known[EHFRAME_RA])
		return NOT_KNOWN;
	return regs[EHFRAME_RA] ? CALLED : BY_NOBODY;
}

size_t unwind(const struct unwind *u, uint64_t *frames, size_t max, bool *complete)
{
	uint64_t regs[EHFRAME_REGS];
	bool known[EHFRAME_REGS], own, returns = false;
	enum step how = CALLED;
	size_t count = 0, left = max + SEGMENTS_MAX;
	struct budget work = {RULES_MAX};

	memcpy(regs, u->regs, sizeof(regs));
	memset(known, true, sizeof(known));
	while (count < max && left-- && how == CALLED) {
		uint64_t addr = regs[EHFRAME_RA];

		how = unwind_step(u, &work, regs, known, returns, &own);
		if (!own)
			frames[count++] = addr;
		returns = true;
	}
	*complete = how == BY_NOBODY;
	return count;
}

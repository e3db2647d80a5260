// SPDX-License-Identifier: Apache-2.0
/* Loads, stores and addresses of arm64. Arm ARM, C4.1: loads and stores; add (immediate). */
#include "machine/access.h"
#include "machine/arm64_internal.h"

static int32_t sign_extend(uint32_t value, unsigned width)
{
	uint32_t sign = 1u << (width - 1);

	return (int32_t)((value ^ sign) - sign);
}

enum { ZERO = 31 };
enum { OFFSET = 2 }; /* of pairs: the base register stays as it is */

/* opc 0: a store; 1: a load; 2 and 3: loads that extend the sign, but a hint */
static void set_how(uint32_t word, struct access *out)
{
	unsigned size = word >> 30, opc = word >> 22 & 3;
	bool vector = word >> 26 & 1, hint = size == 3 && opc == 2;

	out->how = vector ? ACCESS_OTHER : hint ? ACCESS_NONE : opc ? ACCESS_LOAD : ACCESS_STORE;
	out->bytes = vector ? 0 : 1 << size;
}

static void pair_access(uint32_t word, struct access *out)
{
	bool vector = word >> 26 & 1, wide = word >> 31, load = word >> 22 & 1;

	out->how = vector ? ACCESS_OTHER : load ? ACCESS_LOAD : ACCESS_STORE;
	out->bytes = vector ? 0 : wide ? 8 : 4;
	out->pair = !vector;
	out->plain = (word >> 23 & 3) == OFFSET;
	out->disp = sign_extend(word >> 15 & 127, 7) * (wide ? 8 : 4);
}

/* ldar, stlr, and the likes of ldaxr and cas */
static void ordered_access(uint32_t word, struct access *out)
{
	bool plain = (word & 0x00a00000) == 0x00800000, load = word >> 22 & 1;

	out->how = !plain ? ACCESS_OTHER : load ? ACCESS_LOAD : ACCESS_STORE;
	out->bytes = 1 << (word >> 30);
	out->plain = true;
}

void arm64_access(uint32_t word, struct access *out)
{
	*out = (struct access){.size = sizeof(word), .reg = word & 31, .base = word >> 5 & 31};
	if ((word & 0x3b000000) == 0x39000000) {
		set_how(word, out);
		out->plain = true;
		out->disp = (int32_t)((word >> 10 & 4095) << (word >> 30));
	} else if ((word & 0x3b200c00) == 0x38000000) {
		set_how(word, out);
		out->plain = true;
		out->disp = sign_extend(word >> 12 & 511, 9);
	} else if ((word & 0x3b200c00) == 0x38200000) { /* ldadd, swp, ... */
		out->how = ACCESS_OTHER;
		out->bytes = 1 << (word >> 30);
		out->plain = true;
	} else if ((word & 0x3b000000) == 0x38000000) { /* the base changes, or there is an index */
		set_how(word, out);
	} else if ((word & 0x3a000000) == 0x28000000) {
		pair_access(word, out);
	} else if ((word & 0x3f000000) == 0x08000000) {
		ordered_access(word, out);
	} else if ((word & 0xff800000) == 0x91000000) {
		out->how = ACCESS_ADDRESS;
		out->plain = true;
		out->disp = (int32_t)((word >> 10 & 4095) << (word >> 22 & 1 ? 12 : 0));
	}
	out->constant = out->how == ACCESS_STORE && out->reg == ZERO;
}

bool arm64_page(uint32_t word, uint64_t addr, uint64_t *out)
{
	uint32_t imm = (word >> 3 & 0x1ffffc) | (word >> 29 & 3);
	int64_t distance = sign_extend(imm, 21);
	bool pages = word >> 31;

	*out = (pages ? addr & ~0xfffull : addr) + (uint64_t)distance * (pages ? 4096 : 1);
	return (word & 0x1f000000) == 0x10000000;
}

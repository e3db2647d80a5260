// SPDX-License-Identifier: Apache-2.0
#include "program/pcvalue_internal.h"

#include <string.h>

void pcvalue_begin(struct pcvalue *pcv, const uint8_t *data, size_t len, uint64_t entry,
		   unsigned quantum)
{
	*pcv = (struct pcvalue){
		.next = data,
		.limit = data + len,
		.to = entry,
		.value = -1,
		.quantum = quantum,
	};
}

/* at most 5 bytes: they hold 32 bits */
static bool read_varint(struct pcvalue *pcv, uint32_t *out)
{
	uint32_t value = 0;

	for (unsigned shift = 0; shift < 35 && pcv->next < pcv->limit; shift += 7) {
		uint8_t byte = *pcv->next++;

		value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = value;
			return true;
		}
	}
	return false;
}

static bool stop_reading(struct pcvalue *pcv)
{
	pcv->malformed = true;
	return false;
}

bool pcvalue_next(struct pcvalue *pcv)
{
	uint32_t delta, span;

	if (pcv->malformed || !read_varint(pcv, &delta))
		return stop_reading(pcv);
	if (delta == 0 && pcv->started)
		return false;
	if (!read_varint(pcv, &span) || span == 0)
		return stop_reading(pcv);
	pcv->started = true;
	/* unsigned: a malformed table may overflow */
	pcv->value = (int32_t)((uint32_t)pcv->value + ((delta >> 1) ^ -(delta & 1)));
	pcv->from = pcv->to;
	if (__builtin_add_overflow(pcv->from, (uint64_t)span * pcv->quantum, &pcv->to))
		return stop_reading(pcv);
	return true;
}

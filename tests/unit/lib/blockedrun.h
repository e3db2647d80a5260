/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool that adds up blocked time reads, made up: its maps, stacks of which those of ten are
 * shown alike, waits, and processes of which some have ended, at 5000 us. With faketool.h; for each
 * test that includes this, instead of what the rooms below have. */
#ifndef BLOCKEDRUN_H
#define BLOCKEDRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/latency.h"
#include "bpf-src/shared/waits.h"

enum {
	BLOCKEDRUN_BIAS = 0x10000,
	BLOCKEDRUN_ENTRY = 0x401000, /* of the probe */
	BLOCKEDRUN_PID = 0x7fffffff, /* there is no such process */
	BLOCKEDRUN_ROWS = 8,
	BLOCKEDRUN_US = 1000,
};

extern struct blockedrun {
	const char *tool; /* its name; "test" */
	struct {
		struct wait_key key;
		struct wait_sum sum;
	} sums[BLOCKEDRUN_ROWS];
	size_t sum_count;
	struct {
		struct goroutine_key key;
		struct wait_begun wait;
		bool ended; /* its process */
		bool parked;
	} open_waits[BLOCKEDRUN_ROWS];
	size_t open_count;
	uint32_t control;
	uint64_t lost[WAIT_LOSSES], deleted;
	const char *failing; /* the map that does */
	bool is_due;
	unsigned looks, notes;
} blockedrun;

void blockedrun_begin(void); /* with faketool_begin() */
void blockedrun_add_sum(uint64_t stack, uint32_t reason, uint64_t waits, uint64_t us,
			uint64_t max_us);
void blockedrun_add_open(uint64_t stack, uint32_t reason, uint64_t start_us, bool ended,
			 bool parked);

#endif

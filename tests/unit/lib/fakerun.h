/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the kernel for tools that take events: the switch, one map, the ring buffer,
 * processes that end, and what is lost. With faketool.h, whose notes say what was asked. */
#ifndef FAKERUN_H
#define FAKERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/events.h"

enum { FAKERUN_ENTRIES = 4, FAKERUN_PID = 181 };

extern struct fakerun {
	uint64_t now_ns;   /* clock_ns() */
	uint64_t ended_ns; /* when the process FAKERUN_PID has; 0: it goes on */
	uint64_t lost;     /* in the map of that name */
	bool is_due, has_gone;
	/* of the map that the tool goes through: `key` begins with a struct goroutine_key */
	struct {
		const void *key, *value;
	} entries[FAKERUN_ENTRIES];
	size_t entry_count, key_size, value_size;
	events_fn *event;
	void *event_ctx;
} fakerun;

void fakerun_begin(void); /* with faketool_begin() */
bool fakerun_send(const void *event, size_t len);

#endif

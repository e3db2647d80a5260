// SPDX-License-Identifier: Apache-2.0
#include "blocked/losses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/bpfmap.h"

void losses_say(int map, const char *tool, const char *const *said, uint64_t *counts, size_t kinds)
{
	memset(counts, 0, kinds * sizeof(*counts));
	if (bpfmap_sum_percpu(map, kinds, 1, counts)) {
		fprintf(stderr, "%s: cannot read what was lost: %s\n", tool, strerror(errno));
		return;
	}
	for (size_t i = 0; i < kinds; i++)
		if (counts[i] && said[i])
			fprintf(stderr, "%s: %" PRIu64 " %s\n", tool, counts[i], said[i]);
}

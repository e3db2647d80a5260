// SPDX-License-Identifier: Apache-2.0
#include "latency/net.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "kernel/hitcost.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

enum { ROUNDS = 7 }; /* odd; in one of them the machine may have been busy */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static struct hitcost measure(void)
{
	uint32_t emulated[ROUNDS], stepped[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		struct hitcost cost = hitcost_end(hitcost_start());

		emulated[i] = cost.emulated;
		stepped[i] = cost.stepped;
	}
	qsort(emulated, ROUNDS, sizeof(*emulated), compare);
	qsort(stepped, ROUNDS, sizeof(*stepped), compare);
	return (struct hitcost){emulated[ROUNDS / 2], stepped[ROUNDS / 2]};
}

struct sites {                     /* of a row's functions and copies */
	uint64_t entry_ns, end_ns; /* sums */
	uint32_t entries, ends;
};

static void add_item(struct sites *row, const struct tracer *tracer,
		     const struct selection_item *item, const struct hitcost *cost)
{
	const struct selection *sel = tracer_selection(tracer);

	row->entry_ns += item->sites.entry.emulated ? cost->emulated : cost->stepped;
	row->entries++;
	for (size_t i = 0; i < item->sites.exits; i++) {
		const struct site *site = &sel->exits.items[item->sites.first_exit + i];
		bool cheap = site->emulated ||
			     (site->kind == SITE_RET && tracer_carries_out_returns(tracer));

		row->end_ns += cheap ? cost->emulated : cost->stepped;
		row->ends++;
	}
}

/* Which of a row's sites are hit most is not known: all count the same. */
int net_begin(const struct tracer *tracer, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);
	struct sites *rows = mem_zalloc(sel->row_count + 1, sizeof(*rows));
	struct hitcost cost = measure();
	int map = tracer_map(tracer, "net_prices"), ret = 0;

	for (size_t i = 0; i < sel->item_count; i++)
		if (!sel->items[i].skipped)
			add_item(&rows[sel->items[i].row], tracer, &sel->items[i], &cost);
	for (uint32_t row = 0; row < sel->row_count && !ret; row++) {
		const struct net_price price = {
			.entry_ns = rows[row].entries ? rows[row].entry_ns / rows[row].entries : 0,
			.end_ns = rows[row].ends ? rows[row].end_ns / rows[row].ends : 0,
		};

		if (bpfmap_update(map, &row, &price))
			ret = errmsg_set(err, "cannot tell the BPF program what hits cost: %s",
					 strerror(errno));
	}
	free(rows);
	return ret;
}

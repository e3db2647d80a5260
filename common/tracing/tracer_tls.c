// SPDX-License-Identifier: Apache-2.0
/* Shared libraries of Go: where g is is known when they are loaded only, and for each process. */
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/tls_word.h"
#include "kernel/bpfmap.h"
#include "tracing/probes_internal.h"

enum { PROBES_SPARE = 1 << 16, PROBES_PER_ITEM = 8 };

struct tracer_tls {
	struct tls_word *words; /* of all probes */
	size_t count, max;
};

static bool has_word(const struct goruntime *rt)
{
	return rt->tls_word && !rt->split_stack;
}

void tracer_define_tls(struct tracer *tracer)
{
	bool any = false;

	for (size_t i = 0; i < tracer->program_count; i++)
		any |= has_word(&tracer->runtimes[i]);
	if (!any)
		return;
	struct tracer_tls *tls = mem_zalloc(1, sizeof(*tls));

	tls->max = PROBES_SPARE + PROBES_PER_ITEM * tracer->sel->item_count;
	tls->words = mem_zalloc(tls->max, sizeof(*tls->words));
	tracer->tls = tls;
	tracer_define(tracer, "TLS_WORDS", tls->max);
}

void tracer_free_tls(struct tracer *tracer)
{
	if (tracer->tls)
		free(tracer->tls->words);
	free(tracer->tls);
}

int tracer_note_tls(struct tracer *tracer, const struct goruntime *rt, struct probes *probes,
		    struct errmsg *err)
{
	struct tracer_tls *tls = tracer->tls;
	size_t first = tls ? tls->count : 0;

	if (!tls)
		return 0;
	tls->count += probes->count;
	if (tls->count > tls->max)
		return errmsg_set(err, "more than %zu places to probe: trace fewer functions",
				  tls->max);
	for (size_t i = 0; i < probes->count; i++) {
		struct attach_probe *probe = &probes->items[i];

		tls->words[first + i] = (struct tls_word){
			.cookie = probe->cookie,
			.addr = probe->addr,
			.word = has_word(rt) ? rt->tls_word : 0,
		};
		probe->cookie = first + i;
	}
	return 0;
}

void tracer_forget_tls(struct tracer *tracer, const struct probes *probes)
{
	if (tracer->tls)
		tracer->tls->count -= probes->count;
}

int tracer_fill_tls(const struct tracer *tracer, struct errmsg *err)
{
	const struct tracer_tls *tls = tracer->tls;
	int fd = tls ? bpfprog_map(tracer->bpf, "tls_words") : -1;

	for (uint32_t i = 0; tls && i < tls->count; i++)
		if (bpfmap_update(fd, &i, &tls->words[i]))
			return errmsg_set(err, "cannot pass %zu probes to the BPF program: %s",
					  tls->count, strerror(errno));
	return 0;
}

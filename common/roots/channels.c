// SPDX-License-Identifier: Apache-2.0
#include "roots/channels.h"

#include <stdbool.h>
#include <stddef.h>

#include "bpf-src/shared/channels.h"
#include "kernel/bpfmap.h"
#include "selection/runtime_func.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

/* in buffers; the map takes memory only as it fills */
enum { VALUES_MAX = 1 << 20 };

#define MOVES "runtime.typedmemmove"
#define CLEARS "runtime.typedmemclr"

/* A program that sends nothing, or has no select, lacks some. chanrecv() and selectgo() clear other
 * memory than places in buffers, too, and selectgo() copies out of these as well: what they copy
 * out of a buffer they clear right after. */
static const struct channel_func {
	struct runtime_func func;
	enum channels_site what;
} channel_funcs[] = {
	{{.names = {"runtime.send"}, .optional = true}, CHANNEL_SEND},
	{{.names = {"runtime.recv"}, .optional = true}, CHANNEL_RECEIVE},
	{{.names = {"runtime.chansend"}, .callee = MOVES, .not_before = CLEARS, .optional = true},
	 CHANNEL_PUT},
	{{.names = {"runtime.selectgo"}, .callee = MOVES, .not_before = CLEARS, .optional = true},
	 CHANNEL_PUT},
	{{.names = {"runtime.chanrecv"}, .callee = CLEARS, .after = MOVES, .optional = true},
	 CHANNEL_TAKE},
	{{.names = {"runtime.selectgo"}, .callee = CLEARS, .after = MOVES, .optional = true},
	 CHANNEL_TAKE},
};

int channels_plan(struct tracer *tracer, struct errmsg *err)
{
	struct selection *sel = tracer_selection(tracer);
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(channel_funcs) / sizeof(*channel_funcs); i++) {
		const struct channel_func *func = &channel_funcs[i];

		selection_group(sel, sel->group + 1, false);
		sel->runtime = func->what;
		for (size_t n = 0; !ret && n < tracer_program_count(tracer); n++)
			ret = runtime_func_add(sel, tracer_program(tracer, n), &func->func, err);
		sel->runtime = 0;
	}
	if (ret)
		return -1;
	tracer_define(tracer, "CHANNELS", 1);
	tracer_define(tracer, "CHANNEL_VALUES", bpfmap_room(VALUES_MAX));
	return 0;
}

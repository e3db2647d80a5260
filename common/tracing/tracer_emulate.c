// SPDX-License-Identifier: Apache-2.0
/* RETs that a program carries out in place of the kernel: see kernel/emulator.h. */
#include "tracing/tracer_parts.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "elf/gnuproperty.h"
#include "kernel/attach.h"
#include "kernel/btf.h"
#include "kernel/emulation.h"
#include "kernel/emulator.h"
#include "program/program.h"
#include "tracing/probes.h"

static bool probes_returns(const struct tracer_config *config)
{
	bool any = config->want.returns;

	for (size_t i = 0; config->pattern_returns && i < config->pattern_count; i++)
		any |= config->pattern_returns[i];
	return any;
}

void tracer_try_emulation(struct tracer *tracer)
{
	tracer->emulator = -1;
	if (probes_returns(tracer->config))
		tracer->emulation = emulation_trial_start();
}

void tracer_define_emulation(struct tracer *tracer)
{
	tracer->emulated = tracer->emulation && emulation_trial_answer(tracer->emulation);
	if (!tracer->emulated)
		return;
	tracer_define(tracer, "EMULATED_RETS", 1);
	tracer->emulator = emulator_load(attach_prog_type(attach_how()), btf_thread_features());
}

/* Where g, or a call, is found by the address of the site, a program that runs later must know
 * that; and code for shadow stacks has RETs that the processor checks. */
bool tracer_emulates(const struct tracer *tracer, const struct program *prog,
		     const struct goruntime *rt)
{
	return tracer->emulated && rt && !rt->split_stack && !rt->tls_word &&
	       !gnuproperty_shadow_stack(prog->img);
}

/* Not where an inlined copy ends: another tool may know that RET as a function's entry. */
static bool is_carried_out(const struct attach_probe *probe)
{
	return cookie_is_ret(probe->cookie) && cookie_kind(probe->cookie) == COOKIE_RETURN &&
	       !cookie_copy(probe->cookie);
}

void tracer_attach_emulator(struct tracer *tracer, size_t slot, const struct program *prog,
			    const struct probes *probes)
{
	const struct attach_way way = {attach_how(), tracer->emulator, -1,
				       tracer->execs ? tracer->pid : 0};
	struct attach_probe *rets;
	size_t count = 0;

	if (tracer->emulator < 0)
		return;
	if (!tracer->emulators)
		tracer->emulators = mem_zalloc(tracer->program_count * tracer->part_count,
					       sizeof(struct attach *));
	attach_free(tracer->emulators[slot]); /* of an attempt before */
	tracer->emulators[slot] = NULL;
	rets = mem_zalloc(probes->count, sizeof(*rets));
	for (size_t i = 0; i < probes->count; i++) {
		if (!is_carried_out(&probes->items[i]))
			continue;
		rets[count] = probes->items[i];
		rets[count++].cookie = cookie_low(probes->items[i].cookie);
	}
	/* without it the kernel executes them */
	if (count)
		tracer->emulators[slot] = attach_new(&way, prog->file, rets, count, NULL);
	free(rets);
}

void tracer_free_emulators(struct tracer *tracer)
{
	for (size_t i = 0; tracer->emulators && i < tracer->program_count * tracer->part_count; i++)
		attach_free(tracer->emulators[i]);
	free(tracer->emulators);
	tracer->emulators = NULL;
	if (tracer->emulation && tracer->emulator >= 0)
		close(tracer->emulator);
	tracer->emulator = -1;
}

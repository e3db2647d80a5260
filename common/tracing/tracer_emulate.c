// SPDX-License-Identifier: Apache-2.0
/* RETs that a program carries out in place of the kernel: see kernel/emulator.h. */
#include "tracing/tracer_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "elf/gnuproperty.h"
#include "files/codemaps.h"
#include "files/heldfile.h"
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
	/* without an emulator of its own, too: another tool may have one */
	tracer_define(tracer, "EMULATED_RETS", 1);
	if (!tracer->config->no_emulate)
		tracer->emulator =
			emulator_load(attach_prog_type(attach_how()), btf_thread_features());
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

/* RETs of one file, and at which of them a process has an instruction other than RET now: another
 * tracer's breakpoint. */
struct rets {
	struct attach_probe *probes;
	bool *taken;
	size_t count;
	ino_t ino;
	pid_t pid; /* whose memory `fd` is; 0: nobody's */
	int fd;
	size_t reads;
};

static void forget_memory(struct rets *rets)
{
	if (rets->fd >= 0)
		close(rets->fd);
	rets->fd = -1;
	rets->pid = 0;
}

static bool is_there(struct rets *rets, uint64_t addr)
{
	enum { READS_MAX = 1 << 20, RET = 0xc3 };
	unsigned char byte;

	return rets->reads++ < READS_MAX && pread(rets->fd, &byte, 1, addr) == 1 && byte == RET;
}

static void look_at(void *ctx, const struct codemap *map)
{
	struct rets *rets = ctx;

	if (map->ino != rets->ino)
		return;
	if (map->pid != rets->pid) {
		forget_memory(rets);
		rets->fd = codemaps_memory(map);
		rets->pid = map->pid;
	}
	for (size_t i = 0; i < rets->count; i++) {
		uint64_t into = rets->probes[i].off - map->off;

		if (rets->probes[i].off >= map->off && into < map->len && !rets->taken[i])
			rets->taken[i] = !is_there(rets, map->addr + into);
	}
}

/* Another tracer that stands at a RET already would find the registers changed, as the kernel runs
 * first who came last. What cannot be read is left to the kernel, too. Returns how many are. */
static size_t leave_taken(struct rets *rets, pid_t pid)
{
	size_t left = 0;

	if (codemaps_each(pid, look_at, rets))
		memset(rets->taken, true, rets->count * sizeof(*rets->taken));
	forget_memory(rets);
	for (size_t i = 0; i < rets->count; i++)
		if (!rets->taken[i])
			rets->probes[left++] = rets->probes[i];
	size_t taken = rets->count - left;

	rets->count = left;
	return taken;
}

static struct rets rets_among(const struct probes *probes, const struct heldfile *file)
{
	struct rets rets = {.fd = -1, .ino = heldfile_then(file)->st_ino};

	rets.probes = mem_zalloc(probes->count, sizeof(*rets.probes));
	rets.taken = mem_zalloc(probes->count, sizeof(*rets.taken));
	for (size_t i = 0; i < probes->count; i++) {
		if (!is_carried_out(&probes->items[i]))
			continue;
		rets.probes[rets.count] = probes->items[i];
		rets.probes[rets.count++].cookie = cookie_low(probes->items[i].cookie);
	}
	return rets;
}

void tracer_attach_emulator(struct tracer *tracer, size_t slot, const struct program *prog,
			    const struct probes *probes)
{
	pid_t pid = tracer->execs ? tracer->pid : 0;
	const struct attach_way way = {attach_how(), tracer->emulator, -1, pid};

	if (tracer->emulator < 0)
		return;
	if (!tracer->emulators)
		tracer->emulators = mem_zalloc(tracer->program_count * tracer->part_count,
					       sizeof(struct attach *));
	attach_free(tracer->emulators[slot]); /* of an attempt before */
	tracer->emulators[slot] = NULL;
	struct rets rets = rets_among(probes, prog->file);

	if (rets.count)
		tracer->rets_left += leave_taken(&rets, pid);
	/* without it the kernel executes them */
	if (rets.count)
		tracer->emulators[slot] =
			attach_new(&way, prog->file, rets.probes, rets.count, NULL);
	free(rets.probes);
	free(rets.taken);
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

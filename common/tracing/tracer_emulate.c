// SPDX-License-Identifier: Apache-2.0
/* RETs that a program carries out in place of the kernel: see kernel/emulator.h. */
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

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
#include "selection/runtime_func.h"
#include "tracing/probes_internal.h"

static bool probes_returns(const struct tracer_config *config)
{
	bool any = config->want.returns;

	for (size_t i = 0; config->pattern_returns && i < config->pattern_count; i++)
		any |= config->pattern_returns[i];
	for (size_t i = 0; i < config->runtime_func_count; i++)
		any |= config->runtime_funcs[i].returns;
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
	unsigned copy = cookie_copy(probe->cookie);

	return cookie_is_ret(probe->cookie) && cookie_kind(probe->cookie) == COOKIE_RETURN &&
	       (!copy || copy == COOKIE_TAIL);
}

/* RETs of one file that are to be carried out, by their offsets, in order; and at which of them a
 * process has an instruction other than RET: another tracer's breakpoint. */
struct tracer_rets {
	uint64_t *offs;
	bool *taken;
	size_t count, cap, taken_count;
	struct attach **attached; /* for each part */
	ino_t ino;
	pid_t pid; /* whose memory `fd` is; 0: nobody's */
	int fd;
	size_t reads;
};

static void forget_memory(struct tracer_rets *rets)
{
	if (rets->fd >= 0)
		close(rets->fd);
	rets->fd = -1;
	rets->pid = 0;
}

static bool is_there(struct tracer_rets *rets, uint64_t addr)
{
	enum { READS_MAX = 1 << 20, RET = 0xc3 };
	unsigned char byte;

	return rets->reads++ < READS_MAX && pread(rets->fd, &byte, 1, addr) == 1 && byte == RET;
}

/* The first RET at this offset or behind it. */
static size_t first_from(const struct tracer_rets *rets, uint64_t off)
{
	size_t low = 0, high = rets->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (rets->offs[mid] < off)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void look_at(void *ctx, const struct codemap *map)
{
	struct tracer_rets *rets = ctx;

	/* a process may have mapped the file many times */
	if (map->ino != rets->ino || rets->taken_count == rets->count)
		return;
	if (map->pid != rets->pid) {
		forget_memory(rets);
		rets->fd = codemaps_memory(map);
		rets->pid = map->pid;
	}
	for (size_t i = first_from(rets, map->off); i < rets->count; i++) {
		uint64_t into = rets->offs[i] - map->off;

		if (into >= map->len)
			break;
		if (rets->taken[i] || is_there(rets, map->addr + into))
			continue;
		rets->taken[i] = true;
		rets->taken_count++;
	}
}

static int by_offset(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void note_rets(struct tracer_rets *rets, const struct probes *probes)
{
	for (size_t i = 0; i < probes->count; i++) {
		if (!is_carried_out(&probes->items[i]))
			continue;
		rets->offs = mem_grow(rets->offs, rets->count, &rets->cap, sizeof(*rets->offs));
		rets->offs[rets->count++] = probes->items[i].off;
	}
}

/* in order, each once, though several parts may want it */
static void sort(struct tracer_rets *rets)
{
	size_t count = 0;

	if (rets->count)
		qsort(rets->offs, rets->count, sizeof(*rets->offs), by_offset);
	for (size_t i = 0; i < rets->count; i++)
		if (!count || rets->offs[i] != rets->offs[count - 1])
			rets->offs[count++] = rets->offs[i];
	rets->count = count;
}

/* Another tracer that stands at a RET already would find the registers changed, as the kernel runs
 * first who came last. What cannot be looked at is left to the kernel, too. */
static void look_for_others(struct tracer_rets *rets, const struct program *prog, pid_t pid)
{
	sort(rets);
	rets->fd = -1;
	rets->ino = heldfile_then(prog->file)->st_ino;
	rets->taken = mem_zalloc(rets->count, sizeof(*rets->taken));
	if (rets->count && codemaps_each(pid, look_at, rets)) {
		for (size_t i = 0; i < rets->count; i++)
			rets->taken[i] = true;
		rets->taken_count = rets->count;
	}
	forget_memory(rets);
}

static pid_t only_process(const struct tracer *tracer)
{
	return tracer->execs ? tracer->pid : 0;
}

void tracer_find_taken_rets(struct tracer *tracer)
{
	if (tracer->emulator < 0)
		return;
	tracer->rets = mem_zalloc(tracer->program_count, sizeof(*tracer->rets));
	for (size_t n = 0; n < tracer->program_count; n++) {
		struct tracer_rets *rets = &tracer->rets[n];

		rets->attached = mem_zalloc(tracer->part_count, sizeof(struct attach *));
		for (uint32_t part = 0; part < tracer->part_count; part++) {
			struct probes *probes = tracer_probes(tracer, n, part);

			note_rets(rets, probes);
			probes_free(probes);
		}
		look_for_others(rets, tracer->programs[n], only_process(tracer));
		tracer->rets_left += rets->taken_count;
	}
}

static bool is_taken(const struct tracer_rets *rets, uint64_t off)
{
	size_t i = first_from(rets, off);

	return i == rets->count || rets->offs[i] != off || rets->taken[i];
}

void tracer_attach_emulator(struct tracer *tracer, size_t n, uint32_t part,
			    const struct probes *probes)
{
	const struct attach_way way = {attach_how(), tracer->emulator, -1, only_process(tracer)};

	if (tracer->emulator < 0)
		return;
	struct attach **at = &tracer->rets[n].attached[part];
	struct attach_probe *rets = mem_zalloc(probes->count, sizeof(*rets));
	size_t count = 0;

	attach_free(*at); /* of an attempt before */
	*at = NULL;
	for (size_t i = 0; i < probes->count; i++) {
		const struct attach_probe *probe = &probes->items[i];

		if (!is_carried_out(probe) || is_taken(&tracer->rets[n], probe->off))
			continue;
		rets[count] = *probe;
		rets[count++].cookie = cookie_low(probe->cookie);
	}
	/* without it the kernel executes them */
	if (count)
		*at = attach_new(&way, tracer->programs[n]->file, rets, count, NULL);
	free(rets);
}

static void free_rets(struct tracer_rets *rets, uint32_t part_count)
{
	for (uint32_t part = 0; part < part_count; part++)
		attach_free(rets->attached[part]);
	free(rets->attached);
	free(rets->offs);
	free(rets->taken);
}

void tracer_free_emulators(struct tracer *tracer)
{
	for (size_t n = 0; tracer->rets && n < tracer->program_count; n++)
		free_rets(&tracer->rets[n], tracer->part_count);
	free(tracer->rets);
	tracer->rets = NULL;
	if (tracer->emulation && tracer->emulator >= 0)
		close(tracer->emulator);
	tracer->emulator = -1;
}

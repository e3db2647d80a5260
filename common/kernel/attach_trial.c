// SPDX-License-Identifier: Apache-2.0
#include "kernel/attach_trial.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/mem.h"
#include "base/signals.h"
#include "kernel/attach.h"
#include "kernel/attach_self_internal.h"
#include "kernel/bpfcall_internal.h"
#include "kernel/bpfmap.h"
#include "kernel/kernelfeature.h"

struct attach_trial {
	pthread_t thread;
	bool started, passed;
};

/* The function that the trial probes: nobody else calls it. */
static __attribute__((noinline)) void called(void)
{
	__asm__ volatile("nop");
}

/* u32 key = 0; n = map_lookup_elem(map, &key); if (n) add 1 to *n, atomically; return 0 */
static int load_counter(int map, int attach_type)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4},
		BPFCALL_LOAD_MAP(BPF_REG_1, map),
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_0,
		 .src_reg = BPF_REG_1,
		 .imm = BPF_ADD},
		BPFCALL_RETURN_0,
	};
	return bpfcall_insns(insns, sizeof(insns) / sizeof(insns[0]), attach_type, 0);
}

/* Is a call of this thread, which is not the process's first one, counted? */
static bool counted(int prog, int map)
{
	struct attach *at = attach_self((uintptr_t)called, prog);
	uint64_t count = 0;
	uint32_t key = 0;

	if (!at)
		return false;
	called();
	bpfmap_lookup(map, &key, &count);
	attach_free(at);
	return count == 1;
}

static void *try_out(void *ctx)
{
	struct attach_trial *trial = ctx;
	int map = bpfcall_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1, 0);
	int prog = map < 0 ? -1 : load_counter(map, attach_prog_type(attach_how()));

	trial->passed = prog >= 0 && kernelfeature_exec_watch() && counted(prog, map);
	if (prog >= 0)
		close(prog);
	if (map >= 0)
		close(map);
	return NULL;
}

struct attach_trial *attach_trial_start(void)
{
	struct attach_trial *trial = mem_zalloc(1, sizeof(*trial));
	const char *wish = getenv("GOTOOLS_ALONE");

	if (wish && !strcmp(wish, "no"))
		return trial;
	trial->started = signals_thread(&trial->thread, try_out, trial);
	return trial;
}

bool attach_trial_end(struct attach_trial *trial)
{
	if (trial->started)
		pthread_join(trial->thread, NULL);
	bool passed = trial->passed;

	free(trial);
	return passed;
}

// SPDX-License-Identifier: Apache-2.0
#include "kernel/emulation.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <asm/ptrace.h>
#include <linux/bpf.h>

#include "base/mem.h"
#include "base/signals.h"
#include "files/heldfile.h"
#include "kernel/attach.h"
#include "kernel/attach_self_internal.h"
#include "kernel/bpfcall_internal.h"

struct emulation_trial {
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t known;
	bool answered, passed;
};

static void answer(struct emulation_trial *trial, bool passed)
{
	pthread_mutex_lock(&trial->lock);
	if (!trial->answered)
		trial->passed = passed;
	trial->answered = true;
	pthread_cond_signal(&trial->known);
	pthread_mutex_unlock(&trial->lock);
}

#ifdef __x86_64__
/* Returns 2 * (bytes that SP was lowered at the site) + (was the site's instruction executed). It
 * is no RET: where a program may write registers, but the kernel executes the instruction all the
 * same, this returns, too. Like a RET, the kernel does not know how to execute it but by a step of
 * the thread. */
uint64_t emulation_trial_call(void);
extern const char emulation_trial_site[];

__asm__(".text\n"
	".type emulation_trial_call, @function\n"
	"emulation_trial_call:\n"
	"	mov %rsp, %rdx\n"
	"	xor %eax, %eax\n"
	"emulation_trial_site:\n"
	"	inc %eax\n"
	"	sub %rsp, %rdx\n"
	"	add %rdx, %rsp\n"
	"	lea (%rax, %rdx, 2), %rax\n"
	"	ret\n"
	".size emulation_trial_call, . - emulation_trial_call\n");

enum { SITE_SIZE = 2, LOWERED = 8 };

#define ADD_TO_REGISTER(member, bytes)                                                             \
	{.code = BPF_LDX | BPF_MEM | BPF_DW,                                                       \
	 .dst_reg = BPF_REG_2,                                                                     \
	 .src_reg = BPF_REG_1,                                                                     \
	 .off = offsetof(struct pt_regs, member)},                                                 \
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = (bytes)},       \
	{                                                                                          \
		.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_2,    \
		.off = offsetof(struct pt_regs, member)                                            \
	}

/* ip += SITE_SIZE; sp -= LOWERED; return 0 */
static int load_skipper(int attach_type)
{
	const struct bpf_insn insns[] = {
		ADD_TO_REGISTER(rip, SITE_SIZE),
		ADD_TO_REGISTER(rsp, -LOWERED),
		BPFCALL_RETURN_0,
	};
	return bpfcall_insns(insns, sizeof(insns) / sizeof(insns[0]), attach_type, 0);
}

/* The answer is given before the probe is detached, which takes longer. */
static void try_to_skip(struct emulation_trial *trial, int prog)
{
	struct attach *at = attach_self((uintptr_t)emulation_trial_site, prog);

	answer(trial, at && emulation_trial_call() == 2 * LOWERED);
	attach_free(at);
}

static void *try_out(void *ctx)
{
	/* the program that is to come asks for its cookie */
	bool cookies = attach_how() != ATTACH_PERF_STUB;
	int prog = cookies ? load_skipper(attach_prog_type(attach_how())) : -1;

	if (prog >= 0) {
		try_to_skip(ctx, prog);
		close(prog);
	}
	answer(ctx, false);
	return NULL;
}
#else
static void *try_out(void *ctx) /* arm64: the kernel carries out a RET by itself */
{
	answer(ctx, false);
	return NULL;
}
#endif

struct emulation_trial *emulation_trial_start(void)
{
	struct emulation_trial *trial = mem_zalloc(1, sizeof(*trial));
	const char *wish = getenv("GOTOOLS_EMULATE");

	pthread_mutex_init(&trial->lock, NULL);
	pthread_cond_init(&trial->known, NULL);
	if (!wish || strcmp(wish, "no") != 0)
		trial->started = signals_thread(&trial->thread, try_out, trial);
	if (!trial->started)
		answer(trial, false);
	return trial;
}

bool emulation_trial_answer(struct emulation_trial *trial)
{
	pthread_mutex_lock(&trial->lock);
	while (!trial->answered)
		pthread_cond_wait(&trial->known, &trial->lock);
	bool passed = trial->passed;

	pthread_mutex_unlock(&trial->lock);
	return passed;
}

void emulation_trial_end(struct emulation_trial *trial)
{
	if (!trial)
		return;
	if (trial->started)
		pthread_join(trial->thread, NULL);
	pthread_cond_destroy(&trial->known);
	pthread_mutex_destroy(&trial->lock);
	free(trial);
}

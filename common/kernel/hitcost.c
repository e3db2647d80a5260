// SPDX-License-Identifier: Apache-2.0
#include "kernel/hitcost.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/mem.h"
#include "base/signals.h"
#include "kernel/attach.h"
#include "kernel/attach_self_internal.h"
#include "kernel/bpfcall_internal.h"

enum { MEASURE_NS = 2 * 1000 * 1000, CALLS_MIN = 64, CALLS_PER_LOOK = 16 };
/* on a machine of 2024, virtual */
enum { USUAL_EMULATED_NS = 1500, USUAL_STEPPED_NS = 4000 };

struct hitcost_trial {
	pthread_t thread;
	bool started;
	struct hitcost cost;
};

/* Functions whose first instruction is of a kind that the kernel emulates (a NOP), or not. arm64
 * single-steps all but branches and hints. */
void hitcost_emulated(void);
void hitcost_stepped(void);
__asm__(".pushsection .text\n"
	".globl hitcost_emulated\n"
	".type hitcost_emulated, %function\n"
	"hitcost_emulated: nop\n"
	"ret\n"
	".globl hitcost_stepped\n"
	".type hitcost_stepped, %function\n"
#ifdef __aarch64__
	"hitcost_stepped: mov x0, x0\n"
#else
	"hitcost_stepped: mov %eax, %eax\n"
#endif
	"ret\n"
	".popsection\n");

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* The compiler may run on the other cores meanwhile: it is this thread's own time that counts. */
static uint32_t measure(void (*called)(void), int prog)
{
	struct attach *at = attach_self((uintptr_t)called, prog);
	uint64_t begun, ns = 0, calls = 0;

	if (!at)
		return 0;
	called();
	begun = thread_ns();
	while (ns < MEASURE_NS || calls < CALLS_MIN) {
		for (int i = 0; i < CALLS_PER_LOOK; i++)
			called();
		calls += CALLS_PER_LOOK;
		ns = thread_ns() - begun;
	}
	attach_free(at);
	return ns / calls;
}

static void *try_out(void *ctx)
{
	const struct bpf_insn insns[] = {BPFCALL_RETURN_0};
	struct hitcost_trial *trial = ctx;
	int prog = bpfcall_insns(insns, sizeof(insns) / sizeof(insns[0]),
				 attach_prog_type(attach_how()), 0);

	if (prog < 0)
		return NULL;
	uint32_t emulated = measure(hitcost_emulated, prog);
	uint32_t stepped = measure(hitcost_stepped, prog);

	if (emulated && stepped)
		trial->cost = (struct hitcost){emulated, stepped};
	close(prog);
	return NULL;
}

struct hitcost_trial *hitcost_start(void)
{
	struct hitcost_trial *trial = mem_zalloc(1, sizeof(*trial));

	trial->cost = (struct hitcost){USUAL_EMULATED_NS, USUAL_STEPPED_NS};
	trial->started = signals_thread(&trial->thread, try_out, trial);
	return trial;
}

struct hitcost hitcost_end(struct hitcost_trial *trial)
{
	if (trial->started)
		pthread_join(trial->thread, NULL);
	struct hitcost cost = trial->cost;

	free(trial);
	return cost;
}

int hitcost_watch_programs(void)
{
	return bpfcall_measure_runs();
}

int hitcost_program(int prog_fd, uint64_t *runs, uint64_t *ns)
{
	struct bpf_prog_info info;

	if (bpfcall_info(prog_fd, &info, sizeof(info)))
		return -1;
	*runs = info.run_cnt;
	*ns = info.run_time_ns;
	return 0;
}

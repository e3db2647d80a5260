// SPDX-License-Identifier: Apache-2.0
/* goprofile: where Go programs spend the processor's time: stacks of what runs, by sampling. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "base/number.h"
#include "sampling/sampling.h"
#include "tracing/options.h"

enum { DEFAULT_HZ = 49, MAX_HZ = 1000000 }; /* not 50: what runs by a clock is not met in step */

enum { LETTER_LABELS = 256, LETTER_CGROUP, LETTER_OFF_CPU };

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct sampling *sampling = ctx;
	uint64_t hz;

	if (letter == LETTER_LABELS) {
		sampling->labels = true;
		sampling->label = value;
		return 0;
	}
	if (letter == LETTER_CGROUP) {
		sampling->cgroup = value;
		return 0;
	}
	if (letter == LETTER_OFF_CPU) {
		sampling->off_cpu = true;
		return 0;
	}
	if (letter == 'f' || letter == 'K') {
		*(letter == 'f' ? &sampling->folded : &sampling->kernel) = true;
		return 0;
	}
	if (!number_parse(value, MAX_HZ, &hz) || !hz)
		return errmsg_set(err, "frequency of \"%s\": not a number from 1 to %d", value,
				  MAX_HZ);
	sampling->hz = (uint32_t)hz;
	return 0;
}

static const struct options_def own_options[] = {
	{'F', "frequency", "HZ", "samples a second on each processor (default 49)"},
	{'f', "folded", NULL, "output folded format, for flame graphs"},
	{'K', "kernel-stack", NULL, "show the kernel's frames as well"},
	{LETTER_OFF_CPU, "off-cpu", NULL, "time that goroutines are blocked or runnable as well"},
	{LETTER_CGROUP, "cgroup", "PATH", "what runs in this cgroup, and in those below it"},
	{LETTER_LABELS, "labels", "[=KEY]",
	 "tell stacks apart by their goroutines' labels, all or that of KEY"},
	{0},
};

static const char examples[] =
	"    goprofile -p 181                # where does process 181 spend its time?\n"
	"    goprofile -d 10 -p 181          # for ten seconds\n"
	"    goprofile -d 10 /usr/bin/etcd   # in all processes that run etcd\n"
	"    goprofile -d 10 -n etcd         # in those whose name contains etcd\n"
	"    goprofile -d 10                 # in all Go programs of the machine\n"
	"    goprofile -F 999 -d 1 -p 181    # 999 times a second\n"
	"    goprofile --off-cpu -d 10 -p 181\n"
	"                                    # what its goroutines wait for as well\n"
	"    goprofile -K -d 10 -p 181       # with the kernel's frames\n"
	"    goprofile -d 10 --cgroup /sys/fs/cgroup/system.slice/etcd.service\n"
	"                                    # in all Go programs of a service\n"
	"    goprofile --labels=handler -d 10 -p 181\n"
	"                                    # by this label of goroutines\n"
	"    goprofile -f -d 30 -p 181 > out.stacks\n"
	"                                    # for flamegraph.pl\n"
	"    goprofile --pprof cpu.pb.gz -d 30 -p 181\n"
	"                                    # for go tool pprof\n";

int main(int argc, char **argv)
{
	struct options opts;
	struct sampling sampling = {.opts = &opts, .hz = DEFAULT_HZ};
	const struct options_tool tool = {
		.name = "goprofile",
		.about = "Profile what Go programs spend processor time on, by sampling their "
			 "stacks",
		.args = "[BINARY] [DURATION]",
		.shared = "pidTDj",
		.binaries = true,
		.numbers = OPTIONS_DURATION,
		.process = true,
		.running = true,
		.pprof = true,
		.own = own_options,
		.take = take_option,
		.ctx = &sampling,
		.examples = examples,
	};
	int status;

	sampling.tool = &tool;
	return options_main(&tool, argc, argv, &opts, &status) ? sampling_run(&sampling) : status;
}

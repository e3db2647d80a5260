// SPDX-License-Identifier: Apache-2.0
/* goallocs: counts allocations of Go programs by type and stack, as they happen. */
#include "blocked/allocs.h"

static const char examples[] =
	"    goallocs -d 1 -p 181           # what does process 181 allocate, and where?\n"
	"    goallocs -C -d 1 -p 181        # by type alone\n"
	"    goallocs --every 524288 etcd   # samples, of all processes of this program\n"
	"    goallocs -f -d 5 -p 181 > out.stacks\n"
	"                                   # for flamegraph.pl, by bytes\n"
	"    goallocs --pprof out.pb.gz -d 5 -p 181\n"
	"                                   # for go tool pprof\n"
	"    goallocs -C -- ./app arg       # run a program, from its first instruction\n";

int main(int argc, char **argv)
{
	return allocs_main(examples, argc, argv);
}

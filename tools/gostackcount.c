// SPDX-License-Identifier: Apache-2.0
/* gostackcount: counts calls of Go functions by the stacks that lead to them. */
#include "blocked/stackcounts.h"

static const char examples[] =
	"    gostackcount 'etcd:*/wal.(*WAL).sync'    # who calls it?\n"
	"    gostackcount -p 181 runtime.mallocgc     # who allocates, in process 181?\n"
	"    gostackcount -d 10 -p 181 'net.(*conn).*'\n"
	"                                             # these methods, for ten seconds\n"
	"    gostackcount -P './server:main.handle'   # each process by itself\n"
	"    gostackcount -f -d 30 -p 181 'main.*' > out.stacks\n"
	"                                             # for flamegraph.pl\n"
	"    gostackcount --pprof out.pb.gz -p 181 'main.*'\n"
	"                                             # for go tool pprof\n"
	"    gostackcount 'main.*' -- ./app arg       # run a program\n";

int main(int argc, char **argv)
{
	static const struct stackcounts_tool tool = {
		.name = "gostackcount",
		.about = "Count calls of Go functions by stack, exactly",
		.examples = examples,
		.bpf_file = "gostackcount.bpf.c",
		.type = "stackcount",
		.value = {"count", "count"},
	};

	return stackcounts_main(&tool, argc, argv);
}

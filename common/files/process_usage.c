// SPDX-License-Identifier: Apache-2.0
#include "files/process_usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/process_text_internal.h"

#define SECOND_NS UINT64_C(1000000000)

/* proc_pid_stat(5): fields 14 utime, 15 stime, 20 num_threads and 24 rss, after the name, which may
 * have any bytes in it. */
static bool parse(const char *text, struct process_usage *out)
{
	uint64_t user, system, threads, pages;
	const char *rest = strrchr(text, ')');

	if (!rest || sscanf(rest + 1,
			    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64
			    " %*s %*s %*s %*s %" SCNu64 " %*s %*s %*s %" SCNu64,
			    &user, &system, &threads, &pages) != 4)
		return false;
	*out = (struct process_usage){
		.threads = threads,
		.rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE),
		.cpu_ns = (user + system) * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK)),
	};
	return true;
}

bool process_usage(const struct process *proc, struct process_usage *out)
{
	FILE *in = process_text(proc, "stat");
	char text[1024];

	if (!in)
		return false;
	size_t len = fread(text, 1, sizeof(text) - 1, in);

	fclose(in);
	text[len] = '\0';
	return parse(text, out);
}

// SPDX-License-Identifier: Apache-2.0
/* gostat: numbers of running Go programs, a line each interval: goroutines, heap, collections. */
#include <stdio.h>
#include <stdlib.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/process.h"
#include "gostat/stats.h"
#include "gostat/stats_memory.h"
#include "gostat/stats_metrics.h"
#include "gostat/stats_print.h"
#include "readers/readertool.h"
#include "readers/readmetrics.h"
#include "readers/statlook.h"
#include "tracing/toolrun.h"

enum { LINES = 20 };

struct gostat {
	struct readertool rt;
	bool memory;  /* what resident memory consists of, in place of lines */
	size_t lines; /* since the head was printed */
	/* with --metrics, of all that were looked at; and of the last one: */
	struct stats_published *published;
	size_t published_count, published_cap;
	struct stats_published found;
	/* in the process that reads: */
	struct stats_reader *reader;
	struct stats before;
	bool has_looked;
	bool said_quota; /* that it was used up */
};

static const struct options_tool tool;

/* The caller frees. */
static char *name_of(const struct goprocesses_one *one, const struct stats *now)
{
	return now->comm[0] ? mem_strdup(now->comm) : process_name(one->proc);
}

static int look_at(void *ctx, const struct goprocesses_one *one, bool first,
		   struct profile *profile, uint64_t *count, struct errmsg *err)
{
	struct gostat *gostat = ctx;
	struct stats now;

	(void)profile;
	(void)err;
	statlook(&gostat->reader, one, &now);
	char *comm = name_of(one, &now);
	const struct stats_subject of = {.pid = one->pid,
					 .name = one->name,
					 .comm = comm,
					 .release = goprocess_release(one->gp)};

	if (gostat->memory)
		stats_read_lazyfree(one->proc, &now);
	if (!gostat->rt.opts.json && gostat->has_looked && !gostat->said_quota)
		gostat->said_quota =
			stats_print_quota(stderr, "gostat", &of, &now, &gostat->before);
	if (gostat->memory && !gostat->rt.opts.json && !first)
		fputc('\n', stdout);
	if (gostat->rt.opts.json)
		stats_print_json(stdout, &of, &now,
				 gostat->rt.opts.timestamp ? toolrun_json_time : NULL);
	else if (gostat->memory)
		stats_memory_print(stdout, &of, &now);
	else
		stats_print_line(stdout, &of, &now, gostat->has_looked ? &gostat->before : NULL);
	gostat->before = now;
	gostat->has_looked = true;
	*count = 1;
	free(comm);
	return 0;
}

static void end_looking(void *ctx)
{
	struct gostat *gostat = ctx;

	stats_reader_free(gostat->reader);
}

/* --- what is published in place of lines --- */

static int look_for_metrics(void *ctx, const struct goprocesses_one *one, struct errmsg *err)
{
	struct gostat *gostat = ctx;
	struct stats_published *found = &gostat->found;

	(void)err;
	*found = (struct stats_published){.pid = one->pid, .release = goprocess_release(one->gp)};
	statlook(&gostat->reader, one, &found->now);
	char *comm = name_of(one, &found->now);

	snprintf(found->comm, sizeof(found->comm), "%s", comm);
	free(comm);
	return 0;
}

static void publish_anew(void *ctx)
{
	struct gostat *gostat = ctx;

	gostat->published_count = 0;
}

static void publish_found(void *ctx)
{
	struct gostat *gostat = ctx;

	gostat->published = mem_grow(gostat->published, gostat->published_count,
				     &gostat->published_cap, sizeof(*gostat->published));
	gostat->published[gostat->published_count++] = gostat->found;
}

static void write_metrics(void *ctx, FILE *out, bool openmetrics)
{
	const struct gostat *gostat = ctx;

	stats_metrics_write(out, openmetrics, gostat->published, gostat->published_count);
}

/* --- lines --- */

/* Of several processes, each time; of one, before it has scrolled away. */
static void begin(void *ctx, bool first)
{
	struct gostat *gostat = ctx;
	bool several = gostat->rt.procs.count > 1;

	if (gostat->rt.opts.json)
		return;
	if (gostat->rt.opts.timestamp || (several && !first))
		toolrun_print_time(&gostat->rt.opts);
	if (gostat->memory)
		return;
	if (first || several || ++gostat->lines == LINES) {
		stats_print_head(stdout);
		gostat->lines = 0;
	}
}

/* --- options --- */

enum { OPT_MEMORY = 1024 };

static const struct options_def own_defs[] = {
	READERTOOL_DEFS,
	READERTOOL_WATCH_DEFS,
	{OPT_MEMORY, "memory", NULL, "what resident memory consists of; once, without -i"},
	{0},
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gostat *gostat = ctx;

	if (letter == OPT_MEMORY) {
		gostat->memory = true;
		gostat->rt.each_interval = false;
		return 0;
	}
	return readertool_take(&gostat->rt, letter, value, err);
}

static int check(void *ctx, struct errmsg *err)
{
	const struct gostat *gostat = ctx;

	if (gostat->rt.opts.metrics && gostat->memory)
		return errmsg_set(err, "--metrics prints no lines: not with --memory");
	return 0;
}

static const char examples[] = "    gostat 181                 # a line a second, until Ctrl-C\n"
			       "    gostat -i 10 -d 1m 181     # every 10 seconds, for a minute\n"
			       "    gostat --all               # all Go programs\n"
			       "    gostat -n etcd             # whose name contains etcd\n"
			       "    gostat --memory 181        # what its memory consists of\n"
			       "    gostat --metrics :9437 --all # all numbers for Prometheus\n"
			       "    gostat -j 181              # one JSON object a line\n";

static struct gostat gostat;

static const struct options_tool tool = {.name = "gostat",
					 .about =
						 "Show goroutines, heap and collections of running "
						 "Go programs",
					 .args = "[PID...]",
					 .process = true,
					 .shared = "Tj",
					 .metrics = true,
					 .own = own_defs,
					 .take = take_option,
					 .ctx = &gostat,
					 .examples = examples};

static const struct readmetrics_source metrics = {.look = look_for_metrics,
						  .end = end_looking,
						  .result = &gostat.found,
						  .result_len = sizeof(gostat.found),
						  .begin = publish_anew,
						  .found = publish_found,
						  .write = write_metrics,
						  .ctx = &gostat};

int main(int argc, char **argv)
{
	gostat.rt = (struct readertool){.tool = &tool,
					.each_interval = true,
					.pids_only = true,
					.look = look_at,
					.end = end_looking,
					.begin = begin,
					.ready = check,
					.metrics = &metrics,
					.ctx = &gostat};
	int status = readertool_main(&gostat.rt, argc, argv);

	free(gostat.published);
	return status;
}

// SPDX-License-Identifier: Apache-2.0
#include "event_subject.h"

#include <stdio.h>
#include <stdlib.h>

#include "quiet.h"
#include "program/toolchain.h"
#include "selection/selection.h"
#include "sites/site.h"

void event_make(struct event_subject *s, const char *probe, const struct traceprint_config *config)
{
	event_make_sized(s, 16, probe, config);
}

void event_make_sized(struct event_subject *s, uint32_t args, const char *probe,
		      const struct traceprint_config *config)
{
	struct errmsg err = {0};

	*s = (struct event_subject){.programs = {&s->prog}, .probes = {(char *)probe}};
	gofile_make(&s->o.g, 23, EM_X86_64);
	elffile_u32(s->o.g.f, gofile_record(&s->o.g, 0) + 8, args);
	open_it(&s->o);
	s->prog = (struct program){.toolchain = &toolchain_gc,
				   .path = "prog",
				   .img = s->o.img,
				   .tab = s->o.tab,
				   .release = 23};
	s->plan_config =
		(struct traceplan_config){.probes = s->probes, .probe_count = 1, .string_max = 80};
	s->tracer = (struct tracer){.config = &s->tracer_config,
				    .programs = s->programs,
				    .program_count = 1,
				    .runtimes = &s->runtime,
				    .sel = selection_new(&(struct selection_want){.args = true})};
	s->plan = traceplan_new(&s->plan_config, &err);
	if (!s->plan)
		fail_msg("%s", err.text);
	selection_group(s->tracer.sel, 0, traceplan_returns(s->plan)[0]);
	if (selection_add(s->tracer.sel, &s->prog, "main.a", &err) ||
	    traceplan_make(s->plan, &s->tracer, &err))
		fail_msg("%s: %s", probe, err.text);
	s->print = traceprint_new(config, s->plan, &s->tracer);
	s->event.head = (struct trace_event){.goid = 1,
					     .latency_ns = 7,
					     .tgid = 16061,
					     .tid = 16063,
					     .cpu = 2,
					     .comm = "functions"};
	s->len = sizeof(s->event.head) + traceplan_item(s->plan, 0)->record_size;
}

void event_drop(struct event_subject *s)
{
	traceprint_free(s->print);
	traceplan_free(s->plan);
	selection_free(s->tracer.sel);
	for (size_t i = 0; i < s->tracer.insert_count; i++)
		free((char *)s->tracer.inserts[i].text);
	free(s->tracer.inserts);
	free(s->tracer.defs);
	close_it(&s->o);
}

char *event_print(struct event_subject *s, bool *more)
{
	struct quiet *quiet;

	fflush(stdout);
	quiet = quiet_begin();
	*more = traceprint_event(&s->event, s->len, s->print);
	fflush(stdout);
	return quiet_end(quiet);
}

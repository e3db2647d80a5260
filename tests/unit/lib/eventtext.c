// SPDX-License-Identifier: Apache-2.0
#include "eventtext.h"

#include <stdarg.h>
#include <stdio.h>

#include "fakekernel.h"
#include "bpf-src/shared/trace.h"
#include "steps.h"
#include "unit.h"

enum { PID = 77, TID = 78 };

static char line[4096];
static size_t len;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	len += vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
	assert_true(len < sizeof(line));
}

static void add_number(const char *name, u64 number)
{
	if (number)
		add(" %s%llx", name, number);
}

static bool is_unwritten(uint64_t word)
{
	return word == 0xa5a5a5a5a5a5a5a5;
}

static void add_words(const uint64_t *words, size_t count)
{
	size_t run = 0;

	for (size_t i = 0; i < count; i++) {
		run = is_unwritten(words[i]) ? run + 1 : 0;
		if (!run)
			add(" %llx", (u64)words[i]);
		else if (i + 1 == count || !is_unwritten(words[i + 1]))
			add(run > 1 ? " ?%zu" : " ?", run);
	}
}

static void add_event(const struct trace_event *event, uint64_t bias)
{
	static const char *const hows[] = {"entry", "returned", "panicked", "exited",
					   "left",  "jumped",   "unseen"};

	assert_true(event->how < sizeof(hows) / sizeof(*hows));
	add("%u %s @%llu", event->item, hows[event->how], event->time_ns);
	if (event->latency_ns)
		add("+%llu", event->latency_ns);
	add_number("g", event->goid);
	add_number("by g", event->parent_goid);
	add_number("at ", event->created_by);
	if (event->bias != bias)
		add(" bias %llx", event->bias);
	if (event->tgid != PID || event->tid != TID || strcmp(event->comm, "bank") != 0)
		add(" %s %u/%u", event->comm, event->tgid, event->tid);
	add_number("cpu ", event->cpu);
	add_number("root ", event->root);
	add_number("user ", event->user_frames);
	add_number("kernel ", event->kernel_frames);
}

void eventtext_all(uint64_t bias)
{
	for (size_t i = 0; i < fakekernel.event_count; i++) {
		const struct fakeevent *as = &fakekernel.events[i];
		const struct trace_event *event = (const struct trace_event *)as->data;

		len = 0;
		add_event(event, bias);
		if (as->flags != BPF_RB_NO_WAKEUP)
			add(as->flags == BPF_RB_FORCE_WAKEUP ? " wakes" : " flags");
		add(":");
		add_words((const uint64_t *)(event + 1), (as->len - sizeof(*event)) / 8);
		steps_are("%s", line);
	}
	fakekernel.event_count = 0;
}

void eventtext_words(const char *what, const uint64_t *words, size_t count)
{
	len = 0;
	add("%s", what);
	add_words(words, count);
	steps_are("%s", line);
}

// SPDX-License-Identifier: Apache-2.0
#include "collections/collections.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PROCESSES = 1024 };
#define SECOND_NS UINT64_C(1000000000)

struct runtime { /* of a process */
	struct process_key process;
	uint64_t used_ns;
	bool stopping, collecting; /* `stop` and `collection` are going on */
	uint64_t told_begin_ns, told_stopped_ns;
	struct stop stop;
	struct collection collection;
};

struct collections {
	struct collections_report report;
	struct runtime *all[PROCESSES];
	size_t count;
};

struct collections *collections_new(const struct collections_report *report)
{
	struct collections *collections = mem_zalloc(1, sizeof(*collections));

	collections->report = *report;
	return collections;
}

void collections_free(struct collections *collections)
{
	if (!collections)
		return;
	for (size_t i = 0; i < collections->count; i++)
		free(collections->all[i]);
	free(collections);
}

/* That of the event's process. The one that was used least recently makes room. */
static struct runtime *runtime_of(struct collections *collections, const struct gc_event *event)
{
	size_t oldest = 0;

	for (size_t i = 0; i < collections->count; i++) {
		struct runtime *rt = collections->all[i];

		if (!memcmp(&rt->process, &event->process, sizeof(rt->process)))
			return rt;
		if (rt->used_ns < collections->all[oldest]->used_ns)
			oldest = i;
	}
	if (collections->count < PROCESSES) {
		oldest = collections->count++;
		collections->all[oldest] = mem_alloc(sizeof(**collections->all));
	}
	*collections->all[oldest] = (struct runtime){.process = event->process};
	return collections->all[oldest];
}

static bool is_between(uint64_t ns, uint64_t first, uint64_t last)
{
	return ns >= first && ns <= last;
}

/* --- stops --- */

static void begin_stop(struct runtime *rt, const struct gc_event *event, const struct stop *stop)
{
	rt->stopping = true;
	rt->told_begin_ns = rt->told_stopped_ns = 0;
	rt->stop = *stop;
	rt->stop.begin_ns = event->time_ns;
	rt->stop.goid = event->goid;
	rt->stop.stack = event->stack;
	rt->stop.pid = event->pid;
}

/* The runtime's own times, where it tells them, are without what probes take. */
static void end_stop(struct runtime *rt, const struct gc_event *event)
{
	struct stop *stop = &rt->stop;
	uint64_t end = event->time_ns, stopped = stop->begin_ns + stop->stopping_ns;

	if (is_between(rt->told_begin_ns, stop->begin_ns, end)) {
		stop->begin_ns = rt->told_begin_ns;
		if (is_between(rt->told_stopped_ns, stop->begin_ns, end))
			stopped = rt->told_stopped_ns;
	}
	if (is_between(event->told[0], stop->begin_ns, end))
		end = event->told[0];
	stop->ns = end - stop->begin_ns;
	stop->stopping_ns = stopped > stop->begin_ns ? stopped - stop->begin_ns : 0;
	if (stop->stopping_ns > stop->ns)
		stop->stopping_ns = stop->ns;
}

/* --- collections --- */

static void add_stop(struct collection *collection, const struct stop *stop)
{
	if (collection->stop_count < COLLECTION_STOPS)
		collection->stops[collection->stop_count++] = *stop;
	else
		collection->stops_left_out++;
}

static void begin_collection(struct runtime *rt, const struct gc_event *event)
{
	rt->collecting = true;
	rt->collection =
		(struct collection){.pid = event->pid, .begun = true, .trigger = rt->stop.trigger};
	add_stop(&rt->collection, &rt->stop);
}

/* Has the collection ended with the stop that is over? Its mark termination is begun anew where
 * there was something to mark yet; then the runtime has not noted an end. */
static bool has_ended(const struct runtime *rt, const struct gc_event *event)
{
	uint64_t end = event->numbers.end_ns;

	return !end || is_between(end, rt->stop.begin_ns, event->time_ns);
}

static uint64_t since(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

/* To Go 1.21 the runtime tells nothing of a stop but what it notes of collections. */
static void correct_stop(struct stop *stop, uint64_t begin, uint64_t end)
{
	uint64_t earlier = since(begin, stop->begin_ns);

	if (begin > stop->begin_ns || earlier >= SECOND_NS ||
	    !is_between(end, stop->begin_ns, stop->begin_ns + stop->ns))
		return;
	stop->ns = end - begin;
	stop->begin_ns = begin;
	stop->stopping_ns += earlier;
	if (stop->stopping_ns > stop->ns)
		stop->stopping_ns = stop->ns;
}

/* Do the times that the runtime has noted agree with those of the stops? It notes the first one
 * before it begins to stop the world, for which it may have to wait. */
static bool are_right(const struct collection *all, uint64_t end_ns)
{
	const struct gc_numbers *n = &all->numbers;

	return n->sweep_term_ns && n->sweep_term_ns <= n->mark_ns &&
	       n->mark_ns <= n->mark_term_ns && n->mark_term_ns <= n->end_ns &&
	       n->end_ns <= end_ns &&
	       (!all->begun || since(n->sweep_term_ns, all->stops[0].begin_ns) < SECOND_NS);
}

static void correct(struct collection *all, bool told)
{
	const struct gc_numbers *n = &all->numbers;
	struct stop *first = &all->stops[0], *last = &all->stops[all->stop_count - 1];
	uint64_t end_ns = last->begin_ns + last->ns;

	if (!told && all->begun)
		correct_stop(first, n->sweep_term_ns, n->mark_ns);
	if (!told && all->stop_count - all->begun == 1)
		correct_stop(last, n->mark_term_ns, n->end_ns);
	if (are_right(all, end_ns)) {
		all->ns = n->end_ns - n->sweep_term_ns;
		all->mark_ns = n->mark_term_ns - n->mark_ns;
		return;
	}
	all->ns = since(first->begin_ns, last->begin_ns + last->ns);
	all->mark_ns = first == last ? 0 : since(first->begin_ns + first->ns, last->begin_ns);
}

static void end_mark(struct collections *collections, struct runtime *rt,
		     const struct gc_event *event)
{
	struct collection *all = &rt->collection;

	if (!rt->collecting)
		*all = (struct collection){.pid = event->pid, .trigger = GC_TRIGGER_UNKNOWN};
	rt->collecting = true;
	add_stop(all, &rt->stop);
	if (!has_ended(rt, event))
		return;
	all->numbers = event->numbers;
	correct(all, rt->told_begin_ns != 0);
	rt->collecting = false;
	collections->report.collection(collections->report.ctx, all);
}

static void start_world(struct collections *collections, struct runtime *rt,
			const struct gc_event *event)
{
	if (!rt->stopping)
		return;
	rt->stopping = false;
	end_stop(rt, event);
	if (rt->stop.reason.gc == STOP_SWEEP_TERMINATION)
		begin_collection(rt, event);
	else if (rt->stop.reason.gc == STOP_MARK_TERMINATION)
		end_mark(collections, rt, event);
	else
		collections->report.stop(collections->report.ctx, &rt->stop);
}

void collections_event(struct collections *collections, const struct gc_event *event,
		       const struct stop *stop)
{
	struct runtime *rt = runtime_of(collections, event);

	rt->used_ns = event->time_ns;
	switch (event->kind) {
	case GC_STOP:
		begin_stop(rt, event, stop);
		break;
	case GC_LAST:
		rt->stop.last_goid = event->goid;
		rt->stop.last_stack = event->stack;
		break;
	case GC_STOPPED:
		rt->stop.stopping_ns = event->time_ns - rt->stop.begin_ns;
		break;
	case GC_START:
		rt->told_begin_ns = event->told[0];
		rt->told_stopped_ns = event->told[1];
		break;
	default:
		start_world(collections, rt, event);
	}
}

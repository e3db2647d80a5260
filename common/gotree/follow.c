// SPDX-License-Identifier: Apache-2.0
#include "gotree/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "gotree/calltree_internal.h"
#include "gotree/started_internal.h"
#include "kernel/bpfmap.h"
#include "kernel/processes.h"
#include "program/program.h"
#include "roots/channels.h"
#include "roots/starts.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

#define MS UINT64_C(1000000)
/* Goroutines tell that they are done, as by a sync.WaitGroup, before they end: one that ends so
 * soon after ROOT's call has not gone on. */
#define GRACE_NS (5 * MS)
/* So long after the tool has deleted the request, no probe still writes to a tree of it. */
#define IDLE_NS (2000 * MS)
/* A call of ROOT whose event has not come until then has lost it. */
#define LOST_NS (10000 * MS)

static const char asked[] = "--follow";

/* Several that are started at once may be a few more than the limit. */
enum { READ_MAX = TREE_GOROUTINES + 64 };

struct left { /* a goroutine that went on */
	struct goroutine_key key;
	uint64_t since_ns;
};

struct follow {
	bool channels;
	int trees, requests, received, values; /* maps; the last two with channels */
	size_t first_channel; /* of the selection's items; before it stand those of starts */
	const struct program *prog;
	struct tracer_plan *plans;
	uint64_t probe;          /* address in the file of that in newproc1 */
	struct tree *tree;       /* what is being read */
	struct started *started; /* what was read last */
	struct left *left;
	size_t left_count, left_cap;
};

struct follow *follow_new(void)
{
	struct follow *follow = mem_zalloc(1, sizeof(*follow));

	follow->tree = mem_zalloc(1, sizeof(*follow->tree));
	follow->started = started_new();
	return follow;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	started_free(follow->started);
	free(follow->tree);
	free(follow->plans);
	free(follow->left);
	free(follow);
}

void follow_channels(struct follow *follow)
{
	follow->channels = true;
}

bool follow_has_channels(const struct follow *follow)
{
	return follow->channels;
}

/* --- what is traced --- */

int follow_plan(struct follow *follow, struct tracer *tracer, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);

	follow->prog = tracer_program(tracer, 0);
	if (starts_plan(tracer, asked, err))
		return -1;
	follow->first_channel = sel->item_count;
	if (follow->channels && channels_plan(tracer, err))
		return -1;
	follow->plans = mem_zalloc(sel->item_count, sizeof(*follow->plans));
	for (size_t i = 0; i < sel->item_count; i++)
		if (sel->items[i].runtime)
			follow->plans[i].part = 1 + (i >= follow->first_channel);
	tracer_set_plans(tracer, follow->plans);
	tracer_set_parts(tracer, 2 + follow->channels);
	tracer_define(tracer, "FOLLOW", 1);
	return 0;
}

int follow_begin(struct follow *follow, const struct tracer *tracer, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);

	follow->trees = tracer_map(tracer, "trees");
	follow->requests = tracer_map(tracer, "requests");
	if (follow->channels) {
		follow->received = tracer_map(tracer, "received");
		follow->values = tracer_map(tracer, "channel_values");
	}
	for (size_t i = 0; i < follow->first_channel; i++)
		if (sel->items[i].runtime == FOLLOW_START)
			follow->probe = sel->items[i].sites.entry.addr;
	return starts_check(tracer, asked, err);
}

/* --- what was started --- */

static struct goroutine_key key_of(const struct tree_head *head)
{
	struct goroutine_key key = head->who;

	key.id = tree_id(head);
	return key;
}

/* The tree with this id, of this call of ROOT, into follow->tree. */
static bool read_tree(struct follow *follow, const struct tree_request *request, uint64_t id)
{
	struct goroutine_key key = request->who;

	key.id = id;
	return !bpfmap_lookup(follow->trees, &key, follow->tree) &&
	       !memcmp(&follow->tree->head.request, request, sizeof(*request)) &&
	       calltree_is_whole(follow->tree);
}

/* Reads the trees of goroutines that were started, `newest` last, and of those that they started.
 */
static void read_started(struct follow *follow, const struct tree_request *request, uint64_t newest)
{
	uint64_t later[READ_MAX + 1]; /* goids; each that is read adds one at most */
	size_t count = 0;

	later[count++] = newest;
	while (count && started_count(follow->started) < READ_MAX) {
		uint64_t goid = later[--count];

		if (!goid || !read_tree(follow, request, goid | GOROUTINE_STARTED))
			continue;
		later[count++] = follow->tree->head.before;
		later[count++] = follow->tree->head.newest;
		started_add(follow->started, follow->tree);
	}
}

/* Reads all trees of goroutines that were started below, `newest` by ROOT's, and of those that
 * received values. */
static void read_trees(struct follow *follow, const struct tree_request *request, uint64_t newest)
{
	struct tree_followed followed;

	started_clear(follow->started);
	read_started(follow, request, newest);
	if (!follow->channels || bpfmap_lookup(follow->requests, request, &followed))
		return;
	for (uint64_t n = 1; n <= followed.count && n <= READ_MAX; n++) {
		if (started_count(follow->started) == READ_MAX ||
		    !read_tree(follow, request, tree_given_id(followed.number, n)))
			continue;
		uint64_t by_it = follow->tree->head.newest;

		started_add(follow->started, follow->tree);
		read_started(follow, request, by_it);
	}
}

static void wait_millisecond(void)
{
	const struct timespec time = {.tv_nsec = MS};

	nanosleep(&time, NULL);
}

/* As read_trees(), of a call of ROOT that ended at end_ns, until all have ended as well or have
 * gone on for long enough. */
static void read_ended(struct follow *follow, const struct tree_head *head, uint64_t end_ns)
{
	read_trees(follow, &head->request, head->newest);
	while (started_running(follow->started) && clock_ns() < end_ns + GRACE_NS) {
		wait_millisecond();
		read_trees(follow, &head->request, head->newest);
	}
}

/* What has ended is deleted; of what has not, a probe may still write to the tree. */
static void delete_trees(struct follow *follow, const struct tree_request *request)
{
	bpfmap_delete(follow->requests, request);
	for (size_t i = 0; i < started_count(follow->started); i++) {
		const struct tree_head *head = started_head(follow->started, i);
		struct goroutine_key key = key_of(head);

		if (head->end_ns) {
			bpfmap_delete(follow->trees, &key);
			continue;
		}
		follow->left = mem_grow(follow->left, follow->left_count, &follow->left_cap,
					sizeof(*follow->left));
		follow->left[follow->left_count++] = (struct left){key, clock_ns()};
	}
}

void follow_gather(struct follow *follow, struct calltree *tree)
{
	const struct tree_head *head = &tree->head;
	const struct tree_call *root = &tree->calls[0];
	uint64_t end_ns = root->start_ns + root->latency_ns;
	bool goes_on = root->how == TREE_RUNNING;

	tree->followed = true;
	if (!head->request.start_ns)
		return;
	if (goes_on)
		read_trees(follow, &head->request, head->newest);
	else
		read_ended(follow, head, end_ns);
	if (!goes_on)
		delete_trees(follow, &head->request);
	const struct started_of of = {.tab = follow->prog->tab,
				      .probe = follow->probe,
				      .end_ns = end_ns,
				      .grace_ns = goes_on ? 0 : GRACE_NS};

	started_join(follow->started, tree, &of);
}

void follow_forget(struct follow *follow, const struct tree_head *head)
{
	if (!head->request.start_ns)
		return;
	read_trees(follow, &head->request, head->newest);
	delete_trees(follow, &head->request);
}

/* --- what is left of it --- */

static int forget_lost(const void *key, const void *value, void *arg)
{
	struct follow *follow = arg;
	struct tree_followed followed;
	struct tree_head head = {0};

	memcpy(&followed, value, sizeof(followed));
	memcpy(&head.request, key, sizeof(head.request));
	head.newest = followed.newest;
	if (followed.end_ns && followed.end_ns + LOST_NS < clock_ns())
		follow_forget(follow, &head);
	return 0;
}

void follow_sweep(struct follow *follow)
{
	uint64_t now = clock_ns();
	size_t kept = 0;

	for (size_t i = 0; i < follow->left_count; i++) {
		if (follow->left[i].since_ns + IDLE_NS < now)
			bpfmap_delete(follow->trees, &follow->left[i].key);
		else
			follow->left[kept++] = follow->left[i];
	}
	follow->left_count = kept;
	bpfmap_each(follow->requests, sizeof(struct tree_request), sizeof(struct tree_followed),
		    forget_lost, follow);
}

void follow_sweep_gone(const struct follow *follow, const struct processes *gone)
{
	processes_sweep(gone, follow->trees, NULL, NULL);
	processes_sweep(gone, follow->requests, NULL, NULL);
	if (!follow->channels)
		return;
	processes_sweep(gone, follow->received, NULL, NULL);
	processes_sweep(gone, follow->values, NULL, NULL);
}

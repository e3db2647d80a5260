// SPDX-License-Identifier: Apache-2.0
/* All that gostacks prints of a snapshot, in each of its forms, and which goroutines it picks.
 * Stacks are of addresses that lead to frames by a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "gofile_open.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "golang/pattern.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "gostacks/goroutines_changes_internal.h"
#include "gostacks/goroutines_pick.h"
#include "gostacks/goroutines_print.h"
#include "gostacks/goroutines_print_internal.h"
#include "gostacks/groups_internal.h"

#define MINUTE 60000000000ull

enum { NOW = 100, MAX = 16, BIAS = 0x1000, NAME = 0x30 };
enum addr { MAIN = 1, WORK, WAIT, PANIC, GO_MAIN, GO_WORK, MANY = 100 };

/* --- in place of frames/ and program/ --- */

static struct frame frame_at(uint64_t addr, size_t number)
{
	static const struct frame frames[] = {
		[MAIN] = {.func = "main.main", .file = "m.go", .line = 5, .off = 0x1c},
		[WORK] = {.func = "main.Map[go.shape.int]", .file = NULL, .line = 0},
		[WAIT] = {.func = "main.wait;x",
			  .file = "w\n.go",
			  .line = 31,
			  .inlined = true,
			  .off = 9},
		[PANIC] = {.func = "runtime.gopanic", .file = "p.go", .line = 7, .off = 0x10},
		[GO_MAIN] = {.func = "main.main", .file = "m.go", .line = 12, .off = 0x30},
		[GO_WORK] = {.func = "main.work", .file = "w.go", .line = 40, .off = 0x44},
	};
	struct frame frame = frames[addr < MANY ? addr : WORK];

	frame.number = number;
	return frame;
}

void frames_each(const struct frames *frames, const uint64_t *addrs, size_t count,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	(void)frames;
	for (size_t i = 0; i < count; i++) {
		struct frame frame = frame_at(addrs[i], i);

		fn(ctx, &frame);
	}
}

void frames_all(const struct frames *frames, const uint64_t *addrs, size_t count,
		void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	frames_each(frames, addrs, count, fn, ctx);
}

size_t frames_shown(const struct frames *frames, const uint64_t *addrs, size_t count)
{
	(void)frames;
	(void)addrs;
	return count;
}

bool frames_go_statement(const struct frames *frames, uint64_t addr, struct frame *out)
{
	(void)frames;
	*out = frame_at(addr, 0);
	return true;
}

/* --- a snapshot --- */

struct made {
	struct goroutine all[MAX];
	unsigned char picked[MAX];
	struct snapshot snap;
	struct goroutines_view view;
};

static struct frames frames = {.bias = BIAS};
static char receive[] = "chan receive", sleep_reason[] = "sleep";

static void make(struct made *m)
{
	*m = (struct made){.snap = {.all = m->all, .when_ns = NOW * MINUTE}};
	m->snap.reasons[14] = receive;
	m->snap.reasons[19] = sleep_reason;
	m->snap.stacks = snapshot_stacks_new();
	m->view = (struct goroutines_view){.snap = &m->snap,
					   .picked = m->picked,
					   .frames = &frames,
					   .pid = 4711,
					   .release = 27,
					   .name = "jobs"};
}

/* One more, with a stack of these frames */
static struct goroutine *add(struct made *m, uint8_t status, uint8_t reason, uint64_t created_by,
			     const uint64_t *stack, size_t count)
{
	struct goroutine *g = &m->all[m->snap.count];

	*g = (struct goroutine){.goid = m->snap.count + 1,
				.status = status,
				.reason = reason,
				.created_by = created_by,
				.args = SNAPSHOT_NO_ARGS,
				.parent = created_by == GO_WORK ? 1 : 0};
	m->picked[m->snap.count++] = 1;
	assert_true(snapshot_stacks_add(m->snap.stacks, stack, count, &g->stack));
	return g;
}

#define STACK(...)                                                                                 \
	(const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

/* The first one; two of three that are alike; one that runs, one that is cut, and one of none. */
static void make_some(struct made *m)
{
	make(m);
	struct goroutine *g = add(m, GOROUTINE_WAITING, 19, 0, STACK(WAIT, MAIN));

	g->waitsince = (NOW - 3) * MINUTE;
	g->locked = true;
	add(m, GOROUTINE_WAITING, 14, GO_WORK, STACK(WORK));
	add(m, GOROUTINE_WAITING, 14, GO_WORK, STACK(WORK))->bubble = 2;
	add(m, GOROUTINE_RUNNING, 0, GO_MAIN, NULL, 0)->stack_state = STACK_RUNNING;
	add(m, GOROUTINE_RUNNABLE, 0, GO_MAIN, STACK(PANIC, WORK))->stack_state = STACK_CUT;
	m->all[4].interrupted = true;
	add(m, GOROUTINE_SYSCALL, 0, 0, NULL, 0)->stack_state = STACK_CHANGED;
	add(m, GOROUTINE_PREEMPTED, 0, 0, NULL, 0)->stack_state = STACK_UNKNOWN;
}

static void free_made(struct made *m)
{
	snapshot_stacks_free(m->snap.stacks);
}

static void expect(void (*print)(FILE *out, const struct goroutines_view *view),
		   const struct goroutines_view *view, const char *wanted)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print(out, view);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_groups(void **state)
{
	struct made m;

	(void)state;
	make_some(&m);
	expect(goroutines_print_groups, &m.view,
	       "COUNT   STATE\n"
	       "     2  chan receive\n"
	       "        main.Map[...]\n"
	       "        created by main.work w.go:40\n"
	       "     1  sleep, 3 minutes\n"
	       "        main.wait;x w\\n.go:31\n"
	       "        main.main m.go:5\n"
	       "     1  running\n"
	       "        created by main.main m.go:12\n"
	       "     1  runnable\n"
	       "        runtime.gopanic p.go:7\n"
	       "        main.Map[...]\n"
	       "        ...\n"
	       "        created by main.main m.go:12\n"
	       "     1  syscall\n"
	       "        (goroutine changed while it was read; stack unavailable)\n"
	       "     1  preempted\n"
	       "        (stack unavailable)\n");
	memset(m.picked, 0, sizeof(m.picked));
	expect(goroutines_print_groups, &m.view, "");
	free_made(&m);
}

/* The innermost frames alone, and how many there are beside them */
static void test_many_frames(void **state)
{
	char wanted[2048], *at;
	struct made m;

	(void)state;
	for (size_t count = 9; count <= 12; count++) {
		uint64_t stack[12];

		make(&m);
		for (size_t i = 0; i < count; i++)
			stack[i] = MAIN;
		add(&m, GOROUTINE_RUNNABLE, 0, 0, stack, count)->stack_state = STACK_CUT;
		at = stpcpy(wanted, "COUNT   STATE\n     1  runnable\n");
		for (size_t i = 0; i < count && i < 10; i++)
			at = stpcpy(at, "        main.main m.go:5\n");
		if (count > 10)
			sprintf(at, "        ... %zu more\n", count - 10);
		else
			strcpy(at, "        ...\n");
		expect(goroutines_print_groups, &m.view, wanted);
		free_made(&m);
	}
}

static void test_each(void **state)
{
	struct made m;

	(void)state;
	make_some(&m);
	expect(goroutines_print_each, &m.view,
	       "goroutine 1 [sleep, 3 minutes, locked to thread]:\n"
	       "main.wait;x(...)\n\tw\\n.go:31\n"
	       "main.main(...)\n\tm.go:5 +0x1c\n"
	       "\n"
	       "goroutine 2 [chan receive]:\n"
	       "main.Map[...](...)\n\t?:0\n"
	       "created by main.work in goroutine 1\n\tw.go:40 +0x44\n"
	       "\n"
	       "goroutine 3 [chan receive, synctest bubble 2]:\n"
	       "main.Map[...](...)\n\t?:0\n"
	       "created by main.work in goroutine 1\n\tw.go:40 +0x44\n"
	       "\n"
	       "goroutine 4 [running]:\n"
	       "\tgoroutine running on other thread; stack unavailable\n"
	       "created by main.main\n\tm.go:12 +0x30\n"
	       "\n"
	       "goroutine 5 [runnable]:\n"
	       "panic(...)\n\tp.go:7 +0xf\n"
	       "main.Map[...](...)\n\t?:0\n"
	       "...more frames elided...\n"
	       "created by main.main\n\tm.go:12 +0x30\n"
	       "\n"
	       "goroutine 6 [syscall]:\n"
	       "\tgoroutine changed while it was read; stack unavailable\n"
	       "\n"
	       "goroutine 7 [preempted]:\n"
	       "\tstack unavailable\n");
	memset(m.picked, 0, 6);
	expect(goroutines_print_each, &m.view, "goroutine 7 [preempted]:\n\tstack unavailable\n");
	free_made(&m);
}

static void test_folded(void **state)
{
	struct made m;

	(void)state;
	make_some(&m);
	m.picked[6] = 0;
	expect(goroutines_print_folded, &m.view,
	       "main.Map[...];[chan receive] 2\n"
	       "main.main;main.wait,x;[sleep] 1\n"
	       "[running] 1\n"
	       "...;main.Map[...];runtime.gopanic;[runnable] 1\n"
	       "[syscall] 1\n");
	m.view.several = true;
	memset(m.picked, 0, 5);
	expect(goroutines_print_folded, &m.view, "jobs-4711;[syscall] 1\n");
	free_made(&m);
}

#define MAP_FRAME "{\"func\":\"main.Map[go.shape.int]\",\"file\":null,\"line\":null}"
#define GO_WORK_MEMBERS "{\"func\":\"main.work\",\"file\":\"w.go\",\"line\":40"
#define GO_MAIN_MEMBERS "{\"func\":\"main.main\",\"file\":\"m.go\",\"line\":12"

static void test_json(void **state)
{
	struct made m;

	(void)state;
	make_some(&m);
	expect(goroutines_print_json, &m.view,
	       "{\"type\":\"goroutine\",\"pid\":4711,\"goid\":1,\"state\":\"sleep\","
	       "\"since_ns\":180000000000,\"labels\":null,\"stack\":\"whole\",\"frames\":["
	       "{\"func\":\"main.wait;x\",\"file\":\"w\\n.go\",\"line\":31},"
	       "{\"func\":\"main.main\",\"file\":\"m.go\",\"line\":5}],\"created_by\":null,"
	       "\"waits_for\":null}\n"
	       "{\"type\":\"goroutine\",\"pid\":4711,\"goid\":2,\"state\":\"chan receive\","
	       "\"since_ns\":null,\"labels\":null,\"stack\":\"whole\",\"frames\":[" MAP_FRAME
	       "],\"created_by\":" GO_WORK_MEMBERS ",\"goid\":1},\"waits_for\":null}\n"
	       "{\"type\":\"goroutine\",\"pid\":4711,\"goid\":3,\"state\":\"chan receive\","
	       "\"since_ns\":null,\"labels\":null,\"stack\":\"whole\",\"frames\":[" MAP_FRAME
	       "],\"created_by\":" GO_WORK_MEMBERS ",\"goid\":1},\"waits_for\":null}\n"
	       "{\"type\":\"goroutine\",\"pid\":4711,\"goid\":4,\"state\":\"running\","
	       "\"since_ns\":null,\"labels\":null,\"stack\":\"running\",\"frames\":[],"
	       "\"created_by\":" GO_MAIN_MEMBERS ",\"goid\":null},\"waits_for\":null}\n"
	       "{\"type\":\"goroutine\",\"pid\":4711,\"goid\":5,\"state\":\"runnable\","
	       "\"since_ns\":null,\"labels\":null,\"stack\":\"cut\",\"frames\":["
	       "{\"func\":\"runtime.gopanic\",\"file\":\"p.go\",\"line\":7}," MAP_FRAME
	       "],\"created_by\":" GO_MAIN_MEMBERS ",\"goid\":null},\"waits_for\":null}\n"
	       "{\"type\":\"goroutine\",\"pid\":4711,\"goid\":6,\"state\":\"syscall\","
	       "\"since_ns\":null,\"labels\":null,\"stack\":\"changed\",\"frames\":[],"
	       "\"created_by\":null,\"waits_for\":null}\n"
	       "{\"type\":\"goroutine\",\"pid\":4711,\"goid\":7,\"state\":\"preempted\","
	       "\"since_ns\":null,\"labels\":null,\"stack\":\"unknown\",\"frames\":[],"
	       "\"created_by\":null,\"waits_for\":null}\n");
	free_made(&m);
}

/* --- labels --- */

struct label_bytes {
	uint32_t key_len, value_len;
	char text[16];
};

/* As snapshot_labels.c keeps them: sets of none, of none known, then one of two labels. */
static void put_labels(struct made *m, uint32_t cut)
{
	static uint8_t bytes[128];
	const uint32_t ends[] = {UINT32_MAX, 0, UINT32_MAX, 1}, end[] = {UINT32_MAX, cut};
	const uint32_t first[] = {4, 2}, second[] = {3, 0};
	size_t at = 0;

#define PUT(from, size) (memcpy(bytes + at, from, size), at += (size))
	PUT(ends, 16);
	PUT(first, 8);
	PUT("useru1", 6);
	PUT(second, 8);
	PUT("a b", 3);
	PUT(end, 8);
	m->snap.labels = (struct snapshot_labels){.bytes = bytes, .len = at, .cap = at};
}

static void test_labels(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	put_labels(&m, 0);
	m.view.shows_labels = m.view.has_labels = true;
	add(&m, GOROUTINE_RUNNABLE, 0, 0, NULL, 0);
	add(&m, GOROUTINE_RUNNABLE, 0, 0, NULL, 0)->labels = 8;
	add(&m, GOROUTINE_RUNNABLE, 0, 0, NULL, 0)->labels = 16;
	expect(goroutines_print_each, &m.view,
	       "goroutine 1 [runnable]:\n\n"
	       "goroutine 2 [runnable] {...}:\n\n"
	       "goroutine 3 [runnable] {user: u1, \"a b\": }:\n");
#define ONE(goid, labels)                                                                          \
	"{\"type\":\"goroutine\",\"pid\":4711,\"goid\":" goid ",\"state\":\"runnable\","           \
	"\"since_ns\":null," labels ",\"stack\":\"whole\",\"frames\":[],\"created_by\":null,"      \
	"\"waits_for\":null}\n"
	expect(goroutines_print_json, &m.view,
	       ONE("1", "\"labels\":{}") ONE("2", "\"labels\":{},\"labels_cut\":true")
		       ONE("3", "\"labels\":{\"user\":\"u1\",\"a b\":\"\"}"));
	put_labels(&m, 1);
	m.picked[0] = m.picked[1] = 0;
	expect(goroutines_print_each, &m.view,
	       "goroutine 3 [runnable] {user: u1, \"a b\": , ...}:\n");
	m.view.shows_labels = false;
	expect(goroutines_print_each, &m.view, "goroutine 3 [runnable]:\n");
	free_made(&m);
}

/* --- what two snapshots differ in --- */

static struct made before, now;

static void print_changes(FILE *out, const struct goroutines_view *view)
{
	goroutines_print_changes(out, &before.view, view);
}

static void put_time(struct json *json)
{
	json_member_string(json, "time", "12:00:00");
}

static void json_changes(FILE *out, const struct goroutines_view *view)
{
	goroutines_json_changes(out, &before.view, view, put_time);
}

static void json_first(FILE *out, const struct goroutines_view *view)
{
	goroutines_json_changes(out, NULL, view, NULL);
}

static void add_many(struct made *m, size_t count, uint8_t reason, uint64_t created_by,
		     const uint64_t *stack, size_t frames_count)
{
	while (count--)
		add(m, GOROUTINE_WAITING, reason, created_by, stack, frames_count);
}

/* The numbers of stacks differ in the two. */
static void test_changes(void **state)
{
	(void)state;
	make(&before);
	make(&now);
	add_many(&before, 1, 19, 0, STACK(MAIN));
	add_many(&now, 1, 19, 0, STACK(MAIN));
	add_many(&before, 3, 14, GO_MAIN, STACK(WORK));
	add_many(&before, 2, 19, 0, STACK(WAIT));
	add_many(&now, 1, 14, GO_WORK, STACK(WORK, MAIN)); /* new */
	add_many(&now, 2, 14, GO_MAIN, STACK(WORK));       /* fewer */
	add_many(&now, 5, 19, 0, STACK(WAIT));             /* more */
	expect(print_changes, &now.view,
	       "COUNT   CHANGE   STATE\n"
	       "     5      +3   sleep\n"
	       "        main.wait;x w\\n.go:31\n"
	       "     1      +1   chan receive\n"
	       "        main.Map[...]\n"
	       "        main.main m.go:5\n"
	       "        created by main.work w.go:40\n"
	       "     2      -1   chan receive\n"
	       "        main.Map[...]\n"
	       "        created by main.main m.go:12\n");
	memset(now.picked, 0, 4);
	expect(json_changes, &now.view,
	       "{\"type\":\"change\",\"time\":\"12:00:00\",\"pid\":4711,\"count\":5,\"change\":3,"
	       "\"state\":\"sleep\",\"stack\":\"whole\",\"frames\":[{\"func\":\"main.wait;x\","
	       "\"file\":\"w\\n.go\",\"line\":31}],\"created_by\":null}\n"
	       "{\"type\":\"change\",\"time\":\"12:00:00\",\"pid\":4711,\"count\":0,\"change\":-1,"
	       "\"state\":\"sleep\",\"stack\":\"whole\",\"frames\":[{\"func\":\"main.main\","
	       "\"file\":\"m.go\",\"line\":5}],\"created_by\":null}\n"
	       "{\"type\":\"change\",\"time\":\"12:00:00\",\"pid\":4711,\"count\":0,\"change\":-3,"
	       "\"state\":\"chan receive\",\"stack\":\"whole\",\"frames\":[" MAP_FRAME
	       "],\"created_by\":" GO_MAIN_MEMBERS "}}\n");
	expect(json_first, &now.view,
	       "{\"type\":\"change\",\"pid\":4711,\"count\":5,\"change\":5,\"state\":\"sleep\","
	       "\"stack\":\"whole\",\"frames\":[{\"func\":\"main.wait;x\",\"file\":\"w\\n.go\","
	       "\"line\":31}],\"created_by\":null}\n");
	free_made(&before);
	free_made(&now);
}

/* Each of what makes two goroutines unlike, alone */
static void test_unlike(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		char *text = NULL;
		size_t len, lines = 0;
		FILE *out = open_memstream(&text, &len);
		struct goroutine *g;

		make(&before);
		make(&now);
		add(&before, GOROUTINE_WAITING, 14, GO_MAIN, STACK(WORK));
		g = add(&now, i == 0 ? GOROUTINE_LEAKED : GOROUTINE_WAITING, i == 1 ? 19 : 14,
			i == 2 ? GO_WORK : GO_MAIN,
			i == 3 ? (const uint64_t[]){MAIN} : (const uint64_t[]){WORK, WORK},
			i == 4 ? 2 : 1);
		if (i == 5)
			g->stack_state = STACK_CUT;
		goroutines_print_changes(out, &before.view, &now.view);
		fclose(out);
		for (const char *at = text; (at = strstr(at, "1   ")); at++)
			lines++;
		assert_int_equal(lines, 3); /* as 1, +1 and -1 */
		free(text);
		free_made(&before);
		free_made(&now);
		/* and they are two groups */
		make(&before);
		add(&before, GOROUTINE_WAITING, 14, GO_MAIN, STACK(WORK));
		g = add(&before, i == 0 ? GOROUTINE_LEAKED : GOROUTINE_WAITING, i == 1 ? 19 : 14,
			i == 2 ? GO_WORK : GO_MAIN,
			i == 3 ? (const uint64_t[]){MAIN} : (const uint64_t[]){WORK, WORK},
			i == 4 ? 2 : 1);
		if (i == 5)
			g->stack_state = STACK_CUT;
		size_t count;

		free(groups_make(&before.snap, NULL, &count));
		assert_int_equal(count, 2);
		free_made(&before);
	}
}

/* --- which are picked --- */

static void expect_picked(const struct goroutines_pick *pick, const struct made *m,
			  const char *wanted)
{
	char got[MAX + 1] = "";
	size_t count, n = 0;
	unsigned char *picked = goroutines_pick(pick, &m->snap, &frames, &count);

	for (size_t i = 0; i < m->snap.count; i++)
		if (picked[i])
			got[n++] = '0' + m->all[i].goid;
	assert_string_equal(got, wanted);
	assert_int_equal(count, n);
	free(picked);
}

/* The function of goroutines that begin in main.b has this name. */
static void name_start(struct opened *o, const char *name)
{
	if (frames.tab)
		close_it(o);
	gofile_make(&o->g, 27, EM_X86_64);
	elffile_bytes(o->g.f, GOFILE_TAB + GOFILE_NAMES + NAME, name, strlen(name) + 1);
	elffile_u32(o->g.f, gofile_record(&o->g, 1) + 4, NAME);
	open_it(o);
	frames.tab = o->tab;
}

static void test_picked(void **state)
{
	struct opened o = {0};
	struct pattern *patterns[2];
	struct errmsg *none = NULL;
	struct made m;

	(void)state;
	make_some(&m);
	patterns[0] = pattern_new("main.M*", false, (void *)none);
	patterns[1] = pattern_new("main.wait*", false, (void *)none);
	expect_picked(&(struct goroutines_pick){0}, &m, "1234567");
	expect_picked(&(struct goroutines_pick){.goid = 4}, &m, "4");
	expect_picked(&(struct goroutines_pick){.goid = 9}, &m, "");
	expect_picked(&(struct goroutines_pick){.state = "waiting"}, &m, "123");
	expect_picked(&(struct goroutines_pick){.state = "chan receive"}, &m, "23");
	expect_picked(&(struct goroutines_pick){.state = "runnable"}, &m, "5");
	expect_picked(&(struct goroutines_pick){.patterns = patterns, .pattern_count = 1}, &m,
		      "235");
	expect_picked(&(struct goroutines_pick){.patterns = patterns, .pattern_count = 2}, &m,
		      "1235");
	expect_picked(&(struct goroutines_pick){.patterns = patterns,
						.pattern_count = 2,
						.state = "waiting"},
		      &m, "123");
	pattern_free(patterns[0]);
	pattern_free(patterns[1]);
	/* the runtime's own */
	name_start(&o, "runtime.bgsweep");
	for (int i = 1; i < 4; i++)
		m.all[i].start = BIAS + ELFFILE_TEXT + 0x40;
	m.all[5].start = BIAS + ELFFILE_TEXT;
	expect_picked(&(struct goroutines_pick){0}, &m, "1567");
	expect_picked(&(struct goroutines_pick){.system = true}, &m, "1234567");
	expect_picked(&(struct goroutines_pick){.goid = 2}, &m, "2");
	name_start(&o, "runtime.main");
	expect_picked(&(struct goroutines_pick){0}, &m, "1234567");
	/* those that call what the program has given are not, while they do */
	name_start(&o, "runtime.runfinq");
	expect_picked(&(struct goroutines_pick){0}, &m, "123567");
	name_start(&o, "runtime.runCleanups");
	m.all[1].stack = m.all[4].stack;
	expect_picked(&(struct goroutines_pick){0}, &m, "12567");
	name_start(&o, "runtime.runFinalizers");
	expect_picked(&(struct goroutines_pick){0}, &m, "12567");
	close_it(&o);
	frames.tab = NULL;
	free_made(&m);
}

static void test_left_out(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len), *was = stderr;
	const struct snapshot snap = {.left_out = 3, .unread = 5, .gave_up = true}, none = {0};

	(void)state;
	stderr = out;
	goroutines_print_left_out(&none, 0, "gostacks");
	goroutines_print_left_out(&none, 7, "gostacks");
	goroutines_print_left_out(&snap, 4, "goleaks");
	fclose(out);
	stderr = was;
	assert_string_equal(text, "gostacks: 7 more goroutines are not shown\n"
				  "goleaks: 7 more goroutines are not shown\n"
				  "goleaks: 5 goroutines could not be read\n"
				  "goleaks: some stacks are left out: too many different return "
				  "addresses\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),  cmocka_unit_test(test_many_frames),
		cmocka_unit_test(test_each),    cmocka_unit_test(test_folded),
		cmocka_unit_test(test_json),    cmocka_unit_test(test_labels),
		cmocka_unit_test(test_changes), cmocka_unit_test(test_unlike),
		cmocka_unit_test(test_picked),  cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

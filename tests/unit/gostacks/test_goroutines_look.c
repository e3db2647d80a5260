// SPDX-License-Identifier: Apache-2.0
/* What gostacks prints of one process by its options, what it asks for, and when it lets the
 * process stand still. The process, its snapshot and its files are the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "files/process_files.h"
#include "files/process_stop.h"
#include "golang/pattern.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "gostacks/goprocess_internal.h"
#include "gostacks/goprocesses.h"
#include "gostacks/goroutines_look.h"
#include "gostacks/goroutines_print.h"
#include "printed.h"
#include "profile/profile.h"
#include "profile/profile_show.h"
#include "waits/wait_objects.h"

static char did[512]; /* what was asked for, in its order */
static int snapshots_fail, stop_fails;
static size_t count; /* goroutines that there are */
static bool labels_known, labels_shown, with_objects, in_call;
static const struct frames frames = {.release = 27};
static char its_name[] = "ba\nnk";
static struct goprocesses_one one;

static void note(const char *text)
{
	strcat(strcat(did, *did ? " " : ""), text);
}

/* --- in place of the process --- */

const struct frames *goprocess_frames(const struct goprocess *gp)
{
	assert_ptr_equal(gp, did);
	return &frames;
}

int goprocess_release(const struct goprocess *gp)
{
	assert_ptr_equal(gp, did);
	return 27;
}

bool goprocess_has_labels(const struct goprocess *gp)
{
	(void)gp;
	return labels_known;
}

bool goprocess_shows_labels(const struct goprocess *gp)
{
	(void)gp;
	return labels_shown;
}

/* Goroutines 1 and 2 are runnable, others wait in a select. */
int goprocess_snapshot(struct goprocess *gp, const struct goprocess_wanted *wanted,
		       struct snapshot *out, struct errmsg *err)
{
	char text[32] = "snapshot";

	assert_ptr_equal(gp, did);
	sprintf(text + strlen(text), "%s%s%s%s", wanted->args ? "+args" : "",
		wanted->waits ? "+waits" : "", wanted->labels ? "+labels" : "",
		wanted->stop ? "+stopped" : "");
	note(text);
	if (snapshots_fail && !--snapshots_fail)
		return errmsg_set(err, "it has ended");
	*out = (struct snapshot){.count = count, .stacks = snapshot_stacks_new()};
	out->all = mem_zalloc(count + 1, sizeof(*out->all));
	out->reasons[5] = mem_strdup("select");
	for (size_t i = 0; i < count; i++) {
		out->all[i] =
			(struct goroutine){.goid = i + 1,
					   .status = i < 2 ? GOROUTINE_RUNNABLE : GOROUTINE_WAITING,
					   .reason = 5,
					   .args = SNAPSHOT_NO_ARGS};
		assert_true(snapshot_stacks_add(out->stacks, NULL, 0, &out->all[i].stack));
	}
	if (in_call) { /* the last one */
		out->waits.all = mem_zalloc(1, sizeof(*out->waits.all));
		out->waits.all[0] = (struct wait){.kind = WAIT_SYSCALL, .object = SYS_write};
		out->all[count - 1].wait_count = 1;
	}
	return 0;
}

struct wait_objects *goprocess_waits(struct goprocess *gp, struct snapshot *snap)
{
	assert_ptr_equal(gp, did);
	assert_non_null(snap->all);
	return with_objects ? (struct wait_objects *)did : NULL;
}

const char *goprocess_type(void *ctx, uint64_t addr)
{
	(void)ctx;
	(void)addr;
	return NULL;
}

enum arch goprocess_arch(const struct goprocess *gp)
{
	(void)gp;
	return ARCH_AMD64;
}

int goprocess_core_call(void *ctx, pid_t tid)
{
	assert_ptr_equal(ctx, did);
	return tid;
}

void wait_objects_free(struct wait_objects *objects)
{
	if (objects)
		note("free");
}

const struct goroutine *wait_objects_next_in_circle(const struct wait_objects *objects,
						    const struct goroutine *g, bool *perhaps)
{
	assert_ptr_equal(objects, did);
	if (g->goid == 1)
		note("circle");
	if (perhaps)
		*perhaps = false;
	return NULL;
}

struct process_files *process_files_new(const struct process *proc)
{
	assert_ptr_equal(proc, its_name);
	note("files");
	return (struct process_files *)its_name;
}

void process_files_free(struct process_files *files)
{
	if (files)
		note("files-");
}

struct process_stop *process_stop_new(const struct process *proc, struct errmsg *err)
{
	assert_ptr_equal(proc, its_name);
	note("stop");
	if (stop_fails) {
		errmsg_set(err, "not permitted");
		return NULL;
	}
	return (struct process_stop *)its_name;
}

uint64_t process_stop_end(struct process_stop *stop)
{
	assert_ptr_equal(stop, its_name);
	note("go");
	return 12345678;
}

/* --- of goroutines that wait for anything, of which there are none --- */

const struct wait_channel *wait_objects_channel(const struct wait_objects *objects,
						const struct wait *wait)
{
	(void)objects;
	(void)wait;
	return NULL;
}

const struct wait_lock *wait_objects_lock(const struct wait_objects *objects,
					  const struct wait *wait)
{
	(void)objects;
	(void)wait;
	return NULL;
}

const char *wait_objects_name(const struct wait_objects *objects, const struct wait *wait)
{
	(void)objects;
	(void)wait;
	return NULL;
}

enum wait_direction wait_objects_direction(const struct wait_objects *objects,
					   const struct goroutine *g, const struct wait *wait)
{
	(void)objects;
	(void)g;
	(void)wait;
	return WAIT_UNKNOWN;
}

char *process_files_name(struct process_files *files, int fd)
{
	(void)files;
	(void)fd;
	return NULL;
}

int process_files_syscall(struct process_files *files, pid_t tid)
{
	assert_ptr_equal(files, its_name);
	return tid;
}

/* --- looks --- */

static int begin(void **state)
{
	(void)state;
	one = (struct goprocesses_one){.pid = 181,
				       .proc = (struct process *)its_name,
				       .gp = (struct goprocess *)did,
				       .name = its_name};
	snapshots_fail = stop_fails = 0;
	count = 3;
	labels_known = labels_shown = with_objects = in_call = false;
	*did = '\0';
	return 0;
}

static void expect(struct goroutines_look *look, const char *asked, uint64_t want_count,
		   const char *want)
{
	struct errmsg err = {0};
	uint64_t got = 99;

	*did = '\0';
	printed_begin();
	assert_int_equal(goroutines_look(look, &one, &got, &err), 0);
	printed_expect(want);
	assert_string_equal(did, asked);
	assert_int_equal(got, want_count);
}

#define TITLE "181 ba\\nnk (go1.27): 3 goroutines: 2 runnable, 1 waiting\n"
#define GROUPS "COUNT   STATE\n     2  runnable\n     1  select\n"
#define EACH "goroutine 1 [runnable]:\n\ngoroutine 2 [runnable]:\n\ngoroutine 3 [select]:\n"

static void test_text(void **state)
{
	struct goroutines_look look = {0};

	(void)state;
	expect(&look, "snapshot+waits files files-", 3, TITLE GROUPS);
	expect(&look, "snapshot+waits files files-", 3, "\n" TITLE GROUPS);
	look = (struct goroutines_look){.each = true};
	expect(&look, "snapshot+waits+labels files files-", 3, EACH);
	one.several = true;
	expect(&look, "snapshot+waits+labels files files-", 3, "\n" TITLE "\n" EACH);
	look = (struct goroutines_look){.full = true};
	expect(&look, "snapshot+args files files-", 3, TITLE GROUPS);
	with_objects = true;
	look = (struct goroutines_look){0};
	expect(&look, "snapshot+waits files circle free files-", 3, TITLE GROUPS);
	one.proc = NULL; /* of a core file */
	with_objects = false;
	expect(&look, "snapshot+waits", 3, "\n" TITLE GROUPS);
}

/* The number of a system call that a thread is in, /proc tells, or the core file: here it is the
 * thread's. */
static void test_calls(void **state)
{
	struct goroutines_look look = {.each = true};

	(void)state;
	in_call = with_objects = true;
	expect(&look, "snapshot+waits+labels files free files-", 3,
	       EACH "\tis in system call write, thread 1\n");
	one.proc = NULL;
	look = (struct goroutines_look){.each = true};
	expect(&look, "snapshot+waits+labels free", 3,
	       EACH "\tis in system call write, thread 1\n");
}

/* One goroutine; nothing that is asked for, of one process and of several */
static void test_picked(void **state)
{
	struct goroutines_look look = {.pick.goid = 2};

	(void)state;
	expect(&look, "snapshot+waits+labels files files-", 1, "goroutine 2 [runnable]:\n");
	look = (struct goroutines_look){.pick.goid = 9};
	expect(&look, "snapshot+waits+labels files files-", 0, "");
	look = (struct goroutines_look){.pick.state = "sleep"};
	expect(&look, "snapshot+waits files files-", 0, "181 ba\\nnk (go1.27): 0 goroutines\n");
	one.several = true;
	expect(&look, "snapshot+waits files files-", 0, "");
}

static void expect_said(struct goroutines_look *look, const char *want)
{
	FILE *theirs = stderr;
	struct errmsg err = {0};
	uint64_t got;
	char *said;
	size_t len;

	printed_begin();
	stderr = open_memstream(&said, &len);
	assert_int_equal(goroutines_look(look, &one, &got, &err), 0);
	fclose(stderr);
	stderr = theirs;
	free(printed_end());
	assert_string_equal(said, want);
	free(said);
	goroutines_look_end(look);
}

#define NONE_IN(state, there) "gostacks: no goroutine is in state \"" state "\"" there "\n"

/* That none is in a state that there is not is no answer. */
static void test_states(void **state)
{
	static char no_such[] = "main.none";
	struct pattern *pattern = pattern_new(no_such, false, NULL);
	struct goroutines_look look = {.pick = {.state = "sle\x1b"}};

	(void)state;
	count = 5;
	expect_said(&look, NONE_IN("sle\\x1b", "; there are 3 in \"select\", 2 in \"runnable\""));
	look.pick.state = "Sel"; /* a part of it */
	expect_said(&look, NONE_IN("Sel", "; there are 3 in \"select\""));
	look.again = look.json = true;
	expect_said(&look, NONE_IN("Sel", "; there are 3 in \"select\""));
	look = (struct goroutines_look){.pick = {.state = "running"}};
	expect_said(&look, "");
	look.pick = (struct goroutines_pick){
		.state = "select", .patterns = &pattern, .pattern_count = 1};
	expect_said(&look, "");
	count = 0;
	look.pick.state = "sleep";
	expect_said(&look, NONE_IN("sleep", ""));
	one.several = true;
	expect_said(&look, "");
	pattern_free(pattern);
}

static void test_forms(void **state)
{
	struct goroutines_look look = {.folded = true};

	(void)state;
	expect(&look, "snapshot files files-", 3, "[runnable] 2\n[select] 1\n");
	count = 1;
	look = (struct goroutines_look){.json = true};
	expect(&look, "snapshot+waits+labels files files-", 1,
	       "{\"type\":\"goroutine\",\"pid\":181,\"goid\":1,\"state\":\"runnable\","
	       "\"since_ns\":null,\"labels\":null,\"stack\":\"whole\",\"frames\":[],"
	       "\"created_by\":null,\"waits_for\":null}\n");
	labels_known = true;
	expect(&look, "snapshot+waits+labels files files-", 1,
	       "{\"type\":\"goroutine\",\"pid\":181,\"goid\":1,\"state\":\"runnable\","
	       "\"since_ns\":null,\"labels\":{},\"stack\":\"whole\",\"frames\":[],"
	       "\"created_by\":null,\"waits_for\":null}\n");
}

static void test_profile(void **state)
{
	struct goroutines_look look = {.profile = profile_new(&goroutines_profile_spec)};
	const struct profile_style style = {.type = "row", .json = true};

	(void)state;
	expect(&look, "snapshot+waits files files-", 3, TITLE GROUPS);
	printed_begin();
	profile_show(stdout, look.profile, &style);
	char *text = printed_end();

	assert_non_null(strstr(text, "\"state\":\"runnable\""));
	assert_non_null(strstr(text, "\"comm\":\"ba\\nnk\""));
	free(text);
	profile_free(look.profile);
}

/* --- while it stands still --- */

static char *stderr_text;
static size_t stderr_len;
static FILE *was;

static void errors_begin(void)
{
	was = stderr;
	stderr = open_memstream(&stderr_text, &stderr_len);
}

static void errors_expect(const char *want)
{
	fclose(stderr);
	stderr = was;
	assert_string_equal(stderr_text, want);
	free(stderr_text);
}

static void expect_failure(struct goroutines_look *look, const char *asked, const char *why)
{
	struct errmsg err = {0};
	uint64_t got;

	*did = '\0';
	printed_begin();
	assert_int_equal(goroutines_look(look, &one, &got, &err), -1);
	printed_expect("");
	assert_string_equal(did, asked);
	assert_string_equal(err.text, why);
}

/* What is in the program's file is read before. */
static void test_stop(void **state)
{
	struct goroutines_look look = {.stop = true};

	(void)state;
	with_objects = true;
	errors_begin();
	expect(&look, "snapshot+waits free stop snapshot+waits+stopped go files circle free files-",
	       3, TITLE GROUPS);
	errors_expect("gostacks: process 181 was stopped for 12.345 ms\n");
	snapshots_fail = 1;
	expect_failure(&look, "snapshot+waits", "it has ended");
	snapshots_fail = 2;
	errors_begin();
	expect_failure(&look, "snapshot+waits free stop snapshot+waits+stopped go", "it has ended");
	errors_expect("gostacks: process 181 was stopped for 12.345 ms\n");
	stop_fails = 1;
	expect_failure(&look, "snapshot+waits free stop", "not permitted");
	look.stop = false;
	snapshots_fail = 1;
	expect_failure(&look, "snapshot+waits", "it has ended");
}

/* --- again and again --- */

static void put_time(struct json *json)
{
	json_member_string(json, "time", "12:00:00");
}

static void test_again(void **state)
{
	struct goroutines_look look = {.again = true, .each = true};

	(void)state;
	expect(&look, "snapshot files", 99, TITLE GROUPS);
	count = 5;
	expect(&look, "snapshot files files-", 99,
	       "181 ba\\nnk (go1.27): 5 goroutines: 2 runnable, 3 waiting\n"
	       "COUNT   CHANGE   STATE\n     3      +2   select\n");
	snapshots_fail = 1;
	expect_failure(&look, "snapshot", "it has ended");
	look.json = true;
	look.json_time = put_time;
	count = 4;
	expect(&look, "snapshot files files-", 99,
	       "{\"type\":\"change\",\"time\":\"12:00:00\",\"pid\":181,\"count\":2,\"change\":-1,"
	       "\"state\":\"select\",\"stack\":\"whole\",\"frames\":[],\"created_by\":null}\n");
	goroutines_look_end(&look);
	assert_null(look.before);
	goroutines_look_end(&look);
	count = 1;
	expect(&look, "snapshot files", 99,
	       "{\"type\":\"change\",\"time\":\"12:00:00\",\"pid\":181,\"count\":1,\"change\":1,"
	       "\"state\":\"runnable\",\"stack\":\"whole\",\"frames\":[],\"created_by\":null}\n");
	goroutines_look_end(&look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_text, begin),
		cmocka_unit_test_setup(test_calls, begin),
		cmocka_unit_test_setup(test_picked, begin),
		cmocka_unit_test_setup(test_states, begin),
		cmocka_unit_test_setup(test_forms, begin),
		cmocka_unit_test_setup(test_profile, begin),
		cmocka_unit_test_setup(test_stop, begin),
		cmocka_unit_test_setup(test_again, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

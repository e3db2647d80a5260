// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/signals.h"
#include "base/worker.h"
#include "unit.h"

enum { LINES = 40000 }; /* more than a pipe holds */

enum request { ADD, PRINT, LEAVE, DIE, HANG };

struct kept {
	int sum;
	char *ended; /* shared with the worker */
};

static void print_lines(void)
{
	for (int i = 0; i < LINES; i++) {
		printf("out %d\n", i);
		if (i % 1000 == 0)
			fprintf(stderr, "err %d\n", i);
	}
}

static void serve(void *ctx, const void *request, size_t len, void *reply)
{
	struct kept *kept = ctx;
	const int *words = request;

	switch (words[0]) {
	case ADD:
		for (size_t i = 1; i < len / sizeof(*words); i++)
			kept->sum += words[i];
		break;
	case PRINT:
		print_lines();
		break;
	case LEAVE:
		exit(3);
	case DIE:
		raise(SIGKILL);
		break;
	default:
		pause();
	}
	memcpy(reply, &kept->sum, sizeof(kept->sum));
}

static void end(void *ctx)
{
	const struct kept *kept = ctx;

	*kept->ended = 'y';
}

static struct worker *start(struct kept *kept)
{
	struct worker_task task = {serve, end, kept, sizeof(int)};
	struct errmsg err = {0};

	kept->sum = 0;
	kept->ended = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(kept->ended, MAP_FAILED);
	struct worker *worker = worker_new(&task, &err);

	assert_non_null(worker);
	return worker;
}

static int ask(struct worker *worker, enum request what, struct errmsg *err)
{
	int request = what, reply;

	err->text[0] = '\0';
	return worker_ask(worker, &request, sizeof(request), &reply, err);
}

/* What it is told stays with it, and not with the tool. */
static void test_keeps(void **state)
{
	struct kept kept;
	struct worker *worker = start(&kept);
	struct errmsg err;
	int reply, large[1 << 17] = {ADD};

	(void)state;
	assert_int_equal(worker_ask(worker, (int[]){ADD, 1, 2}, 12, &reply, &err), 0);
	assert_int_equal(reply, 3);
	for (size_t i = 1; i < sizeof(large) / sizeof(*large); i++)
		large[i] = 1;
	assert_int_equal(worker_ask(worker, large, sizeof(large), &reply, &err), 0);
	assert_int_equal(reply, 3 + (1 << 17) - 1);
	assert_int_equal(kept.sum, 0);
	assert_int_equal(*kept.ended, 0);
	assert_true(worker_free(worker));
	assert_int_equal(*kept.ended, 'y');
}

/* The lines of a file, which are "out 0", "out 1"... */
static int lines_of(FILE *file)
{
	int n = 0, count = 0;

	rewind(file);
	while (fscanf(file, "out %d\n", &n) == 1 && n == count)
		count++;
	return count;
}

/* What it prints is there before its reply is. */
static void test_prints(void **state)
{
	FILE *file = tmpfile(), *none = fopen("/dev/null", "w");
	int saved = dup(STDOUT_FILENO), quiet = dup(STDERR_FILENO);
	struct kept kept;
	struct errmsg err;

	(void)state;
	assert_non_null(file);
	fflush(stdout);
	struct worker *worker = start(&kept);

	dup2(fileno(file), STDOUT_FILENO);
	dup2(fileno(none), STDERR_FILENO);
	int ret = ask(worker, PRINT, &err);

	dup2(saved, STDOUT_FILENO);
	dup2(quiet, STDERR_FILENO);
	assert_int_equal(ret, 0);
	assert_int_equal(lines_of(file), LINES);
	assert_true(worker_free(worker));
	fclose(file);
	fclose(none);
	close(saved);
	close(quiet);
}

static void check_end(enum request what, const char *words)
{
	struct kept kept;
	struct worker *worker = start(&kept);
	struct errmsg err;

	assert_int_equal(ask(worker, what, &err), -1);
	assert_string_equal(err.text, words);
	assert_int_equal(ask(worker, ADD, &err), -1);
	assert_string_not_equal(err.text, "");
	assert_false(worker_free(worker));
}

static void test_ends(void **state)
{
	(void)state;
	check_end(LEAVE, "what reads it has ended");
	check_end(DIE, "what reads it was ended: Killed");
}

/* One that waits is given up, at once if a signal has come; other workers have its pipes, too. */
static void test_hangs(void **state)
{
	struct kept kept, other;
	struct worker *hangs = start(&kept), *works = start(&other);
	struct errmsg err;

	(void)state;
	assert_true(signals_hold() >= 0);
	raise(SIGINT);
	assert_true(signals_came());
	assert_int_equal(ask(hangs, HANG, &err), -1);
	assert_string_equal(err.text, "gave up: the kernel has been waiting for its memory, or a "
				      "file, for 0.2 s");
	assert_int_equal(ask(works, ADD, &err), 0);
	assert_false(worker_free(hangs));
	assert_true(worker_free(works));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps),
		cmocka_unit_test(test_prints),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

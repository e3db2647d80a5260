// SPDX-License-Identifier: Apache-2.0
#include "timerun.h"

#include <stdio.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "faketool.h"
#include "latency/cpu_waits.h"
#include "latency/errors.h"
#include "latency/latency_internal.h"
#include "latency/latency_show.h"
#include "latency/net.h"
#include "latency/states.h"
#include "metrics/reading.h"
#include "roots/roots.h"
#include "unit.h"

enum { PID = 181 };

struct timerun timerun;

void timerun_set(size_t row, uint64_t count, uint64_t ns)
{
	struct latency_report *report = &timerun.reports[row];

	*report = (struct latency_report){.count = count, .total_ns = count * ns, .min_ns = ns};
	report->max_ns = report->hist.min = report->hist.max = ns;
	report->hist.count = count;
	report->hist.total = count * ns;
	report->hist.slots[histogram_index(ns)] = count;
}

/* --- in place of latency --- */

struct latency *latency_new(struct bpfprog *bpf, size_t rows, bool per_row, uint64_t unit_ns)
{
	assert_null(bpf);
	faketool_note("latency %zu%s unit %d\n", rows, per_row ? " apart" : "", (int)unit_ns);
	return FAKETOOL_SOME(latency);
}

void latency_free(struct latency *lat)
{
	assert_true(!lat || lat == FAKETOOL_SOME(latency));
}

int latency_switch(struct latency *lat, bool on)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	return faketool_result(on ? "on" : "off");
}

int latency_sweep(struct latency *lat)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	return faketool_result("sweep");
}

int latency_read(struct latency *lat, bool final)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	return faketool_result(final ? "last read" : "read");
}

int latency_peek(struct latency *lat, bool final)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	return faketool_result(final ? "last peek" : "peek");
}

void latency_row(const struct latency *lat, size_t row, struct latency_report *out)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	*out = timerun.reports[row];
}

uint64_t latency_row_calls(const struct latency *lat, size_t row)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	return timerun.reports[row].count;
}

/* As if all calls were the first row's */
void latency_total(const struct latency *lat, struct latency_report *out)
{
	latency_row(lat, 0, out);
}

void latency_add_reading(const struct latency *lat, size_t row, struct reading *sum)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	sum->calls += timerun.reports[row].count;
	sum->total_ns += timerun.reports[row].total_ns;
}

size_t latency_reading_losses(const struct latency *lat, struct reading_loss *out)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	out[0] = (struct reading_loss){"no_room", 3};
	return 1;
}

uint64_t latency_lost(const struct latency *lat, unsigned loss)
{
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	return loss == 0;
}

uint64_t latency_lost_in_all(const struct latency *lat, unsigned loss)
{
	return 5 * latency_lost(lat, loss);
}

/* --- in place of prices --- */

struct latency_prices *latency_prices_new(const struct selection *sel)
{
	assert_ptr_equal(sel, &faketool.selection);
	return FAKETOOL_SOME(latency_prices);
}

void latency_prices_free(struct latency_prices *prices)
{
	assert_true(!prices || prices == FAKETOOL_SOME(latency_prices));
}

struct latency_price latency_price_row(struct latency_prices *prices, size_t row)
{
	assert_ptr_equal(prices, FAKETOOL_SOME(latency_prices));
	return (struct latency_price){timerun.price.ns ? timerun.price.ns + row : 0,
				      timerun.price.stepped};
}

struct latency_price latency_price_total(struct latency_prices *prices, const struct latency *lat)
{
	assert_ptr_equal(prices, FAKETOOL_SOME(latency_prices));
	assert_ptr_equal(lat, FAKETOOL_SOME(latency));
	return timerun.price;
}

bool latency_price_matters(const struct latency_price *price, const struct latency_report *report,
			   uint64_t unit_ns)
{
	return price->ns && report->count && unit_ns;
}

void latency_price_print(const struct latency_price *price)
{
	printf("price %d%s\n", (int)price->ns, price->stepped ? " stepped" : "");
}

/* --- in place of states --- */

struct states *states_new(void)
{
	return FAKETOOL_SOME(states);
}

void states_watch_threads(struct states *states)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	faketool_result("threads");
}

void states_free(struct states *states)
{
	assert_true(!states || states == FAKETOOL_SOME(states));
}

int states_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(ctx, FAKETOOL_SOME(states));
	assert_null(tracer);
	return faketool_answer("plan states", err);
}

int states_begin(struct states *states, const struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	assert_null(tracer);
	return faketool_answer("begin states", err);
}

void states_stop(struct states *states)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	faketool_result("stop states");
}

int states_read(struct states *states)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	return faketool_result("read states");
}

void states_row(const struct states *states, size_t row, struct states_report *out)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	*out = (struct states_report){.total_ns = timerun.state_ns + row,
				      .is_whole = !timerun.part_is_missing};
}

void states_total(const struct states *states, struct states_report *out)
{
	states_row(states, 0, out);
}

int states_peek(struct states *states, bool final)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	return faketool_result(final ? "last peek at states" : "peek at states");
}

void states_add_reading(const struct states *states, size_t row, struct reading *sum,
			uint64_t *total_ns)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	sum->state_ns[1] += timerun.state_ns;
	*total_ns = row ? *total_ns : timerun.state_ns;
}

const char *states_name(const struct states *states, unsigned state)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	return state == 1 ? "running" : NULL;
}

void states_print(const struct states *states, const struct latency_words *words,
		  const struct states_report *report)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	printf("states %d ns in %s\n", (int)report->total_ns, words->unit);
}

void states_json(const struct states *states, struct json *json, const struct states_report *report)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	json_member_u64(json, "states", report->total_ns);
}

void states_say_cost(const struct states *states, const char *tool)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	fprintf(stderr, "%s: states cost\n", tool);
}

void states_say_losses(const struct states *states, const struct latency_words *words)
{
	assert_ptr_equal(states, FAKETOOL_SOME(states));
	fprintf(stderr, "%s: states of a %s lost\n", words->tool, words->what);
}

/* --- in place of waits for a CPU --- */

struct cpu_waits *cpu_waits_begin(pid_t pid)
{
	faketool_note("waits for a CPU of %d\n", pid);
	return FAKETOOL_SOME(cpu_waits);
}

void cpu_waits_free(struct cpu_waits *waits)
{
	assert_true(!waits || waits == FAKETOOL_SOME(cpu_waits));
}

void cpu_waits_say(struct cpu_waits *waits, const char *tool, const char *hint)
{
	assert_ptr_equal(waits, FAKETOOL_SOME(cpu_waits));
	faketool_note("%s says waits for a CPU: %s\n", tool, hint);
}

pid_t tracer_pid(const struct tracer *tracer)
{
	assert_null(tracer);
	return PID;
}

/* --- in place of errors: main.fast's are not known --- */

struct errors *errors_new(void)
{
	return FAKETOOL_SOME(errors);
}

void errors_free(struct errors *errors)
{
	assert_true(!errors || errors == FAKETOOL_SOME(errors));
}

int errors_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(ctx, FAKETOOL_SOME(errors));
	assert_null(tracer);
	return faketool_answer("plan errors", err);
}

int errors_begin(const struct errors *errors, struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(errors, FAKETOOL_SOME(errors));
	assert_null(tracer);
	return faketool_answer("begin errors", err);
}

int net_begin(const struct tracer *tracer, struct errmsg *err)
{
	assert_null(tracer);
	return faketool_answer("begin net", err);
}

bool errors_counted(const struct errors *errors, size_t row)
{
	assert_ptr_equal(errors, FAKETOOL_SOME(errors));
	return row != 2;
}

/* --- in place of roots --- */

int roots_take(struct roots **roots, const char *root, struct errmsg *err)
{
	if (*roots)
		return errmsg_set(err, "two roots");
	faketool_note("below %s\n", root);
	*roots = FAKETOOL_SOME(roots);
	return 0;
}

void roots_take_channels(struct roots **roots)
{
	faketool_note("channels%s\n", *roots ? "" : " of none");
	*roots = FAKETOOL_SOME(roots);
}

int roots_check(const struct roots *roots, struct errmsg *err)
{
	return roots ? faketool_answer("check", err) : 0;
}

void roots_free(struct roots *roots)
{
	assert_true(!roots || roots == FAKETOOL_SOME(roots));
}

int roots_plan(struct roots *roots, struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(roots, FAKETOOL_SOME(roots));
	assert_null(tracer);
	return faketool_answer("plan roots", err);
}

void roots_serve(struct roots *roots, struct tracer *tracer)
{
	assert_ptr_equal(roots, FAKETOOL_SOME(roots));
	assert_null(tracer);
	faketool_result("serve roots");
}

int roots_begin(struct roots *roots, const struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(roots, FAKETOOL_SOME(roots));
	assert_null(tracer);
	return faketool_answer("begin roots", err);
}

void roots_say_lost(const struct roots *roots, const char *tool)
{
	assert_ptr_equal(roots, FAKETOOL_SOME(roots));
	fprintf(stderr, "%s: roots lost\n", tool);
}

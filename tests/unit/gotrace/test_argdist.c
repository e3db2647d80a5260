// SPDX-License-Identifier: Apache-2.0
/* What goargdist makes of the kernel side's keys: with a map and records of this test's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/argdist_internal.h"
#include "gotrace/traceprint_reader_internal.h"
#include "kernel/bpfdelta.h"
#include "kernel/bpfmap.h"
#include "printed.h"
#include "probespec/probespec.h"
#include "selection/selection.h"
#include "tracing/tracer.h"
#include "unit.h"

enum { KEYS = 9, RECORD = 40, KEYS_MAX = 8, COMM = RECORD - 16, BAD = 3, ITEMS };

struct key {
	struct trace_key_head head;
	union {
		char text[RECORD];
		int64_t number[RECORD / 8]; /* behind 8 bytes of another */
	};
};

static struct counted {
	struct key key;
	uint64_t count;
} keys[KEYS_MAX];
static size_t key_count;
static bool fails, by_delta;

/* The first two items are of PROBE 0, the third of PROBE 1; of the last nothing can be read. */
static struct selection_item selected[ITEMS] = {{.group = 0}, {.group = 0}, {.group = 1}};
static struct selection sel = {.items = selected, .item_count = ITEMS};
static struct tracegen_arg comm[] = {
	{.kind = TRACEGEN_NUMBER},
	{.kind = TRACEGEN_SPECIAL, .special = SPECIAL_CPU, .at = 0},
	{.kind = TRACEGEN_SPECIAL, .special = SPECIAL_COMM, .at = COMM},
};
static struct tracegen_arg number[] = {{.kind = TRACEGEN_NUMBER, .at = 8}};
static struct traceplan_item items[ITEMS] = {
	{.args = comm, .arg_count = 3},
	{.args = comm, .arg_count = 2},
	{.args = number, .arg_count = 1},
};

/* --- of other modules --- */

int tracer_map(const struct tracer *tracer, const char *name)
{
	(void)tracer;
	assert_string_equal(name, "keys");
	return KEYS;
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &sel;
}

int bpfmap_sizes(int fd, size_t *key_size, size_t *value_size)
{
	assert_int_equal(fd, KEYS);
	*key_size = sizeof(struct key);
	*value_size = 8;
	return 0;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_true(!by_delta && fd == KEYS && key_size == sizeof(struct key) && value_size == 8);
	errno = EIO;
	for (size_t i = 0; i < key_count; i++)
		assert_int_equal(fn(&keys[i].key, &keys[i].count, arg), 0);
	return fails ? -1 : 0;
}

struct bpfdelta *bpfdelta_new(int fd)
{
	assert_int_equal(fd, KEYS);
	by_delta = true;
	return mem_zalloc(1, 1);
}

void bpfdelta_free(struct bpfdelta *delta)
{
	free(delta);
}

int bpfdelta_each(struct bpfdelta *delta, void (*fn)(void *ctx, const void *key, uint64_t more),
		  void *ctx)
{
	assert_non_null(delta);
	errno = EIO;
	for (size_t i = 0; i < key_count; i++)
		fn(ctx, &keys[i].key, keys[i].count);
	return fails ? -1 : 0;
}

uint32_t traceplan_record_max(const struct traceplan *plan)
{
	(void)plan;
	return RECORD;
}

const struct probespec *traceplan_spec(const struct traceplan *plan, size_t probe)
{
	static char *texts[] = {"x", "y"};
	static const struct probespec specs[] = {{.arg_texts = texts, .arg_count = 2}, {0}};

	(void)plan;
	return &specs[probe];
}

struct traceprint_reader *traceprint_reader_new(const struct traceplan *plan,
						const struct tracer *tracer, bool no_addresses)
{
	(void)plan;
	(void)tracer;
	assert_false(no_addresses);
	return mem_zalloc(1, sizeof(struct traceprint_reader));
}

void traceprint_reader_free(struct traceprint_reader *reader)
{
	free(reader);
}

bool traceprint_read(const struct traceprint_reader *reader, const void *data, size_t len,
		     struct traceprint_event *out)
{
	const struct trace_event *head = data;

	assert_non_null(reader);
	assert_int_equal(len, sizeof(*head) + RECORD);
	*out = (struct traceprint_event){.head = head,
					 .item = &items[head->item],
					 .record = (const uint8_t *)(head + 1),
					 .record_len = RECORD};
	return head->item != BAD;
}

void traceprint_message(FILE *out, struct traceprint_reader *reader,
			const struct traceprint_event *event)
{
	(void)reader;
	fprintf(out, "%s", (const char *)event->record);
	if (event->comm[0])
		fprintf(out, " of %s", event->comm);
}

void traceprint_json_exprs(struct json *json, struct traceprint_reader *reader,
			   const struct traceprint_event *event)
{
	(void)reader;
	json_object(json);
	json_member_u64(json, "bias", event->head->bias);
	json_member_u64(json, "how", event->head->how);
	json_object_end(json);
}

bool argdist_is_cut(const struct traceprint_event *event)
{
	return event->record[0] == 'c';
}

void argdist_print(const struct argdist_config *config, size_t probe, const char *expr,
		   struct argdist_counts *counts)
{
	assert_non_null(config);
	printf("PROBE %zu \"%s\":\n", probe, expr);
	for (size_t i = 0; i < counts->count; i++)
		printf("%d %s %s\n", (int)counts->values[i].count, counts->values[i].text,
		       counts->values[i].json ? counts->values[i].json : "-");
	for (int i = ARGDIST_ROWS - 1; i >= 0; i--)
		if (counts->below[i])
			printf("row -%d: %d\n", i, (int)counts->below[i]);
	for (int i = 0; i < ARGDIST_ROWS; i++)
		if (counts->rows[i])
			printf("row %d: %d\n", i, (int)counts->rows[i]);
}

/* --- */

static const bool histograms[] = {false, true};
static struct argdist_config config;

static int setup(void **state)
{
	*state = NULL;
	config = (struct argdist_config){
		.histograms = histograms, .probe_count = 2, .string_max = 80};
	key_count = 0;
	fails = by_delta = false;
	return 0;
}

static struct key *add(unsigned item, uint64_t count)
{
	keys[key_count] = (struct counted){.key.head = {.item = item}, .count = count};
	return &keys[key_count++].key;
}

static void add_text(unsigned item, const char *text, uint64_t count)
{
	strcpy(add(item, count)->text, text);
}

static void add_number(int64_t row, int64_t read, uint64_t count)
{
	struct key *key = add(2, count);

	key->number[1] = row;
	key->number[2] = read;
}

static void show(struct argdist *dist, const char *want)
{
	printed_begin();
	assert_int_equal(argdist_show(dist, NULL), 0);
	printed_expect(want);
}

static void expect_lost(const struct argdist *dist, const char *want)
{
	FILE *before = stderr;
	char *text = NULL;
	size_t len;

	stderr = open_memstream(&text, &len);
	argdist_say_lost(dist);
	fclose(stderr);
	stderr = before;
	assert_string_equal(text, want);
	free(text);
}

#define CUT(calls)                                                                                 \
	"goargdist: values of " calls " were cut, and count as one where they begin alike: only "  \
	"80 bytes of a string were read\nhint: -Z SIZE reads more\n"

/* What looks the same is the same, whichever function it is of. */
static void test_values(void **state)
{
	struct argdist *dist = argdist_new(&config, NULL, NULL);

	(void)state;
	add_text(0, "a", 3);
	strcpy(keys[0].key.text + COMM + 1, "not");
	add_text(0, "cut", 1);
	add_text(1, "a", 4);
	add_text(BAD, "a", 5);
	strcpy(add(0, 6)->text, "a");
	strcpy(keys[4].key.text + COMM, "0123456789abcde"); /* as far as the record goes */
	strcpy(add(1, 7)->text, "b");
	strcpy(keys[5].key.text + COMM, "comm");
	show(dist,
	     "PROBE 0 \"x\":\n7 a -\n1 cut -\n6 a of 0123456789abcde -\n7 b -\nPROBE 1 \"\":\n");
	expect_lost(dist, CUT("1 call"));
	/* a name that is not whole in the record is none */
	comm[2].at = COMM + 1;
	key_count = 1;
	show(dist, "PROBE 0 \"x\":\n3 a -\nPROBE 1 \"\":\n");
	comm[2].at = COMM;
	/* the next interval has its own values; what is lost adds up */
	key_count = 2;
	show(dist, "PROBE 0 \"x\":\n3 a -\n1 cut -\nPROBE 1 \"\":\n");
	expect_lost(dist, CUT("2 calls"));
	argdist_free(dist);
	argdist_free(NULL);
}

static void test_cumulative(void **state)
{
	config.cumulative = config.json = true;
	struct argdist *dist = argdist_new(&config, NULL, NULL);

	(void)state;
	add_text(0, "a", 3);
	keys[0].key.head.bias = 4096;
	keys[0].key.head.how = 2;
	add_text(1, "a", 1);
	add_text(0, "cut", 2);
	add_number(0, 8, 1);
	for (int i = 0; i < 2; i++) {
		show(dist, "PROBE 0 \"x\":\n4 a {\"bias\":4096,\"how\":2}\n\n"
			   "2 cut {\"bias\":0,\"how\":0}\n\nPROBE 1 \"\":\n");
		expect_lost(dist, CUT("2 calls") "goargdist: 1 call not in a histogram: the number "
						 "could not be read\n");
	}
	argdist_free(dist);
}

static void test_rows(void **state)
{
	struct argdist *dist = argdist_new(&config, NULL, NULL);

	(void)state;
	add_number(0, 0, 1);
	add_number(64, 0, 2);
	add_number(-1, 0, 3);
	add_number(-64, 0, 4);
	add_number(64, 0, 5);
	show(dist, "PROBE 0 \"x\":\nPROBE 1 \"\":\nrow -64: 4\nrow -1: 3\nrow 0: 1\nrow 64: 7\n");
	expect_lost(dist, "");
	key_count = 0;
	add_number(65, 0, 1);
	add_number(-65, 0, 2);
	add_number(INT64_MIN, 0, 4);
	add_number(3, TRACE_FAULT, 8);
	show(dist, "PROBE 0 \"x\":\nPROBE 1 \"\":\n");
	expect_lost(dist, "goargdist: 15 calls not in a histogram: the number could not be read\n");
	argdist_free(dist);
}

/* The number must be in the record, and be one. */
static void test_no_number(void **state)
{
	struct argdist *dist = argdist_new(&config, NULL, NULL);

	(void)state;
	add_number(1, 0, 1);
	keys[0].key.number[3] = 2;
	number->at = RECORD - 16;
	show(dist, "PROBE 0 \"x\":\nPROBE 1 \"\":\nrow 2: 1\n");
	number->at = RECORD - 15;
	show(dist, "PROBE 0 \"x\":\nPROBE 1 \"\":\n");
	number->at = 8;
	number->kind = TRACEGEN_MISSING;
	show(dist, "PROBE 0 \"x\":\nPROBE 1 \"\":\n");
	number->kind = TRACEGEN_NUMBER;
	expect_lost(dist, "goargdist: 2 calls not in a histogram: the number could not be read\n");
	argdist_free(dist);
}

static void test_unreadable(void **state)
{
	(void)state;
	fails = true;
	for (int i = 0; i < 2; i++) {
		config.cumulative = i;
		by_delta = false;
		struct argdist *dist = argdist_new(&config, NULL, NULL);
		struct errmsg err = {0};

		assert_int_equal(argdist_show(dist, &err), -1);
		assert_string_equal(err.text, "cannot read what was counted: Input/output error");
		argdist_free(dist);
	}
}

#define CASE(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_values),    CASE(test_cumulative), CASE(test_rows),
		CASE(test_no_number), CASE(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

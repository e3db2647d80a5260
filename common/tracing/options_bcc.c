// SPDX-License-Identifier: Apache-2.0
#include "tracing/options_bcc_internal.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/number.h"

enum { NUMBERS_MAX = 2, COUNT_MAX = 1000000 };

const char *options_bcc_hint(const char *tool, int letter)
{
	static const struct {
		const char *tool;
		int letter;
		const char *hint;
	} rows[] = {
		{"gotrace", 'b', "the buffer has a fixed size, and lost events are counted"},
		{"gotrace", 'B', "== compares strings with any bytes in them: x == \"\\x00\\xff\""},
		{"gotrace", 'c',
		 "-p traces one process; without it, all that run BINARY are traced"},
		{"gotrace", 'I',
		 "PROBEs are not C: Go's types and fields are known without headers"},
		{"gotrace", 's', "symbols are the program's own, stripped or not"},
		{"gotrace", 'S', "gotrace is not a Go program, and never traces itself"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].letter == letter && !strcmp(rows[i].tool, tool))
			return rows[i].hint;
	return NULL;
}

bool options_bcc_is_number(const char *arg)
{
	return *arg && !arg[strspn(arg, "0123456789")];
}

static void remove_numbers(struct options_bcc_numbers *numbers, const char *out[NUMBERS_MAX])
{
	size_t kept = 0, count = 0;

	for (size_t i = 0; i < numbers->arg_count; i++)
		if (options_bcc_is_number(numbers->args[i]))
			out[count++] = numbers->args[i];
		else
			numbers->args[kept++] = numbers->args[i];
	numbers->arg_count = kept;
}

static int take_count(struct options_bcc_numbers *numbers, const char *text, struct errmsg *err)
{
	uint64_t count;

	if (!number_parse(text, COUNT_MAX, &count) || !count ||
	    numbers->interval_ns > INT64_MAX / count)
		return errmsg_set(err, "count of \"%s\": not a number from 1 to %d", text,
				  COUNT_MAX);
	numbers->duration_ns = numbers->interval_ns * count;
	return 0;
}

static int take_seconds(uint64_t *ns, const char *what, const char *text, struct errmsg *err)
{
	if (number_parse_duration(text, ns))
		return 0;
	return errmsg_set(err, "%s of \"%s\": not a positive number of seconds", what, text);
}

int options_bcc_take(struct options_bcc_numbers *numbers, struct errmsg *err)
{
	size_t most = numbers->most < NUMBERS_MAX ? numbers->most : NUMBERS_MAX, count = 0;
	const char *given[NUMBERS_MAX];

	for (size_t i = 0; i < numbers->arg_count; i++)
		count += options_bcc_is_number(numbers->args[i]);
	if (!count || count > most)
		return 0;
	remove_numbers(numbers, given);
	if (numbers->interval_ns)
		return take_count(numbers, given[0], err);
	if (numbers->duration)
		return take_seconds(&numbers->duration_ns, "duration", given[0], err);
	if (take_seconds(&numbers->interval_ns, "interval", given[0], err))
		return -1;
	return count > 1 ? take_count(numbers, given[1], err) : 0;
}

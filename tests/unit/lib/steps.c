// SPDX-License-Identifier: Apache-2.0
#include "steps.h"

#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "unit.h"

struct steps steps;

static bool is_failing(const char *line)
{
	size_t len = steps.fails ? strlen(steps.fails) : 0;

	if (!len || strncmp(line, steps.fails, len) != 0 || !strchr(" ;", line[len]))
		return false;
	if (!steps.times)
		return steps.always || !steps.times--;
	steps.times--;
	return false;
}

static bool add(const char *format, va_list args)
{
	char *line = steps.said + steps.len;
	size_t room = sizeof(steps.said) - steps.len - 2;
	int len = vsnprintf(line, room, format, args);

	if (len < 0 || (size_t)len >= room)
		fail_msg("no room for more steps");
	strcpy(line + len, "; ");
	steps.len += len + 2;
	return is_failing(line);
}

bool steps_are(const char *format, ...)
{
	va_list args;
	bool failing;

	va_start(args, format);
	failing = add(format, args);
	va_end(args);
	return failing;
}

int steps_answer(struct errmsg *err, const char *format, ...)
{
	const char *line = steps.said + steps.len;
	va_list args;
	bool failing;

	va_start(args, format);
	failing = add(format, args);
	va_end(args);
	return failing ? errmsg_set(err, "no %.*s", (int)strcspn(line, " ;"), line) : 0;
}

void steps_expect(const char *want)
{
	bool is_same = strcmp(steps.said, want) == 0;

	if (!is_same) /* longer than what cmocka prints */
		fprintf(stderr, "it is\n%s\n", steps.said);
	memset(&steps, 0, sizeof(steps));
	if (!is_same)
		fail_msg("it is not\n%.200s...", want);
}

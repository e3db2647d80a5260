// SPDX-License-Identifier: Apache-2.0
#include "gostacks/godebug_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "files/process.h"
#include "program/buildsettings.h"
#include "program/program.h"

/* As strconv.ParseInt(text, 10, 32) does. */
static bool parse(const char *text, size_t len, int32_t *out)
{
	bool sign = len && (*text == '-' || *text == '+');
	int64_t value = 0;

	for (size_t i = sign; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || value > INT32_MAX)
			return false;
		value = value * 10 + (text[i] - '0');
	}
	if (len && *text == '-')
		value = -value;
	if (len == sign || value > INT32_MAX || value < INT32_MIN)
		return false;
	*out = (int32_t)value;
	return true;
}

int32_t godebug_set(const char *settings, const char *name, int32_t before)
{
	size_t name_len = strlen(name), len;

	for (const char *s = settings;; s += len + 1) {
		len = strcspn(s, ",");
		if (len > name_len && !memcmp(s, name, name_len) && s[name_len] == '=')
			parse(s + name_len + 1, len - name_len - 1, &before);
		if (!s[len])
			return before;
	}
}

int32_t godebug_number(const struct program *prog, const struct process *proc, const char *name,
		       int32_t before)
{
	char *built = buildsettings_value(prog->img, "DefaultGODEBUG");
	char *given = proc ? process_variable(proc, "GODEBUG") : NULL;

	before = godebug_set(built ? built : "", name, before);
	before = godebug_set(given ? given : "", name, before);
	free(built);
	free(given);
	return before;
}

// SPDX-License-Identifier: Apache-2.0
#include "ranges.h"

#include <stdio.h>
#include <string.h>

#include "steps.h"
#include "unit.h"

enum { ANSWER_MAX = 64 };

struct ranges {
	char text[8192];
	size_t len;
};

static void add(struct ranges *ranges, unsigned first, unsigned end, const char *answer)
{
	char *at = ranges->text + ranges->len;
	size_t room = sizeof(ranges->text) - ranges->len;
	const char *comma = ranges->len ? ", " : "";
	int len = end - first > 1 ? snprintf(at, room, "%s%x-%x %s", comma, first, end - 1, answer)
				  : snprintf(at, room, "%s%x %s", comma, first, answer);

	if (len < 0 || (size_t)len >= room)
		fail_msg("no room for more ranges");
	ranges->len += (size_t)len;
}

void ranges_are(const char *what, unsigned count, const char *(*answer)(void *ctx, unsigned number),
		void *ctx)
{
	struct ranges ranges = {.len = 0};
	char last[ANSWER_MAX] = "";
	unsigned first = 0;

	for (unsigned i = 0; i <= count; i++) {
		const char *text = i < count ? answer(ctx, i) : "";

		if (i && strcmp(text, last) == 0)
			continue;
		if (*last)
			add(&ranges, first, i, last);
		first = i;
		snprintf(last, sizeof(last), "%s", text);
	}
	steps_are("%s: %s", what, ranges.text);
}

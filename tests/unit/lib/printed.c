// SPDX-License-Identifier: Apache-2.0
#include "printed.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static FILE *theirs;
static char *text;
static size_t len;

void printed_begin(void)
{
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	theirs = stdout;
	stdout = out;
}

char *printed_end(void)
{
	fclose(stdout);
	stdout = theirs;
	return text;
}

void printed_is(char *got, const char *want)
{
	bool is_same = strcmp(got, want) == 0;

	if (!is_same) /* longer than what cmocka prints */
		fprintf(stderr, "it is\n%s\n", got);
	free(got);
	if (!is_same)
		fail_msg("it is not\n%.200s...", want);
}

void printed_expect(const char *want)
{
	printed_is(printed_end(), want);
}

// SPDX-License-Identifier: Apache-2.0
#include "printed.h"

#include <stdio.h>
#include <stdlib.h>

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

void printed_expect(const char *want)
{
	char *got = printed_end();

	assert_string_equal(got, want);
	free(got);
}

// SPDX-License-Identifier: Apache-2.0
#include "tracing/options_bcc_internal.h"

#include <stddef.h>
#include <string.h>

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

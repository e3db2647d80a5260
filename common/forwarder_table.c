// SPDX-License-Identifier: Apache-2.0
#include "forwarder_table.h"

#include <string.h>

static const struct forwarder_row rows[] = {
	{"fmt.Print", "(a ...any) (n int, err error)", "fmt.Fprint",
	 "(w io.Writer, a ...any) (n int, err error)", "1=", 15, 27},
	{"fmt.Printf", "(format string, a ...any) (n int, err error)", "fmt.Fprintf",
	 "(w io.Writer, format string, a ...any) (n int, err error)", "12=", 15, 27},
	{"fmt.Println", "(a ...any) (n int, err error)", "fmt.Fprintln",
	 "(w io.Writer, a ...any) (n int, err error)", "1=", 15, 27},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct forwarder_row *forwarder_row(const char *name, const char *callee, int minor)
{
	size_t low = 0, high = ROWS;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(rows[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < ROWS && !strcmp(rows[low].name, name); low++)
		if (minor >= rows[low].from && minor <= rows[low].to &&
		    !strcmp(rows[low].callee, callee))
			return &rows[low];
	return NULL;
}

const struct forwarder_row *forwarder_row_at(size_t n)
{
	return n < ROWS ? &rows[n] : NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_col_internal.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/errmsg.h"
#include "base/mem.h"

int probespec_col_error(struct errmsg *err, size_t at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = mem_vprintf(fmt, ap);

	va_end(ap);
	errmsg_set(err, "col %zu: %s", at + 1, text);
	free(text);
	return -1;
}

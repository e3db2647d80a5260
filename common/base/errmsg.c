// SPDX-License-Identifier: Apache-2.0
#include "base/errmsg.h"

#include <stdio.h>
#include <string.h>

int errmsg_set(struct errmsg *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	err->hint[0] = '\0';
	return -1;
}

void errmsg_hint(struct errmsg *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

const char *errmsg_after_col(const struct errmsg *err)
{
	const char *end = strncmp(err->text, "col ", 4) ? NULL : strstr(err->text, ": ");

	return end ? end + 2 : err->text;
}

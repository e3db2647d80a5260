// SPDX-License-Identifier: Apache-2.0
#include "errmsg.h"

#include <stdio.h>

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

// SPDX-License-Identifier: Apache-2.0
#include "base/shortnum.h"

#include <stdio.h>

static const char *shorten(char out[SHORTNUM], double n, double base, const char *const *units)
{
	/* 999.6 is the next unit's 1.0 already, as it would be printed as 1000 */
	for (; n >= base * 0.9995 && units[1]; units++)
		n /= base;
	snprintf(out, SHORTNUM, n < 9.95 && **units && n > 0 ? "%.1f%s" : "%.0f%s", n, *units);
	return out;
}

const char *shortnum_bytes(char out[SHORTNUM], double bytes)
{
	static const char *const units[] = {"", "K", "M", "G", "T", NULL};

	return shorten(out, bytes, 1024, units);
}

const char *shortnum_ns(char out[SHORTNUM], double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};

	return shorten(out, ns, 1000, units);
}

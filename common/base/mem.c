// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals_internal.h"

static _Noreturn void die(void)
{
	signals_give_up("out of memory\n"); /* stdio may need memory itself */
}

void *mem_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		die();
	return p;
}

void *mem_zalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		die();
	return p;
}

char *mem_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = mem_alloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, SIZE_MAX - 1);
}

char *mem_vprintf(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		die();
	return text;
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = mem_vprintf(fmt, ap);

	va_end(ap);
	return text;
}

void *mem_grow(void *items, size_t count, size_t *cap, size_t size)
{
	if (count < *cap)
		return items;
	*cap = *cap ? *cap * 2 : 8;
	if (*cap > SIZE_MAX / size)
		die();
	void *p = realloc(items, *cap * size);

	if (!p)
		die();
	return p;
}

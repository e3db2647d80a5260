// SPDX-License-Identifier: Apache-2.0
#include "base/ctext.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void append(struct ctext *out, const char *text)
{
	size_t len = strlen(text);

	if (out->len + len + 1 > out->cap) {
		size_t cap = (out->len + len + 1) * 2;
		char *larger = mem_alloc(cap);

		if (out->len)
			memcpy(larger, out->text, out->len);
		free(out->text);
		out->text = larger;
		out->cap = cap;
	}
	memcpy(out->text + out->len, text, len + 1);
	out->len += len;
}

static void line(struct ctext *out, const char *fmt, va_list ap, const char *end)
{
	char *text = mem_vprintf(fmt, ap);

	for (unsigned i = 0; *text && i < out->depth; i++)
		append(out, "\t");
	append(out, text);
	append(out, end);
	free(text);
}

void ctext_line(struct ctext *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(out, fmt, ap, "\n");
	va_end(ap);
}

void ctext_open(struct ctext *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(out, fmt, ap, " {\n");
	va_end(ap);
	out->depth++;
}

void ctext_close(struct ctext *out)
{
	out->depth--;
	ctext_line(out, "}");
}

void ctext_else(struct ctext *out)
{
	out->depth--;
	ctext_line(out, "} else {");
	out->depth++;
}

char *ctext_take(struct ctext *out)
{
	char *text = out->text ? out->text : mem_strdup("");

	*out = (struct ctext){0};
	return text;
}

void ctext_free(struct ctext *out)
{
	free(out->text);
	*out = (struct ctext){0};
}

// SPDX-License-Identifier: Apache-2.0
#include "golang/quoted.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/utf8.h"

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!letter && !(c >= '0' && c <= '9') && c != '.' && c != '/' && c != '_')
			return false;
	}
	return true;
}

static void print_character(FILE *out, uint32_t c)
{
	if (c == '\n')
		fputs("\\n", out);
	else if (c == '\r')
		fputs("\\r", out);
	else if (c == '\t')
		fputs("\\t", out);
	else if (c == '\\' || c == '"')
		fprintf(out, "\\%c", (char)c);
	else if (c >= ' ' && c <= '~')
		fputc((int)c, out);
	else if (c < 127)
		fprintf(out, "\\x%02" PRIx32, c);
	else
		fprintf(out, c < 0x10000 ? "\\u%04" PRIx32 : "\\U%08" PRIx32, c);
}

void quoted_print(FILE *out, const char *text, size_t len)
{
	uint32_t c;

	if (is_plain(text, len)) {
		fwrite(text, 1, len, out);
		return;
	}
	fputc('"', out);
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_decode(text + i, len - i, &c);
		if (n)
			print_character(out, c);
		else
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
		n += !n;
	}
	fputc('"', out);
}

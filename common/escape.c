// SPDX-License-Identifier: Apache-2.0
#include "escape.h"

#include <string.h>

#include "mem.h"
#include "utf8.h"

enum { ESCAPE_MAX = 8 }; /* bytes that one character can need, with a NUL */

/* Writes the text for the next character to buf; returns how many bytes of the input it was. */
static size_t escape_next(const char *bytes, size_t len, char buf[ESCAPE_MAX])
{
	uint32_t c;
	size_t n = utf8_decode(bytes, len, &c);

	if (!n) {
		snprintf(buf, ESCAPE_MAX, "\\x%02x", (unsigned char)bytes[0]);
		return 1;
	}
	if (!utf8_is_control(c)) {
		memcpy(buf, bytes, n);
		buf[n] = '\0';
	} else if (c == '\n' || c == '\t' || c == '\r') {
		snprintf(buf, ESCAPE_MAX, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	} else {
		snprintf(buf, ESCAPE_MAX, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c & 0xffff);
	}
	return n;
}

/* how many bytes stand for themselves: most of what is printed */
static size_t plain_run(const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && bytes[n] >= ' ' && bytes[n] <= '~')
		n++;
	return n;
}

void escape_write(FILE *out, const char *bytes, size_t len)
{
	char buf[ESCAPE_MAX];

	for (size_t i = 0, run; i < len; i += run) {
		run = plain_run(bytes + i, len - i);
		if (run) {
			fwrite(bytes + i, 1, run, out);
			continue;
		}
		run = escape_next(bytes + i, len - i, buf);
		fputs(buf, out);
	}
}

void escape_print(FILE *out, const char *text)
{
	escape_write(out, text, strlen(text));
}

char *escape_text(const char *text)
{
	size_t len = strlen(text), used = 0;
	char *copy = mem_zalloc(len + 1, ESCAPE_MAX - 1);

	for (size_t i = 0; i < len;) {
		char buf[ESCAPE_MAX];

		i += escape_next(text + i, len - i, buf);
		used = stpcpy(copy + used, buf) - copy;
	}
	return copy;
}

// SPDX-License-Identifier: Apache-2.0
#include "metrics/label_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static void put(FILE *out, const char *bytes, size_t len, uint32_t character)
{
	size_t count = len ? len : 1;

	if (len == 1 && character == '\n')
		fputs("\\n", out);
	else if (len == 1 && (character == '\\' || character == '"'))
		fprintf(out, "\\%c", *bytes);
	else if (len && !utf8_is_control(character))
		fwrite(bytes, 1, len, out);
	else
		for (size_t i = 0; i < count; i++)
			fprintf(out, "\\\\x%02x", (unsigned char)bytes[i]);
}

void label_value(FILE *out, const char *text)
{
	utf8_write(out, text, strlen(text), put);
}

char *label_pair(const char *func, const char *binary)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return mem_strdup("");
	fputs("func=\"", out);
	label_value(out, func);
	fputs("\",binary=\"", out);
	label_value(out, binary);
	fputc('"', out);
	fclose(out);
	return text;
}

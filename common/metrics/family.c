// SPDX-License-Identifier: Apache-2.0
#include "metrics/family.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

#define NS_PER_S UINT64_C(1000000000)

/* OpenMetrics names a counter's family without the _total of its samples. */
void family_head(FILE *out, bool openmetrics, const char *name, const char *type, const char *help)
{
	const char *end = !openmetrics && !strcmp(type, "counter") ? "_total" : "";

	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end, type);
}

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

void family_label(FILE *out, const char *text)
{
	utf8_write(out, text, strlen(text), put);
}

void family_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64, (uint64_t)(ns / NS_PER_S),
		(uint64_t)(ns % NS_PER_S));
}

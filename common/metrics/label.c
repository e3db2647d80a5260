// SPDX-License-Identifier: Apache-2.0
#include "metrics/label_internal.h"

#include <stdio.h>

#include "base/mem.h"
#include "metrics/family.h"

char *label_pair(const char *func, const char *binary)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return mem_strdup("");
	fputs("func=\"", out);
	family_label(out, func);
	fputs("\",binary=\"", out);
	family_label(out, binary);
	fputc('"', out);
	fclose(out);
	return text;
}

// SPDX-License-Identifier: Apache-2.0
#include "program/gccgotype.h"

#include <string.h>

#include "elf/image.h"

enum {
	TYPE_UNCOMMON = 48,    /* byte offsets: of the pointer to what named types have */
	UNCOMMON_METHODS = 16, /* a slice */
	METHOD_SIZE = 40,
	METHODS_MAX = 1 << 14,
};

/* the string that a pointer at addr points to */
static bool is_string(const struct image *img, uint64_t addr, const char *text)
{
	uint64_t header, data, len;

	if (!image_u64(img, addr, &header) || !image_u64(img, header, &data) ||
	    !image_u64(img, header + 8, &len) || len != strlen(text))
		return false;

	const char *found = image_at(img, data, len);

	return found && memcmp(found, text, len) == 0;
}

bool gccgotype_has_method(const struct image *img, uint64_t addr, const char *name)
{
	uint64_t uncommon, methods, count;

	if (!image_u64(img, addr + TYPE_UNCOMMON, &uncommon) || !uncommon ||
	    !image_u64(img, uncommon + UNCOMMON_METHODS, &methods) ||
	    !image_u64(img, uncommon + UNCOMMON_METHODS + 8, &count))
		return false;
	for (uint64_t i = 0; i < count && i < METHODS_MAX; i++)
		if (is_string(img, methods + i * METHOD_SIZE, name))
			return true;
	return false;
}

// SPDX-License-Identifier: Apache-2.0
#include "base/pack.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"

enum { LEVEL = 3 }; /* a higher one takes longer than it saves */

uint8_t *pack_bytes(const void *bytes, size_t size, size_t room, size_t *packed)
{
	uLongf len = compressBound(size);
	uint8_t *out = mem_zalloc(1, room + len);

	compress2(out + room, &len, bytes, size, LEVEL); /* into so much room it cannot fail */
	*packed = len;
	return out;
}

uint8_t *pack_undo(const void *packed, size_t packed_size, size_t size)
{
	uint8_t *bytes = mem_zalloc(1, size + 1);
	uLongf got = size;

	if (uncompress(bytes, &got, packed, packed_size) == Z_OK && got == size)
		return bytes;
	free(bytes);
	return NULL;
}

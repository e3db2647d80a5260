// SPDX-License-Identifier: Apache-2.0
#include "profile/gzip_internal.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include <zlib.h>

#include "base/mem.h"

enum { WINDOW = 15, WITH_GZIP_HEADER = 16, MEMORY = 8 };

void *gzip(const void *bytes, size_t len, size_t *out_len)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = len};

	if (len > UINT_MAX / 2 ||
	    deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW + WITH_GZIP_HEADER,
			 MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	size_t room = deflateBound(&stream, len);
	uint8_t *out = mem_alloc(room);

	stream.next_out = out;
	stream.avail_out = room;
	int ret = deflate(&stream, Z_FINISH);

	*out_len = stream.total_out;
	deflateEnd(&stream);
	if (ret == Z_STREAM_END)
		return out;
	free(out);
	return NULL;
}

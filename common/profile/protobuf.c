// SPDX-License-Identifier: Apache-2.0
#include "profile/protobuf_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { VARINT = 0, LEN = 2 };

void protobuf_free(struct protobuf *msg)
{
	free(msg->bytes);
	*msg = (struct protobuf){0};
}

void protobuf_clear(struct protobuf *msg)
{
	msg->len = 0;
}

static void put(struct protobuf *msg, const void *bytes, size_t len)
{
	if (msg->cap - msg->len < len) {
		size_t cap = 2 * (msg->len + len);
		uint8_t *more = mem_alloc(cap);

		if (msg->len)
			memcpy(more, msg->bytes, msg->len);
		free(msg->bytes);
		msg->bytes = more;
		msg->cap = cap;
	}
	if (len)
		memcpy(msg->bytes + msg->len, bytes, len);
	msg->len += len;
}

void protobuf_packed(struct protobuf *msg, uint64_t number)
{
	uint8_t bytes[10];
	size_t len = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[len++] = number | 0x80;
	bytes[len++] = number;
	put(msg, bytes, len);
}

void protobuf_number(struct protobuf *msg, unsigned field, uint64_t number)
{
	if (!number)
		return;
	protobuf_packed(msg, field << 3 | VARINT);
	protobuf_packed(msg, number);
}

void protobuf_bytes(struct protobuf *msg, unsigned field, const void *bytes, size_t len)
{
	protobuf_packed(msg, field << 3 | LEN);
	protobuf_packed(msg, len);
	put(msg, bytes, len);
}

void protobuf_message(struct protobuf *msg, unsigned field, const struct protobuf *sub)
{
	protobuf_bytes(msg, field, sub->bytes, sub->len);
}

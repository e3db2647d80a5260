/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in protobuf's encoding (protobuf.dev/programming-guides/encoding). */
#ifndef PROTOBUF_INTERNAL_H
#define PROTOBUF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf { /* all zero: an empty message */
	uint8_t *bytes;
	size_t len, cap;
};

void protobuf_free(struct protobuf *msg);  /* its memory; it is empty then */
void protobuf_clear(struct protobuf *msg); /* it is empty, and keeps its memory */

/* Fields that are 0 are left out, as proto3 has it. */
void protobuf_number(struct protobuf *msg, unsigned field, uint64_t number);
void protobuf_bytes(struct protobuf *msg, unsigned field, const void *bytes, size_t len);
void protobuf_message(struct protobuf *msg, unsigned field, const struct protobuf *sub);
/* Repeated numbers, packed: first these alone, as a message, which is then the field. */
void protobuf_packed(struct protobuf *msg, uint64_t number);

#endif

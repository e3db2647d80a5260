/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that take less room, in zlib's format (RFC 1950). */
#ifndef PACK_H
#define PACK_H

#include <stddef.h>
#include <stdint.h>

/* Caller frees; *packed is its size in bytes. `room` bytes are free before it, for a head. */
uint8_t *pack_bytes(const void *bytes, size_t size, size_t room, size_t *packed);
/* Caller frees. NULL: this is not `size` bytes, packed. */
uint8_t *pack_undo(const void *packed, size_t packed_size, size_t size);

#endif

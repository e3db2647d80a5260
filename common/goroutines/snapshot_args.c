// SPDX-License-Identifier: Apache-2.0
#include "goroutines/snapshot_args_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frames/unwinder.h"

enum { BYTES_MAX = 1 << 28 }; /* of all goroutines together */

static void append(struct snapshot_args *args, const void *bytes, size_t len)
{
	while (args->cap - args->len < len)
		args->bytes = mem_grow(args->bytes, args->cap, &args->cap, 1);
	memcpy(args->bytes + args->len, bytes, len);
	args->len += len;
}

void snapshot_args_note(struct snapshot_args *args, const uint8_t *stack,
			const struct unwound_frames *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		append(args, &frames->args_len[i], sizeof(frames->args_len[i]));
		if (frames->args_len[i])
			append(args, stack + frames->args[i], frames->args_len[i]);
	}
}

uint64_t snapshot_args_add(struct snapshot_args *args, const struct snapshot_args *noted)
{
	uint64_t at = args->len;

	if (!noted->len || noted->len > BYTES_MAX - args->len)
		return SNAPSHOT_NO_ARGS;
	append(args, noted->bytes, noted->len);
	return at;
}

const uint8_t *snapshot_args_at(const struct snapshot_args *args, uint64_t at, size_t number,
				size_t *len)
{
	uint16_t here;

	if (at == SNAPSHOT_NO_ARGS)
		return NULL;
	for (size_t i = 0;; i++) {
		memcpy(&here, args->bytes + at, sizeof(here));
		at += sizeof(here);
		if (i == number)
			break;
		at += here;
	}
	*len = here;
	return args->bytes + at;
}

// SPDX-License-Identifier: Apache-2.0
#include "files/heldfile_bytes_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "files/heldfile.h"

/* Under AddressSanitizer nothing may be touched but what was asked for, to the byte. */
#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#endif
#ifdef WATCHED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(addr, size) ((void)(addr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(addr, size) ((void)(addr), (void)(size))
#endif

enum {
	BLOCK = HELDFILE_BLOCK,
	WATCHED_MAX = 1 << 30
}; /* shadow memory is an eighth of what is watched */

static uint64_t blocks_of(const struct heldfile_bytes *bytes)
{
	return bytes->size / BLOCK + 1;
}

static bool is_watched(const struct heldfile_bytes *bytes)
{
	return bytes->size <= WATCHED_MAX;
}

/* Address space costs nothing until it is written to, however long a sparse file is. */
static bool reserve(struct heldfile_bytes *bytes)
{
	if (bytes->data)
		return true;
	void *data = mmap(NULL, bytes->size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (data == MAP_FAILED) {
		bytes->error = HELDFILE_LARGE;
		return false;
	}
	/* huge pages would be cleared for blocks that nobody asks for */
	madvise(data, bytes->size, MADV_NOHUGEPAGE);
	bytes->data = data;
	bytes->have = mem_zalloc(blocks_of(bytes) / 8 + 1, 1);
	if (is_watched(bytes))
		ASAN_POISON_MEMORY_REGION(data, bytes->size);
	return true;
}

static bool has_block(const struct heldfile_bytes *bytes, uint64_t block)
{
	return bytes->have && bytes->have[block / 8] >> block % 8 & 1;
}

/* It does not matter if bytes are changed later; it is an error if some are missing. */
static bool read_all(struct heldfile_bytes *bytes, uint64_t off, uint64_t len, uint8_t *out)
{
	if (bytes->asked + len > HELDFILE_MAX) {
		bytes->error = HELDFILE_LARGE;
		return false;
	}
	bytes->asked += len;
	while (len) {
		ssize_t n = pread(bytes->fd, out, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			bytes->error = n ? errno : HELDFILE_CUT;
			return false;
		}
		out += n;
		off += n;
		len -= n;
	}
	return true;
}

static bool copy_blocks(struct heldfile_bytes *bytes, uint64_t first, uint64_t count)
{
	uint64_t off = first * BLOCK, len = count * BLOCK;

	if (len > bytes->size - off)
		len = bytes->size - off;
	if (is_watched(bytes))
		ASAN_UNPOISON_MEMORY_REGION(bytes->data + off, len);
	bool done = read_all(bytes, off, len, bytes->data + off);

	if (is_watched(bytes))
		ASAN_POISON_MEMORY_REGION(bytes->data + off, len);
	for (uint64_t i = first; done && i < first + count; i++)
		bytes->have[i / 8] |= 1 << i % 8;
	return done;
}

static bool ensure(struct heldfile_bytes *bytes, uint64_t off, uint64_t len)
{
	uint64_t end = (off + len - 1) / BLOCK + 1, run;

	if (len > HELDFILE_MAX) { /* too much to begin reading */
		bytes->error = HELDFILE_LARGE;
		return false;
	}
	for (uint64_t i = off / BLOCK; i < end; i += run + 1) {
		for (run = 0; i + run < end && !has_block(bytes, i + run); run++)
			continue;
		if (run && (bytes->error || !copy_blocks(bytes, i, run)))
			return false;
	}
	return true;
}

const void *heldfile_bytes_at(struct heldfile_bytes *bytes, uint64_t off, uint64_t len)
{
	if (off >= bytes->size || len > bytes->size - off)
		return NULL;
	if (!reserve(bytes) || (len && !ensure(bytes, off, len)))
		return NULL;
	if (is_watched(bytes))
		ASAN_UNPOISON_MEMORY_REGION(bytes->data + off, len);
	return bytes->data + off;
}

bool heldfile_bytes_read(struct heldfile_bytes *bytes, uint64_t off, uint64_t len, void *out)
{
	if (off > bytes->size || len > bytes->size - off)
		return false;
	for (uint64_t end = off + len, part; off < end; off += part) {
		bool here = has_block(bytes, off / BLOCK);

		/* this part ends where copied blocks begin, or end */
		for (part = BLOCK - off % BLOCK;
		     part < end - off && has_block(bytes, (off + part) / BLOCK) == here;)
			part += BLOCK;
		if (part > end - off)
			part = end - off;
		if (here)
			memcpy(out, heldfile_bytes_at(bytes, off, part), part);
		else if (bytes->error || !read_all(bytes, off, part, out))
			return false;
		out = (uint8_t *)out + part;
	}
	return true;
}

void heldfile_bytes_free(struct heldfile_bytes *bytes)
{
	if (!bytes->data)
		return;
	if (is_watched(bytes))
		ASAN_UNPOISON_MEMORY_REGION(bytes->data, bytes->size);
	munmap(bytes->data, bytes->size);
	free(bytes->have);
}

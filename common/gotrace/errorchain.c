// SPDX-License-Identifier: Apache-2.0
#include "gotrace/errorchain_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"

/* Goroutines share a bucket by their hash, and forget each other's errors only if it is full. */
enum { BUCKETS = 1024, REMEMBERED = 16, OVERLAP = 8 };

struct bucket {
	struct errorchain_call calls[REMEMBERED]; /* oldest first; own their texts */
	size_t count;
};

struct errorchain {
	struct bucket buckets[BUCKETS];
};

struct errorchain *errorchain_new(void)
{
	return mem_zalloc(1, sizeof(struct errorchain));
}

static void forget(struct bucket *bucket, size_t n)
{
	free((char *)bucket->calls[n].text);
	bucket->count--;
	memmove(&bucket->calls[n], &bucket->calls[n + 1],
		(bucket->count - n) * sizeof(*bucket->calls));
}

void errorchain_free(struct errorchain *chain)
{
	for (size_t i = 0; chain && i < BUCKETS; i++)
		while (chain->buckets[i].count)
			forget(&chain->buckets[i], chain->buckets[i].count - 1);
	free(chain);
}

static struct bucket *bucket_of(struct errorchain *chain, const struct errorchain_call *call)
{
	return &chain->buckets[index_hash(call->goid, call->tgid) % BUCKETS];
}

static bool has_made(const struct errorchain_call *outer, const struct errorchain_call *inner)
{
	return outer->tgid == inner->tgid && outer->goid == inner->goid &&
	       outer->start_ns <= inner->start_ns && inner->end_ns <= outer->end_ns;
}

/* Bytes of a text, without the dots of one that -Z has cut */
static size_t uncut(const char *text, bool *cut)
{
	size_t len = strlen(text);

	*cut = len > 3 && strcmp(text + len - 3, "...") == 0;
	return *cut ? len - 3 : len;
}

/* Has the outer text the inner one? Where the outer was cut, its end may have only the beginning.
 */
static bool has_text(const char *outer, const char *inner)
{
	bool outer_cut, inner_cut;
	size_t outer_len = uncut(outer, &outer_cut), len = uncut(inner, &inner_cut);

	if (!len)
		return false;
	if (memmem(outer, outer_len, inner, len))
		return true;
	for (size_t n = OVERLAP; outer_cut && n < len && n <= outer_len; n++)
		if (memcmp(outer + outer_len - n, inner, n) == 0)
			return true;
	return false;
}

bool errorchain_find(struct errorchain *chain, const struct errorchain_call *call, size_t *origin)
{
	struct bucket *bucket = bucket_of(chain, call);
	bool found = false;

	for (size_t n = bucket->count; n-- > 0;) {
		const struct errorchain_call *inner = &bucket->calls[n];

		if (!has_made(call, inner))
			continue;
		if (!found && has_text(call->text, inner->text)) {
			*origin = inner->origin;
			found = true;
		}
		/* whoever passes it on further passes on this call's error */
		forget(bucket, n);
	}
	return found;
}

void errorchain_add(struct errorchain *chain, const struct errorchain_call *call)
{
	struct bucket *bucket = bucket_of(chain, call);

	if (bucket->count == REMEMBERED)
		forget(bucket, 0);
	struct errorchain_call *added = &bucket->calls[bucket->count++];

	*added = *call;
	added->text = mem_strdup(call->text);
}

// SPDX-License-Identifier: Apache-2.0
#include "goroutines/snapshot_labels_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/index.h"
#include "base/mem.h"
#include "goroutines/goroutine_fields_internal.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"

enum {
	LABELS_MAX = 64,     /* of a set */
	TEXT_MAX = 1 << 10,  /* bytes of a key, or of a value */
	BYTES_MAX = 1 << 26, /* of all sets together */
	TRIES = 3,           /* of a goroutine that gets other labels meanwhile */
	END = UINT32_MAX,    /* as a key's length: no label follows */
	NONE_AT = 0,
	CUT_AT = 8 /* sets that are always there: none, and one that is not known */
};

struct record { /* before each label's key and value */
	uint32_t key_len, value_len;
};

struct go_string {
	uint64_t data, len;
};

struct go_label { /* src/internal/runtime/pprof/label, Label */
	struct go_string key, value;
};

struct set {
	uint64_t addr, at;
};

struct labels_reading {
	const struct snapshot_source *from;
	struct snapshot_labels *out;
	struct set *sets; /* that were read, found by their addresses */
	struct index by_addr;
	size_t cap;
};

static void append(struct snapshot_labels *out, const void *bytes, size_t len)
{
	while (out->cap - out->len < len)
		out->bytes = mem_grow(out->bytes, out->cap, &out->cap, 1);
	if (len)
		memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
}

static void append_end(struct snapshot_labels *out, bool cut)
{
	const struct record end = {END, cut};

	append(out, &end, sizeof(end));
}

static bool read_text(const struct memory *mem, const struct go_string *from, char *out)
{
	return from->len <= TEXT_MAX &&
	       (!from->len || mem->read(mem->ctx, from->data, out, from->len));
}

static bool add_label(struct labels_reading *r, const struct go_label *label)
{
	const struct memory *mem = r->from->mem;
	char key[TEXT_MAX], value[TEXT_MAX];

	if (!read_text(mem, &label->key, key) || !read_text(mem, &label->value, value))
		return false;
	const struct record record = {(uint32_t)label->key.len, (uint32_t)label->value.len};

	append(r->out, &record, sizeof(record));
	append(r->out, key, record.key_len);
	append(r->out, value, record.value_len);
	return true;
}

/* A set is a slice of labels, which is never changed: others get another one. */
static uint64_t read_set(struct labels_reading *r, uint64_t addr)
{
	const struct memory *mem = r->from->mem;
	struct go_label list[LABELS_MAX];
	struct go_string slice; /* a slice begins like a string */
	size_t at = r->out->len, i = 0;

	if (at > BYTES_MAX || !mem->read(mem->ctx, addr, &slice, sizeof(slice)))
		return CUT_AT;
	size_t count = slice.len < LABELS_MAX ? slice.len : LABELS_MAX;

	if (!count)
		return NONE_AT;
	if (!mem->read(mem->ctx, slice.data, list, count * sizeof(*list)))
		return CUT_AT;
	while (i < count && add_label(r, &list[i]))
		i++;
	append_end(r->out, i < slice.len);
	return at;
}

static uint64_t find_set(struct labels_reading *r, uint64_t addr)
{
	uint64_t hash = index_hash(0, addr);
	size_t n = r->sets ? index_first(&r->by_addr, hash) : INDEX_NONE;

	while (n != INDEX_NONE && r->sets[n].addr != addr)
		n = index_next(&r->by_addr, n);
	if (n != INDEX_NONE)
		return r->sets[n].at;
	r->sets = mem_grow(r->sets, r->by_addr.count, &r->cap, sizeof(*r->sets));
	n = index_add(&r->by_addr, hash);
	r->sets[n] = (struct set){addr, read_set(r, addr)};
	return r->sets[n].at;
}

/* A set counts if it is still the goroutine's when it was read. One that has ended has none. */
static uint64_t labels_of(struct labels_reading *r, const struct goroutine *g)
{
	const struct snapshot_source *from = r->from;
	uint64_t addr = g->labels;
	struct goroutine_fields now;

	for (int i = 0; i < TRIES && addr; i++) {
		if (from->until_ns && clock_ns() > from->until_ns)
			return CUT_AT;
		uint64_t at = find_set(r, addr);

		if (!goroutine_fields_read(from, from->mem, g->addr, &now) || now.goid != g->goid)
			return NONE_AT;
		if (now.labels == addr)
			return at;
		addr = now.labels;
	}
	return addr ? CUT_AT : NONE_AT;
}

void snapshot_labels_read(const struct snapshot_source *from, struct snapshot *out)
{
	struct labels_reading r = {.from = from, .out = &out->labels};

	append_end(&out->labels, false);
	append_end(&out->labels, true);
	for (size_t i = 0; i < out->count; i++)
		out->all[i].labels = labels_of(&r, &out->all[i]);
	index_free(&r.by_addr);
	free(r.sets);
}

bool snapshot_labels_next(const struct snapshot_labels *labels, uint64_t *at,
			  struct snapshot_label *out, bool *cut)
{
	struct record record = {END, false};

	if (*at + sizeof(record) <= labels->len)
		memcpy(&record, labels->bytes + *at, sizeof(record));
	*cut = record.key_len == END && record.value_len;
	if (record.key_len == END)
		return false;
	const char *text = (const char *)labels->bytes + *at + sizeof(record);

	*out = (struct snapshot_label){text, text + record.key_len, record.key_len,
				       record.value_len};
	*at += sizeof(record) + record.key_len + record.value_len;
	return true;
}

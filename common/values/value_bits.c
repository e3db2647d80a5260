// SPDX-License-Identifier: Apache-2.0
/* big.Int (Go's src/math/big/nat.go), and UUIDs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "values/value_known_internal.h"
#include "values/value_read_internal.h"

enum {
	WORDS_MAX = 512, /* 32768 bits: longer numbers are shown as their words */
	DIGITS = 19,     /* decimal ones that fit in a word */
};

/* Divides the number in place. Returns the rest. */
static uint64_t divide(uint64_t *words, size_t count, uint64_t by)
{
	unsigned __int128 rest = 0;

	for (size_t i = count; i-- > 0;) {
		rest = rest << 64 | words[i];
		words[i] = (uint64_t)(rest / by);
		rest %= by;
	}
	return (uint64_t)rest;
}

static void print_words(FILE *out, uint64_t *words, size_t count)
{
	const uint64_t ten_to_the_19 = UINT64_C(10000000000000000000);
	/* a word has 64 bits, a group more than 63 */
	uint64_t *groups = mem_zalloc(count + count / 63 + 2, sizeof(*groups));
	size_t n = 0;

	while (count && !words[count - 1])
		count--;
	while (count) {
		groups[n++] = divide(words, count, ten_to_the_19);
		while (count && !words[count - 1])
			count--;
	}
	fprintf(out, "%" PRIu64, n ? groups[n - 1] : 0);
	while (n > 1)
		fprintf(out, "%0*" PRIu64, DIGITS, groups[--n - 1]);
	free(groups);
}

/* struct {neg bool; abs []Word}, the lowest word first */
bool value_bits_number(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes bytes;
	struct value_at field;
	int64_t negative;

	if (!value_known_number(source, at, "neg", &negative) || !value_field(at, "abs", &field) ||
	    field.type->kind != GOTYPE_SLICE || !field.type->elem || field.type->elem->size != 8 ||
	    !value_known_bytes(source, at, "abs", &bytes))
		return false;
	if (bytes.count > WORDS_MAX || bytes.len != bytes.count * 8)
		return false;
	uint64_t *words = mem_zalloc(bytes.count + 1, sizeof(*words));

	if (bytes.len)
		memcpy(words, bytes.bytes, bytes.len);
	if (negative)
		putc('-', out);
	print_words(out, words, bytes.count);
	free(words);
	return true;
}

bool value_bits_uuid(FILE *out, const struct value_source *source, const struct value_at *at)
{
	uint8_t bytes[16];

	if (at->type->size != sizeof(bytes) || !value_is_byte(at->type->elem) ||
	    value_read(source, at, 0, bytes, sizeof(bytes)) != VALUE_GOT)
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		fprintf(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", bytes[i]);
	return true;
}

bool value_bits_hex(FILE *out, const struct value_source *source, const struct value_at *at)
{
	uint8_t bytes[16];
	size_t size = at->type->size;

	if (at->type->kind != GOTYPE_ARRAY || size > sizeof(bytes) ||
	    !value_is_byte(at->type->elem) || value_read(source, at, 0, bytes, size) != VALUE_GOT)
		return false;
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
	return true;
}

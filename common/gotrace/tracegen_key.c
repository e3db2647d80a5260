// SPDX-License-Identifier: Apache-2.0
/* From records to keys: what does not tell values apart becomes zero. */
#include "gotrace/tracegen_key_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gotrace/tracegen_uses_internal.h"
#include "values/shape_walk.h"

enum { WORD = 8 };

enum word {
	WORD_DROPPED, /* zero in the key */
	WORD_KEPT,
	WORD_POINTER, /* only whether it is nil */
};

struct key {
	struct gen *gen;
	uint8_t *words; /* enum word, of each in the record */
	uint32_t count;
};

static void set_words(struct key *key, uint32_t at, uint32_t size, enum word how)
{
	for (uint32_t i = at / WORD; i < (at + size + WORD - 1) / WORD && i < key->count; i++)
		key->words[i] = how;
}

static void set_shape(struct key *key, const struct shape *shape);

static bool found(const struct gotype *type, uint32_t off, void *ctx)
{
	(void)type;
	(void)off;
	*(bool *)ctx = false;
	return false;
}

/* Does it refer to nothing? */
static bool is_plain(const struct gotype *elem)
{
	bool plain = elem != NULL;

	if (elem)
		shape_walk(elem, (uint32_t)elem->size, found, &plain);
	return plain;
}

/* Elements that refer to something are kept as far as what they refer to is read. */
static void set_bytes(struct key *key, const struct shape_ref *ref)
{
	bool text = ref->type->kind != GOTYPE_SLICE;

	if (text || is_plain(ref->type->elem))
		set_words(key, ref->at, ref->max, WORD_KEPT);
}

static void set_dynamic(const struct key *key, const struct shape_ref *ref)
{
	bool is_error = ref->type->has_methods && !strcmp(ref->type->name, "error");

	ctext_line(&key->gen->key, "forget_dynamic(rec + %u, %u, %s, hit);", ref->at, ref->levels,
		   is_error ? "true" : "false");
}

/* How many of its holder's own words a reference takes; the first is a pointer. */
static void set_ref(struct key *key, const struct shape *shape, const struct shape_ref *ref)
{
	uint32_t own = shape->at + ref->off;

	set_words(key, own, WORD, WORD_POINTER);
	if (ref->what != SHAPE_DYNAMIC)
		set_words(key, ref->state_at, WORD, WORD_KEPT);
	switch (ref->what) {
	case SHAPE_BYTES:
		if (ref->type->kind == GOTYPE_SLICE) /* its capacity is not shown */
			set_words(key, own + 2 * WORD, WORD, WORD_DROPPED);
		set_bytes(key, ref);
		break;
	case SHAPE_CODE:
		key->gen->uses |= TRACEGEN_CODE;
		set_words(key, ref->at, ref->max, WORD_KEPT);
		break;
	case SHAPE_MAP: /* its length */
		set_words(key, ref->at, WORD, WORD_KEPT);
		break;
	case SHAPE_DYNAMIC:
		set_words(key, own + WORD, WORD, WORD_POINTER);
		set_words(key, ref->at, ref->max, WORD_KEPT);
		set_dynamic(key, ref);
		break;
	default:
		break;
	}
	for (size_t i = 0; i < ref->elem_count; i++)
		set_shape(key, &ref->elems[i]);
}

static void set_shape(struct key *key, const struct shape *shape)
{
	set_words(key, shape->at, shape->size, WORD_KEPT);
	for (size_t i = 0; i < shape->ref_count; i++)
		set_ref(key, shape, &shape->refs[i]);
}

static void emit_word(const struct key *key, uint32_t n)
{
	struct ctext *out = &key->gen->key;

	switch (key->words[n]) {
	case WORD_DROPPED:
		ctext_line(out, "*(u64 *)(rec + %u) = 0;", n * WORD);
		break;
	case WORD_POINTER:
		ctext_line(out, "forget_pointer(rec + %u);", n * WORD);
		break;
	default:
		break;
	}
}

/* What was to be read of an argument is not defined where that has failed. */
static void emit_own(const struct key *key, const struct shape *shape, uint32_t state_at)
{
	struct ctext *out = &key->gen->key;

	for (uint32_t at = 0; at < shape->size; at += WORD)
		ctext_line(out, "*(u64 *)(rec + %u) &= read_mask(rec + %u);", shape->at + at,
			   state_at);
}

static void set_number(struct key *key, const struct tracegen_arg *arg)
{
	struct ctext *out = &key->gen->key;

	set_words(key, arg->at, 2 * WORD, WORD_KEPT);
	if (key->gen->probe->log2)
		ctext_line(out, "*(u64 *)(rec + %u) = log2_row(*(u64 *)(rec + %u), %s);", arg->at,
			   arg->at, arg->is_unsigned ? "false" : "true");
	ctext_line(out, "*(u64 *)(rec + %u) &= read_mask(rec + %u);", arg->at, arg->at + WORD);
}

static void set_arg(struct key *key, const struct tracegen_arg *arg)
{
	switch (arg->kind) {
	case TRACEGEN_NUMBER:
		set_number(key, arg);
		break;
	case TRACEGEN_VALUE:
		set_words(key, arg->at, WORD, WORD_KEPT);
		set_shape(key, arg->shape);
		emit_own(key, arg->shape, arg->at);
		break;
	case TRACEGEN_SPECIAL: /* $comm */
		if (arg->special == SPECIAL_COMM)
			set_words(key, arg->at, 2 * WORD, WORD_KEPT);
		break;
	case TRACEGEN_LIST:
		for (size_t i = 0; i < arg->count; i++)
			set_arg(key, &arg->items[i]);
		break;
	default:
		break;
	}
}

void gen_key(struct gen *gen, const struct tracegen_plan *plan)
{
	struct key key = {.gen = gen, .count = gen->record_end / WORD};

	key.words = mem_zalloc(key.count + 1, 1);
	for (size_t i = 0; i < plan->arg_count; i++)
		set_arg(&key, &plan->args[i]);
	for (uint32_t i = 0; i < key.count; i++)
		emit_word(&key, i);
	free(key.words);
}

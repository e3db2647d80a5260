// SPDX-License-Identifier: Apache-2.0
#include "sampling/labels_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf-src/shared/profile.h"
#include "profile/profile.h"

struct text {
	const char *bytes;
	size_t len; /* of what is there */
	bool is_cut;
};

struct label {
	struct text key, value;
};

struct reading {
	const uint64_t *words;
	size_t left;
};

static bool take(struct reading *from, uint32_t len, struct text *out)
{
	size_t there = len < PROFILE_LABEL_TEXT ? len : PROFILE_LABEL_TEXT, words = (there + 7) / 8;

	if (words > from->left)
		return false;
	*out = (struct text){(const char *)from->words, there, there < len};
	from->words += words;
	from->left -= words;
	return true;
}

static bool next_label(struct reading *from, struct label *out)
{
	if (!from->left)
		return false;
	uint64_t lengths = *from->words++;

	from->left--;
	return take(from, (uint32_t)lengths, &out->key) &&
	       take(from, (uint32_t)(lengths >> 32), &out->value);
}

static int by_key(const void *a, const void *b)
{
	const struct text *x = &((const struct label *)a)->key,
			  *y = &((const struct label *)b)->key;
	size_t len = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->bytes, y->bytes, len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* As a string, in which a byte that is zero becomes what no text has. Caller frees. */
static char *string_of(const struct text *text)
{
	static const char zero[] = "\xef\xbf\xbd", more[] = "...";
	char *string = mem_alloc(text->len * (sizeof(zero) - 1) + sizeof(more)), *to = string;

	for (size_t i = 0; i < text->len; i++) {
		if (text->bytes[i])
			*to++ = text->bytes[i];
		else
			to = mempcpy(to, zero, sizeof(zero) - 1);
	}
	strcpy(to, text->is_cut ? more : "");
	return string;
}

static bool is_wanted(const struct text *key, const char *wanted)
{
	return !wanted || (!key->is_cut && key->len == strlen(wanted) &&
			   !memcmp(key->bytes, wanted, key->len));
}

void labels_add(const struct profile_sample *sample, const uint64_t *words, const char *key,
		struct profile *profile)
{
	struct label all[PROFILE_LABELS];
	size_t begin = sample->kernel, count = 0, shown = 0;

	if (begin > sample->count || sample->label_words > sample->count - begin)
		return;
	struct reading from = {words + begin, sample->label_words};

	while (count < PROFILE_LABELS && next_label(&from, &all[count]))
		count++;
	qsort(all, count, sizeof(*all), by_key);
	for (size_t i = 0; i < count; i++) {
		/* a key that is there twice is none of Go's */
		if (!is_wanted(&all[i].key, key) || (i && !by_key(&all[i - 1], &all[i])))
			continue;
		char *name = string_of(&all[i].key), *value = string_of(&all[i].value);

		profile_program_label(profile, name, value);
		shown++;
		free(name);
		free(value);
	}
	if (sample->labels_cut && !(key && shown))
		profile_program_labels_cut(profile);
}

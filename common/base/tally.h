/* SPDX-License-Identifier: Apache-2.0 */
/* Counts texts: how often each was seen. */
#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally;

struct tally *tally_new(void);
void tally_free(struct tally *tally); /* NULL is all right */
/* From now on, texts that differ by numbers alone are one text: see base/numberfold_internal.h. */
void tally_fold_numbers(struct tally *tally);
void tally_add(struct tally *tally, const char *text);
/* Ascending by count; of equal counts in the order first seen. */
void tally_each(const struct tally *tally, void (*fn)(const char *text, uint64_t count, void *ctx),
		void *ctx);

/* The same in groups, each with a name: their texts stand together, the group that was seen least
 * first. Returns the text's number, for tally_note(). */
size_t tally_add_to(struct tally *tally, const char *name, const char *text);
/* Counts a note below a text. */
void tally_note(struct tally *tally, size_t number, const char *note);

struct tally_show {
	/* Before the texts of a group: of how many, and how many different ones; NULL: not called
	 */
	void (*group)(const char *group, uint64_t count, size_t texts, void *ctx);
	void (*text)(const char *text, uint64_t count, void *ctx);
	/* After its text, each note with its count, in the order first seen; `of`: the text's
	 * count. NULL: not called */
	void (*note)(const char *note, uint64_t count, uint64_t of, void *ctx);
	void *ctx;
};

/* Only the `top` most frequent texts, with the groups that they are of; 0: all. */
void tally_show(const struct tally *tally, size_t top, const struct tally_show *show);
/* How many different texts there are; *total: how often one was added */
size_t tally_texts(const struct tally *tally, uint64_t *total);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile consists of. All but values are sequences of words that are kept once each, with
 * numbers of others in them. */
#ifndef PROFILE_INTERNAL_H
#define PROFILE_INTERNAL_H

#include <stdbool.h>

#include "profile/interned_internal.h"
#include "profile/profile.h"

enum { PROFILE_NO_TEXT = 0 }; /* the number of "" */
#define PROFILE_NO_MAPPING UINT64_MAX
#define PROFILE_OF_KERNEL (UINT64_MAX - 1) /* in place of a mapping: the file is its module */

enum {
	PROFILE_MAPPING_START,
	PROFILE_MAPPING_LIMIT,
	PROFILE_MAPPING_OFF,
	PROFILE_MAPPING_FILE,
	PROFILE_MAPPING_BUILD_ID,
	PROFILE_MAPPING_WORDS
};
enum { PROFILE_FUNC_NAME, PROFILE_FUNC_FILE, PROFILE_FUNC_LINE, PROFILE_FUNC_WORDS };
/* then, innermost first, pairs of a function and a line */
enum { PROFILE_LOCATION_MAPPING, PROFILE_LOCATION_ADDR, PROFILE_LOCATION_WORDS };
/* one after the other */
enum {
	PROFILE_LABEL_KEY,
	PROFILE_LABEL_TEXT,
	PROFILE_LABEL_NUMBER,
	PROFILE_LABEL_OF, /* enum profile_label_of */
	PROFILE_LABEL_WORDS
};
enum profile_label_of {
	PROFILE_LABEL_TOOL,
	PROFILE_LABEL_PROGRAM,
	PROFILE_LABEL_CUT, /* in place of more of the program's */
};
enum { PROFILE_ROW_STACK, PROFILE_ROW_LABELS, PROFILE_ROW_WORDS };

struct profile_words {
	uint64_t *all;
	size_t count, cap;
};

struct profile {
	const struct profile_spec *spec;
	uint64_t began_ns, began_clock_ns, lasted_ns; /* since 1970; of clock_ns(); ns */
	uint64_t period;                              /* 0: not known */
	struct interned texts, mappings, funcs, locations, stacks, labels, rows;
	uint64_t *values; /* of each row, one for each type */
	size_t values_cap;
	/* of the row that is being made: */
	struct profile_words location, stack, label;
	size_t number; /* of the address that the last location is of */
	const struct frames *frames;
	struct mapped *mapped; /* which mappings were looked up already */
	size_t mapped_count, mapped_cap;
	struct index mapped_index;
};

/* Is this the number of a mapping, and not one of the above? */
bool profile_is_mapping(uint64_t number);
void profile_words_add(struct profile_words *words, uint64_t word);
/* A row of this stack and labels (PROFILE_ROW_WORDS), which are of the profile. */
void profile_add_row(struct profile *profile, const uint64_t *words, const uint64_t *values);
/* The number of the mapping that holds an address of the program's file. */
uint64_t profile_mapping(struct profile *profile, const struct frames *frames, uint64_t addr);
/* Rows, the largest value of the type that is shown first. The caller frees. */
size_t *profile_sorted(const struct profile *profile);

#endif

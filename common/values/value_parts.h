/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `value`: printing of one value within another. */
#ifndef VALUE_PARTS_H
#define VALUE_PARTS_H

#include "values/value_read.h"

struct value_printer {
	FILE *out;
	const struct value_source *source;
	enum value_style style;
	unsigned depth; /* of values within each other */
	unsigned count; /* of values so far */
};

void value_print_at(struct value_printer *printer, const struct value_at *at);
/* the same for a part of a value: never bare */
void value_print_part(struct value_printer *printer, const struct value_at *at);
/* of the type, harmless for a terminal */
void value_print_name(struct value_printer *printer, const struct gotype *type);

/* of what a pointer leads to */
void value_print_address(struct value_printer *printer, uint64_t addr);

void value_print_map(struct value_printer *printer, const struct value_at *at);
void value_print_interface(struct value_printer *printer, const struct value_at *at);

/* What the two words of a PAIR prove to be; TEXT is a guess, to be marked as one. */
enum value_pair { VALUE_PAIR_WORDS, VALUE_PAIR_TEXT, VALUE_PAIR_INTERFACE };
enum value_pair value_pair_is(const struct value_source *source, const struct value_at *at);
struct value_at value_pair_text(const struct value_at *at); /* the same words as a string */
void value_print_pair(struct value_printer *printer, const struct value_at *at);

/* Element `index` of a slice or array whose elements follow each other. */
struct value_element {
	struct shape plain; /* where there is no shape of its own */
	struct value_at at;
};
/* Sets up *out, which must stay where it is. */
void value_slice_element(const struct value_bytes *bytes, const struct gotype *elem, uint64_t index,
			 struct value_element *out);
/* how many elements of a slice can be printed */
uint64_t value_slice_there(const struct value_bytes *bytes, const struct gotype *elem);

/* An error's text as its Error() would give it, as far as its type is known and its parts were
 * read; raw bytes. NULL: not known. Caller frees. */
char *value_message(const struct value_source *source, const struct value_held *held, size_t *len);
/* The same of a value that is no interface: a syscall.Errno. */
char *value_message_at(const struct value_source *source, const struct value_at *at, size_t *len);

/* The text that a value's String() or Error() gives whose type is known for it and is more than its
 * fields in a row: net.IP, url.URL; of a pointer to such a type too, where it was followed. Raw
 * bytes, NULL, and who frees: as above. */
char *value_known_text(const struct value_source *source, const struct value_at *at, size_t *len);

/* time.Duration's number of ns, and time.Time: as its String() does, or in UTC as RFC 3339 has it;
 * false: the value is not of that type, or was not read. */
bool value_is_duration(const struct gotype *type);
bool value_print_time(FILE *out, const struct value_source *source, const struct value_at *at);
bool value_print_rfc3339(FILE *out, const struct value_source *source, const struct value_at *at);

#endif

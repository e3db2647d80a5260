/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `value`: prints values within values. */
#ifndef VALUE_INTERNAL_H
#define VALUE_INTERNAL_H

#include "values/value.h"

#include "values/value_read.h"

struct value_printer {
	FILE *out;
	const struct value_source *source;
	enum value_style style;
	unsigned depth; /* of values within each other */
	unsigned count; /* of values so far */
};

void value_print_at(struct value_printer *printer, const struct value_at *at);
/* the same for a part of a value: strings and errors are never printed bare */
void value_print_part(struct value_printer *printer, const struct value_at *at);
/* the type's name, escaped for a terminal */
void value_print_name(struct value_printer *printer, const struct gotype *type);

/* an address, or "0x..." with no_addresses */
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
/* Fills in *out, which must not be moved: `at` may point into it. */
void value_slice_element(const struct value_bytes *bytes, const struct gotype *elem, uint64_t index,
			 struct value_element *out);
/* how many elements of a slice can be printed */
uint64_t value_slice_there(const struct value_bytes *bytes, const struct gotype *elem);

/* An error's text as its Error() would give it, if its type is known and its parts were read; raw
 * bytes. NULL: not known. Caller frees. */
char *value_message(const struct value_source *source, const struct value_held *held, size_t *len);
/* The same for a value that is not in an interface: a syscall.Errno. */
char *value_message_at(const struct value_source *source, const struct value_at *at, size_t *len);

/* The text that String() or Error() gives for a value of the types of value_known.h, such as
 * net.IP, or for a pointer to one that was followed. Raw bytes; NULL: not known. Caller frees. */
char *value_known_text(const struct value_source *source, const struct value_at *at, size_t *len);

/* time.Duration; and time.Time, printed as by its String(), or in UTC as in RFC 3339; false: the
 * value is not of that type, or was not read. */
bool value_is_duration(const struct gotype *type);
/* GOTYPE_OPEN_FLAGS, printed as O_RDWR|O_CREAT; bits without a name in hexadecimal */
bool value_is_open_flags(const struct gotype *type);
void value_print_open_flags(FILE *out, int64_t flags);
bool value_print_time(FILE *out, const struct value_source *source, const struct value_at *at);
bool value_print_rfc3339(FILE *out, const struct value_source *source, const struct value_at *at);

/* Prints the value. The program's control characters never reach `out` unescaped. */
void value_print(FILE *out, const struct shape *shape, const struct value_source *source,
		 enum value_style style);
/* The integer (sign-extended) or bool at the start of the shape's own bytes. false: the value is
 * neither, or was not read. */
bool value_int(const struct shape *shape, const struct value_source *source, int64_t *out);
/* Is it a type, or a pointer to one, that is printed as by its String(): net.IP, url.URL? */
bool value_has_text(const struct gotype *type);
/* "1.5s", as time.Duration's String does */
void value_print_duration(FILE *out, int64_t ns);

#endif

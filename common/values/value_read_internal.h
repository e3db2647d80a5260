/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room values uses of value_read. */
#ifndef VALUE_READ_INTERNAL_H
#define VALUE_READ_INTERNAL_H

#include "values/value_read.h"

const char *value_why(enum value_got got); /* "...", "<fault>", "nil", ... */
/* `size` bytes from `skip` bytes into the value */
enum value_got value_read(const struct value_source *source, const struct value_at *at,
			  uint32_t skip, void *out, uint32_t size);
/* A pointer, length or other number of at most 8 bytes, extended by the type's sign. */
enum value_got value_read_word(const struct value_source *source, const struct value_at *at,
			       uint32_t skip, uint64_t *out);
enum value_got value_read_number(const struct value_source *source, const struct value_at *at,
				 int64_t *out);
enum value_got value_read_floats(const struct value_source *source, const struct value_at *at,
				 double *out, unsigned count);
/* What the value refers to; NULL: the record has no room for it. */
const struct shape_ref *value_ref(const struct value_at *at, enum shape_what what);
/* How many bytes of it were read; VALUE_FAULT, VALUE_NIL: none. */
enum value_got value_ref_bytes(const struct value_source *source, const struct shape_ref *ref,
			       uint32_t *len);
/* What a pointer leads to, where that is followed, as far as it was read. Sets up *out, which must
 * stay where it is. VALUE_NIL: it is nil. */
enum value_got value_read_pointee(const struct value_source *source, const struct value_at *at,
				  struct value_pointee *out);
/* VALUE_GOT, and value_held_free() is to be called; VALUE_NIL; or why not. */
enum value_got value_read_held(const struct value_source *source, const struct value_at *at,
			       struct value_held *out);
void value_held_free(struct value_held *held);
/* The field of a struct by its name. false: it has none. */
bool value_field(const struct value_at *at, const char *name, struct value_at *out);
bool value_is_byte(const struct gotype *type);

#endif

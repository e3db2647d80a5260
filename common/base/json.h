/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines (RFC 8259): each outermost object is one line.
 *   {"type":"count","func":"main.f","count":3}
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	unsigned depth;    /* at most 63 */
	uint64_t nonempty; /* bit n: depth n has a member already */
	bool after_key;
};

void json_init(struct json *json, FILE *out);
void json_object(struct json *json);
void json_object_end(struct json *json); /* of the outermost: ends the line */
void json_array(struct json *json);
void json_array_end(struct json *json);

void json_key(struct json *json, const char *key); /* exactly one value follows */
void json_key_bytes(struct json *json, const char *key, size_t len);
/* Bytes that are not UTF-8 become U+FFFD; control characters are escaped, C1 ones as well. */
void json_string(struct json *json, const char *text); /* NULL: null */
void json_bytes(struct json *json, const char *bytes, size_t len);
void json_u64(struct json *json, uint64_t n);
void json_i64(struct json *json, int64_t n);
void json_number(struct json *json, const char *text); /* `text` is one as JSON has it */
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* a key and its value */
void json_member_string(struct json *json, const char *key, const char *text); /* NULL: null */
void json_member_u64(struct json *json, const char *key, uint64_t n);
void json_member_i64(struct json *json, const char *key, int64_t n);
void json_member_bool(struct json *json, const char *key, bool value);

#endif

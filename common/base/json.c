// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

void json_init(struct json *json, FILE *out)
{
	*json = (struct json){.out = out};
}

/* the comma before every member but the first */
static void begin_value(struct json *json)
{
	uint64_t bit = 1ull << (json->depth & 63);

	if (!json->after_key && json->depth && (json->nonempty & bit))
		putc(',', json->out);
	json->nonempty |= bit;
	json->after_key = false;
}

static void open_level(struct json *json, char bracket)
{
	begin_value(json);
	putc(bracket, json->out);
	json->depth++;
	json->nonempty &= ~(1ull << (json->depth & 63));
}

static void close_level(struct json *json, char bracket)
{
	putc(bracket, json->out);
	if (--json->depth == 0)
		putc('\n', json->out);
}

void json_object(struct json *json)
{
	open_level(json, '{');
}

void json_object_end(struct json *json)
{
	close_level(json, '}');
}

void json_array(struct json *json)
{
	open_level(json, '[');
}

void json_array_end(struct json *json)
{
	close_level(json, ']');
}

static void put_character(FILE *out, const char *bytes, size_t len, uint32_t c)
{
	if (!len)
		fputs("\xef\xbf\xbd", out); /* U+FFFD */
	else if (c == '"' || c == '\\')
		fprintf(out, "\\%c", (char)c);
	else if (c == '\n')
		fputs("\\n", out);
	else if (c == '\t')
		fputs("\\t", out);
	else if (utf8_is_control(c))
		fprintf(out, "\\u%04x", (unsigned)c);
	else
		fwrite(bytes, 1, len, out);
}

static void put_quoted(FILE *out, const char *bytes, size_t len)
{
	putc('"', out);
	utf8_write(out, bytes, len, put_character);
	putc('"', out);
}

void json_key_bytes(struct json *json, const char *key, size_t len)
{
	begin_value(json);
	put_quoted(json->out, key, len);
	putc(':', json->out);
	json->after_key = true;
}

void json_key(struct json *json, const char *key)
{
	json_key_bytes(json, key, strlen(key));
}

void json_bytes(struct json *json, const char *bytes, size_t len)
{
	begin_value(json);
	put_quoted(json->out, bytes, len);
}

void json_string(struct json *json, const char *text)
{
	if (text)
		json_bytes(json, text, strlen(text));
	else
		json_null(json);
}

void json_u64(struct json *json, uint64_t n)
{
	begin_value(json);
	fprintf(json->out, "%" PRIu64, n);
}

void json_i64(struct json *json, int64_t n)
{
	begin_value(json);
	fprintf(json->out, "%" PRId64, n);
}

void json_number(struct json *json, const char *text)
{
	begin_value(json);
	fputs(text, json->out);
}

void json_bool(struct json *json, bool value)
{
	begin_value(json);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json)
{
	begin_value(json);
	fputs("null", json->out);
}

void json_member_string(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_string(json, text);
}

void json_member_u64(struct json *json, const char *key, uint64_t n)
{
	json_key(json, key);
	json_u64(json, n);
}

void json_member_i64(struct json *json, const char *key, int64_t n)
{
	json_key(json, key);
	json_i64(json, n);
}

void json_member_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

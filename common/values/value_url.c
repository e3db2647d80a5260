// SPDX-License-Identifier: Apache-2.0
/* url.URL and url.Userinfo: String() of Go's src/net/url/url.go. A part that was not read
 * completely ends in "...". */
#include <string.h>

#include "base/number.h"
#include "values/value_known_internal.h"
#include "values/value_read_internal.h"

enum part { USER, HOST, PATH, FRAGMENT };

static bool is_in(const char *set, uint8_t c)
{
	return c && strchr(set, c);
}

static bool is_escaped(uint8_t c, enum part part)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    is_in("-_.~", c))
		return false;
	switch (part) {
	case USER:
		return !is_in("$&+,;=", c);
	case HOST:
		return !is_in("!$&'()*+,;=:[]<>\"", c);
	case PATH:
		return !is_in("$&+,/:;=@", c);
	default:
		return !is_in("$&+,/:;=?@!()*", c);
	}
}

static void print_escaped(FILE *out, const struct value_bytes *text, enum part part)
{
	for (uint32_t i = 0; i < text->len; i++)
		fprintf(out, is_escaped(text->bytes[i], part) ? "%%%02X" : "%c", text->bytes[i]);
	if (text->len < text->count)
		fputs("...", out);
}

static void print_raw(FILE *out, const struct value_bytes *text)
{
	if (text->len)
		fwrite(text->bytes, 1, text->len, out);
	if (text->len < text->count)
		fputs("...", out);
}

/* Is `raw` an escaped form of `plain`? Texts that were cut are compared as far as they go. */
static bool is_encoding(const struct value_bytes *raw, const struct value_bytes *plain,
			enum part part)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < raw->len; i++, n++) {
		uint8_t c = raw->bytes[i];

		if (c != '%' && !is_in("!$&'()*+,;=:@[]", c) && is_escaped(c, part))
			return false;
		if (c == '%') {
			if (raw->len - i < 3)
				return raw->len < raw->count;
			int high = number_hex_digit(raw->bytes[i + 1]),
			    low = number_hex_digit(raw->bytes[i + 2]);

			if (high < 0 || low < 0)
				return false;
			c = (uint8_t)(high << 4 | low);
			i += 2;
		}
		if (n >= plain->len)
			return plain->len < plain->count;
		if (c != plain->bytes[n])
			return false;
	}
	return n == plain->len || raw->len < raw->count;
}

/* as EscapedPath() and EscapedFragment() do */
static void print_encoded(FILE *out, const struct value_bytes *raw, const struct value_bytes *plain,
			  enum part part)
{
	bool is_star = part == PATH && plain->count == 1 && plain->len && plain->bytes[0] == '*';

	if (raw->count && is_encoding(raw, plain, part))
		print_raw(out, raw);
	else if (is_star)
		print_raw(out, plain);
	else
		print_escaped(out, plain, part);
}

bool value_url_user(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes name, password;
	int64_t has_password;

	if (!value_known_bytes(source, at, "username", &name) ||
	    !value_known_bytes(source, at, "password", &password) ||
	    !value_known_number(source, at, "passwordSet", &has_password))
		return false;
	print_escaped(out, &name, USER);
	if (has_password) {
		putc(':', out);
		print_escaped(out, &password, USER);
	}
	return true;
}

struct url {
	struct value_bytes scheme, opaque, host, path, raw_path, query, fragment, raw_fragment;
	struct value_at user;
	uint64_t has_user;
	int64_t force_query, omit_host;
};

static bool read_url(const struct value_source *source, const struct value_at *at, struct url *out)
{
	if (!value_known_number(source, at, "OmitHost", &out->omit_host)) /* from Go 1.19 on */
		out->omit_host = 0;
	return value_known_bytes(source, at, "Scheme", &out->scheme) &&
	       value_known_bytes(source, at, "Opaque", &out->opaque) &&
	       value_known_bytes(source, at, "Host", &out->host) &&
	       value_known_bytes(source, at, "Path", &out->path) &&
	       value_known_bytes(source, at, "RawPath", &out->raw_path) &&
	       value_known_bytes(source, at, "RawQuery", &out->query) &&
	       value_known_bytes(source, at, "Fragment", &out->fragment) &&
	       value_known_bytes(source, at, "RawFragment", &out->raw_fragment) &&
	       value_known_number(source, at, "ForceQuery", &out->force_query) &&
	       value_field(at, "User", &out->user) &&
	       value_read_word(source, &out->user, 0, &out->has_user) == VALUE_GOT;
}

static bool print_authority(FILE *out, const struct value_source *source, const struct url *url)
{
	struct value_pointee user;

	if (!url->scheme.count && !url->host.count && !url->has_user)
		return true;
	if (url->omit_host && !url->host.count && !url->has_user)
		return true;
	if (url->host.count || url->path.count || url->has_user)
		fputs("//", out);
	if (url->has_user) {
		if (value_read_pointee(source, &url->user, &user) != VALUE_GOT)
			fputs("...", out);
		else if (!value_url_user(out, source, &user.at))
			return false;
		putc('@', out);
	}
	print_escaped(out, &url->host, HOST);
	return true;
}

/* Would the path's first segment be taken for a scheme? */
static bool has_colon_first(const struct value_bytes *path)
{
	for (uint32_t i = 0; i < path->len && path->bytes[i] != '/'; i++) {
		if (path->bytes[i] == ':')
			return true;
	}
	return false;
}

static void print_path(FILE *out, const struct url *url)
{
	bool begins = !url->scheme.count && !url->host.count && !url->has_user;

	if (url->path.len && url->path.bytes[0] != '/' && url->host.count)
		putc('/', out);
	if (begins && has_colon_first(&url->path))
		fputs("./", out);
	print_encoded(out, &url->raw_path, &url->path, PATH);
}

bool value_url(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct url url;

	if (!read_url(source, at, &url))
		return false;
	print_raw(out, &url.scheme);
	if (url.scheme.count)
		putc(':', out);
	if (url.opaque.count) {
		print_raw(out, &url.opaque);
	} else {
		if (!print_authority(out, source, &url))
			return false;
		print_path(out, &url);
	}
	if (url.force_query || url.query.count) {
		putc('?', out);
		print_raw(out, &url.query);
	}
	if (url.fragment.count) {
		putc('#', out);
		print_encoded(out, &url.raw_fragment, &url.fragment, FRAGMENT);
	}
	return true;
}

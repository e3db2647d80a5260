// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

static size_t sequence_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

size_t utf8_decode(const char *text, size_t len, uint32_t *character)
{
	static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t n = len ? sequence_length(s[0]) : 0;

	if (!n || n > len)
		return 0;
	uint32_t c = s[0] & lead_bits[n];

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*character = c;
	return n;
}

bool utf8_is_control(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
		return true;
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static size_t plain_run(const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && bytes[n] >= ' ' && bytes[n] <= '~' && bytes[n] != '"' && bytes[n] != '\\')
		n++;
	return n;
}

void utf8_write(FILE *out, const char *bytes, size_t len, utf8_put_fn *put)
{
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c = 0;

		n = plain_run(bytes + i, len - i);
		if (n) {
			fwrite(bytes + i, 1, n, out);
			continue;
		}
		n = utf8_decode(bytes + i, len - i, &c);
		put(out, bytes + i, n, c);
		n += !n;
	}
}

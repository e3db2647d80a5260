// SPDX-License-Identifier: Apache-2.0
#include "program/buildinfo_internal.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "elf/image.h"

/* The header, 32 bytes aligned to 16: 14 of magic, the pointer size, flags. Up to 1.17 two
 * pointers to Go strings follow, from 1.18 (flag 2) a length as varint and the text itself. */
enum { HEADER_SIZE = 32, PTRSIZE_AT = 14, FLAGS_AT = 15, FLAG_BIG_ENDIAN = 1, FLAG_INLINE = 2 };

static const char magic[] = "\xff Go buildinf:";

/* --- the text of a version --- */

static const char *read_version_part(const char *s, int *out)
{
	int value = 0, digits = 0;

	while (*s >= '0' && *s <= '9' && digits < 4) {
		value = value * 10 + (*s++ - '0');
		digits++;
	}
	if (!digits)
		return NULL;
	*out = value;
	return s;
}

/* "go1.19.8", "go1.27rc1", "devel go1.24-abc": whatever follows the numbers is left alone */
static bool parse_version(struct buildinfo *out)
{
	const char *s = out->version;
	bool devel = strncmp(s, "devel ", 6) == 0;

	out->release = -1;
	out->patch = 0;
	if (devel)
		s += 6;
	if (strncmp(s, "go1", 3) != 0)
		return devel;
	if (s[3] != '.')
		return false;
	s = read_version_part(s + 4, &out->release);
	if (!s)
		return false;
	if (*s == '.' && !read_version_part(s + 1, &out->patch))
		return false;
	return true;
}

static bool set_version(const char *text, uint64_t len, struct buildinfo *out)
{
	if (!len)
		return false;
	if (len >= sizeof(out->version))
		len = sizeof(out->version) - 1;
	memcpy(out->version, text, len);
	out->version[len] = '\0';
	return parse_version(out);
}

/* --- .go.buildinfo --- */

/* the string whose header {pointer, length} stands at addr */
static bool read_go_string(const struct image *img, uint64_t addr, struct buildinfo *out)
{
	uint64_t addr_of_text, len;

	if (!image_u64(img, addr, &addr_of_text) || !image_u64(img, addr + 8, &len))
		return false;
	const char *text = image_at(img, addr_of_text, len);

	return text && set_version(text, len, out);
}

const char *buildinfo_text(const struct image *img, uint64_t *addr, uint64_t *len)
{
	*len = 0;
	for (unsigned i = 0; i < 5; i++) {
		const uint8_t *byte = image_at(img, *addr + i, 1);

		if (!byte)
			return NULL;
		*len |= (uint64_t)(*byte & 0x7f) << (7 * i);
		if (*byte & 0x80)
			continue;
		const char *text = image_at(img, *addr + i + 1, *len);

		*addr += i + 1 + *len;
		return text;
	}
	return NULL;
}

static bool read_inline(const struct image *img, uint64_t addr, struct buildinfo *out)
{
	uint64_t len;
	const char *text = buildinfo_text(img, &addr, &len);

	out->settings = addr;
	return text && set_version(text, len, out);
}

static bool read_header(const struct image *img, uint64_t addr, struct buildinfo *out)
{
	const uint8_t *head = image_at(img, addr, HEADER_SIZE);
	uint64_t string;

	if (!head || memcmp(head, magic, PTRSIZE_AT) != 0)
		return false;
	if (head[FLAGS_AT] & FLAG_INLINE)
		return read_inline(img, addr + HEADER_SIZE, out);
	if (head[PTRSIZE_AT] != 8 || (head[FLAGS_AT] & FLAG_BIG_ENDIAN))
		return false;
	return image_u64(img, addr + 16, &string) && read_go_string(img, string, out);
}

static bool scan_for_header(const struct image *img, const struct image_segment *seg,
			    struct buildinfo *out)
{
	const char *data = image_at(img, seg->addr, seg->filesz);
	uint64_t off = -seg->addr & 15;

	for (; data && off < seg->filesz && seg->filesz - off >= HEADER_SIZE; off += 16)
		if (memcmp(data + off, magic, PTRSIZE_AT) == 0)
			return read_header(img, seg->addr + off, out);
	return false;
}

/* --- without it --- */

/* runtime.buildVersion: the one string variable that points to a text like go1.19.8 */
static bool scan_for_string(const struct image *img, const struct image_segment *seg,
			    struct buildinfo *out)
{
	const char *data = image_at(img, seg->addr, seg->filesz);
	uint64_t off = -seg->addr & 7;

	for (; data && off < seg->filesz && seg->filesz - off >= 16; off += 8) {
		uint64_t string[2];

		memcpy(string, data + off, sizeof(string));
		if (string[1] < sizeof("go1.N") - 1 || string[1] >= sizeof(out->version))
			continue;

		const char *text = image_at(img, string[0], string[1]);

		if (text && memcmp(text, "go1.", 4) == 0 && set_version(text, string[1], out))
			return true;
	}
	return false;
}

static bool scan(const struct image *img,
		 bool (*fn)(const struct image *, const struct image_segment *, struct buildinfo *),
		 struct buildinfo *out)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++)
		if (segments[i].write && fn(img, &segments[i], out))
			return true;
	return false;
}

bool buildinfo_read(const struct image *img, struct buildinfo *out)
{
	struct image_section sec;

	out->settings = 0;
	if (image_section(img, ".go.buildinfo", &sec) && read_header(img, sec.addr, out))
		return true;
	out->settings = 0;
	if (scan(img, scan_for_header, out) || scan(img, scan_for_string, out))
		return true;
	*out = (struct buildinfo){.release = -1};
	return false;
}

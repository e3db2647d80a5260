// SPDX-License-Identifier: Apache-2.0
#include "program/moduledata_internal.h"

#include <limits.h>
#include <string.h>

#include "elf/image.h"

/* src/runtime/symtab.go, type moduledata, of each release: its fields in their order there */
static const struct moduledata_layout layouts[] = {
	/* first, last; funcnametab, pclntable, ftab, text; types, typedesclen, etypes, itaboffset,
	 * itabsize; gofunc; typelinks, itablinks; gcdatamask */
	{15, 15, 0, 0, 3, 12, 25, 0, 26, 0, 0, 0, 30, 33, 50},
	{16, 17, 1, 13, 16, 22, 35, 0, 36, 0, 0, 0, 40, 43, 60},
	{18, 19, 1, 13, 16, 22, 35, 0, 36, 0, 0, 38, 42, 45, 62},
	{20, 20, 1, 13, 16, 22, 37, 0, 38, 0, 0, 40, 44, 47, 64},
	{21, 25, 1, 13, 16, 22, 37, 0, 38, 0, 0, 40, 44, 47, 67},
	{26, 26, 1, 13, 16, 22, 37, 0, 38, 0, 0, 40, 45, 48, 68},
	{27, INT_MAX, 1, 13, 16, 22, 37, 38, 39, 40, 41, 43, 0, 0, 65},
};

const struct moduledata_layout *moduledata_layout(int release)
{
	size_t i = sizeof(layouts) / sizeof(*layouts) - 1;

	while (i && layouts[i].first > release)
		i--;
	return &layouts[i];
}

uint64_t moduledata_word(const struct image *img, uint64_t addr, unsigned index)
{
	uint64_t value;

	return image_u64(img, addr + index * 8, &value) ? value : 0;
}

static bool matches(const struct image *img, uint64_t addr, const struct moduledata_word *words,
		    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (moduledata_word(img, addr, words[i].index) != words[i].value)
			return false;
	return true;
}

static uint64_t find_in_segment(const struct image *img, const struct image_segment *seg,
				const struct moduledata_word *words, size_t count)
{
	uint64_t pad = -seg->addr & 7;
	const uint8_t *data = image_at(img, seg->addr, seg->filesz);

	if (!data)
		return 0;
	for (uint64_t off = pad; off < seg->filesz && seg->filesz - off >= 8; off += 8) {
		uint64_t first;

		memcpy(&first, data + off, sizeof(first));
		if (first == words[0].value && matches(img, seg->addr + off, words, count))
			return seg->addr + off;
	}
	return 0;
}

uint64_t moduledata_find(const struct image *img, const struct moduledata_word *words, size_t count)
{
	struct image_section sec;
	size_t nsegments;
	const struct image_segment *segments = image_segments(img, &nsegments);

	/* a section of its own from Go 1.26 */
	if (image_section(img, ".go.module", &sec) && matches(img, sec.addr, words, count))
		return sec.addr;
	for (size_t i = 0; i < nsegments; i++) {
		uint64_t addr = 0;

		if (segments[i].write)
			addr = find_in_segment(img, &segments[i], words, count);
		if (addr)
			return addr;
	}
	return 0;
}

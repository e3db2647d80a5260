// SPDX-License-Identifier: Apache-2.0
/* Where a process has a program's code, as its maps would tell: it may have ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/debuglink.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "frames/frames.h"
#include "profile/profile_internal.h"

struct mapped {
	const struct image *img;
	uint64_t bias;
	const struct image_segment *segment;
	uint64_t mapping;
};

static size_t file_of(struct profile *profile, const struct image *img)
{
	char *place = heldfile_place(image_file(img));
	size_t text = interned_text(&profile->texts, place ? place : image_path(img));

	free(place);
	return text;
}

static size_t build_id_of(struct profile *profile, const struct image *img)
{
	char text[2 * DEBUGLINK_ID_MAX + 1] = "";
	struct debuglink_id id = {0};

	debuglink_read_id(image_sections(img), &id);
	for (size_t i = 0; i < id.len; i++)
		snprintf(text + 2 * i, 3, "%02x", id.bytes[i]);
	return interned_text(&profile->texts, text);
}

/* The kernel maps whole pages. */
static uint64_t make_mapping(struct profile *profile, const struct mapped *mapped)
{
	uint64_t page = sysconf(_SC_PAGESIZE), in_page = mapped->segment->addr & (page - 1);
	uint64_t end = mapped->segment->addr + mapped->segment->memsz;
	uint64_t words[PROFILE_MAPPING_WORDS] = {
		[PROFILE_MAPPING_START] = mapped->segment->addr - in_page + mapped->bias,
		[PROFILE_MAPPING_LIMIT] = ((end + page - 1) & -page) + mapped->bias,
		[PROFILE_MAPPING_OFF] = mapped->segment->off & -page,
		[PROFILE_MAPPING_FILE] = file_of(profile, mapped->img),
		[PROFILE_MAPPING_BUILD_ID] = build_id_of(profile, mapped->img)};

	return interned_words(&profile->mappings, words, PROFILE_MAPPING_WORDS);
}

static const struct image_segment *find_segment(const struct image *img, uint64_t addr)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++)
		if (addr >= segments[i].addr && addr - segments[i].addr < segments[i].memsz)
			return &segments[i];
	return NULL;
}

uint64_t profile_mapping(struct profile *profile, const struct frames *frames, uint64_t addr)
{
	struct mapped sought = {frames->img, frames->bias, find_segment(frames->img, addr), 0};
	uint64_t hash = index_hash(index_hash(0, (uintptr_t)sought.img), sought.bias);
	size_t n = index_first(&profile->mapped_index, hash);

	if (!sought.segment)
		return PROFILE_NO_MAPPING;
	while (n != INDEX_NONE &&
	       (profile->mapped[n].img != sought.img || profile->mapped[n].bias != sought.bias ||
		profile->mapped[n].segment != sought.segment))
		n = index_next(&profile->mapped_index, n);
	if (n != INDEX_NONE)
		return profile->mapped[n].mapping;
	index_add(&profile->mapped_index, hash);
	sought.mapping = make_mapping(profile, &sought);
	profile->mapped = mem_grow(profile->mapped, profile->mapped_count, &profile->mapped_cap,
				   sizeof(*profile->mapped));
	profile->mapped[profile->mapped_count++] = sought;
	return sought.mapping;
}

// SPDX-License-Identifier: Apache-2.0
#include "program/pclntab_table_internal.h"

#include "base/errmsg.h"
#include "elf/image.h"
#include "golang/release.h"
#include "program/moduledata_internal.h"
#include "program/functab_internal.h"

enum {
	MAX_CANDIDATES = 16, /* places that look like a header; a real file has one */
	RECORD_FUNC_ID_120 = 40,
	WRAPPER_ID_126 = 23,
};

/* src/runtime/symtab.go, the header's magic; src/internal/abi/symtab.go, FuncIDWrapper */
static const struct header {
	uint32_t magic;
	int release;        /* the first one known to have it */
	uint8_t wrapper_id; /* 0: to be found in the records */
} headers[] = {
	[PCLNTAB_12] = {0xfffffffb, 15, 22},
	[PCLNTAB_116] = {0xfffffffa, 16, 22},
	[PCLNTAB_118] = {0xfffffff0, 18, 21},
	[PCLNTAB_120] = {0xfffffff1, 20, 0},
};

static bool layout_of(uint32_t magic, enum pclntab_layout *layout)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		if (headers[i].magic != magic)
			continue;
		*layout = (enum pclntab_layout)i;
		return true;
	}
	return false;
}

bool pclntab_part_u64(const struct pclntab_part *part, uint64_t off, uint64_t *out)
{
	if (off > part->len || part->len - off < sizeof(*out))
		return false;
	memcpy(out, part->data + off, sizeof(*out));
	return true;
}

static bool wide(const struct functab *tab)
{
	return tab->layout <= PCLNTAB_116; /* functab of u64 addresses, not u32 offsets */
}

void pclntab_entry(const struct functab *tab, uint32_t index, uint64_t *addr, uint64_t *record)
{
	const uint8_t *functab = tab->functab.data;
	uint32_t pair[2] = {0};
	uint64_t wide_pair[2] = {0};
	size_t words = index < tab->nfunc ? 2 : 1;

	if (wide(tab)) {
		memcpy(wide_pair, functab + index * 16ULL, words * 8);
		*addr = wide_pair[0];
		*record = wide_pair[1];
		return;
	}
	memcpy(pair, functab + index * 8ULL, words * 4);
	*addr = tab->text + pair[0];
	*record = pair[1];
}

/* --- the header --- */

static bool part_at(const struct functab *tab, uint64_t off, struct pclntab_part *out)
{
	uint64_t left = image_left(tab->img, tab->addr);

	if (off >= left)
		return false;
	out->addr = tab->addr + off;
	out->len = left - off;
	out->data = image_at(tab->img, out->addr, out->len);
	return out->data;
}

/* Only as much as ends in a NUL, so that every text that begins in it also ends in it. */
static bool texts_at(const struct functab *tab, uint64_t off, struct pclntab_part *out)
{
	if (!part_at(tab, off, out))
		return false;

	const uint8_t *last = memrchr(out->data, '\0', out->len);

	out->len = last ? last - out->data + 1 : 0;
	return out->len;
}

/* Up to 1.15 everything is relative to the header; the file table is an array of offsets that
 * follows the functab: u32 offset of it, there u32 count and the offsets. */
static bool read_header_12(struct functab *tab, const struct pclntab_part *head)
{
	uint64_t nfunc;
	uint32_t files;

	if (!pclntab_part_u64(head, 8, &nfunc) || nfunc >= head->len / 16)
		return false;
	tab->nfunc = nfunc;
	return part_at(tab, 16, &tab->functab) &&
	       pclntab_part_u32(&tab->functab, nfunc * 16 + 8, &files) &&
	       part_at(tab, files, &tab->units) && texts_at(tab, 0, &tab->names) &&
	       texts_at(tab, 0, &tab->files) && part_at(tab, 0, &tab->pcs) &&
	       part_at(tab, 0, &tab->records);
}

static bool read_header_116(struct functab *tab, const struct pclntab_part *head)
{
	unsigned first = wide(tab) ? 24 : 32;
	unsigned entry = wide(tab) ? 16 : 8;
	uint64_t nfunc, offs[5];

	if (!pclntab_part_u64(head, 8, &nfunc) ||
	    (!wide(tab) && !pclntab_part_u64(head, 24, &tab->text)))
		return false;
	for (unsigned i = 0; i < 5; i++)
		if (!pclntab_part_u64(head, first + i * 8, &offs[i]))
			return false;
	if (!texts_at(tab, offs[0], &tab->names) || !part_at(tab, offs[1], &tab->units) ||
	    !texts_at(tab, offs[2], &tab->files) || !part_at(tab, offs[3], &tab->pcs) ||
	    !part_at(tab, offs[4], &tab->records))
		return false;
	tab->functab = tab->records; /* records are relative to the functab before them */
	tab->nfunc = nfunc;
	/* the end's address follows the last entry: hence `>=` */
	return nfunc <= UINT32_MAX && nfunc < tab->functab.len / entry;
}

/* --- what moduledata adds --- */

static void find_moduledata(struct functab *tab)
{
	const struct moduledata_layout *at = moduledata_layout(headers[tab->layout].release);
	struct moduledata_word words[] = {{0, tab->addr},
					  {at->functab, tab->functab.addr},
					  {at->names, tab->names.addr},
					  {at->records, tab->records.addr}};

	tab->moduledata = moduledata_find(tab->img, words, at->names ? 4 : 2);
}

/* The lowest release with this layout of header and moduledata. */
static int release_of(const struct functab *tab)
{
	const struct moduledata_layout *at = moduledata_layout(RELEASE_NO_TEXT_START);
	uint64_t md = tab->moduledata;

	if (tab->layout != PCLNTAB_120 || tab->text)
		return headers[tab->layout].release;
	/* types_end, an address; from 1.27 this word is the descriptors' length */
	if (moduledata_word(tab->img, md, at->types_end) > moduledata_word(tab->img, md, at->types))
		return RELEASE_NO_TEXT_START;
	return RELEASE_TYPES_IN_A_ROW;
}

/* FuncIDWrapper is 21, 22 or 23 from Go 1.20 to 1.25: the highest number that is used. */
static uint8_t highest_func_id(const struct functab *tab)
{
	uint8_t highest = 0;

	for (uint32_t i = 0; i < tab->nfunc; i++) {
		uint64_t addr, record;

		pclntab_entry(tab, i, &addr, &record);
		if (record < tab->records.len && tab->records.len - record > RECORD_FUNC_ID_120 &&
		    tab->records.data[record + RECORD_FUNC_ID_120] > highest)
			highest = tab->records.data[record + RECORD_FUNC_ID_120];
	}
	return highest;
}

static uint8_t wrapper_id(const struct functab *tab)
{
	if (headers[tab->layout].wrapper_id)
		return headers[tab->layout].wrapper_id;
	return tab->release_guess >= RELEASE_NO_TEXT_START ? WRAPPER_ID_126 : highest_func_id(tab);
}

static bool is_sorted(const struct functab *tab)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i <= tab->nfunc; i++) {
		uint64_t addr, record;

		pclntab_entry(tab, i, &addr, &record);
		if (addr < before)
			return false;
		before = addr;
	}
	return true;
}

/* NULL, or what is wrong with it */
static const char *read_moduledata(struct functab *tab, const struct image *img, uint64_t addr)
{
	struct pclntab_part head;
	uint32_t magic;

	*tab = (struct functab){.img = img, .addr = addr};
	if (!part_at(tab, 0, &head) || !pclntab_part_u32(&head, 0, &magic) || head.len < 8)
		return "is truncated";
	if (!layout_of(magic, &tab->layout) || head.data[4] || head.data[5] ||
	    (head.data[6] != 1 && head.data[6] != 4) || head.data[7] != 8)
		return "has an unknown format";
	tab->quantum = head.data[6];
	if (!(tab->layout == PCLNTAB_12 ? read_header_12(tab, &head) : read_header_116(tab, &head)))
		return "is malformed: a part of it ends past its end";
	if (!tab->nfunc)
		return "is empty";
	find_moduledata(tab);

	const struct moduledata_layout *at;

	tab->release_guess = release_of(tab);
	at = moduledata_layout(tab->release_guess);
	if (!wide(tab) && !tab->text)
		tab->text = moduledata_word(img, tab->moduledata, at->text);
	if (!wide(tab) && !tab->text)
		return "cannot be read without runtime.moduledata, which was not found";
	if (!is_sorted(tab))
		return "is malformed: its functions are not in order";
	if (at->gofunc && tab->moduledata)
		tab->gofunc = moduledata_word(img, tab->moduledata, at->gofunc);
	tab->wrapper_id = wrapper_id(tab);
	return NULL;
}

/* --- finding it --- */

static bool looks_like_header(const uint8_t *data)
{
	enum pclntab_layout layout;
	uint32_t magic;

	memcpy(&magic, data, sizeof(magic));
	return magic >= 0xfffffff0 && layout_of(magic, &layout) && !data[4] && !data[5] &&
	       (data[6] == 1 || data[6] == 4) && data[7] == 8;
}

struct search {
	const struct image *img;
	struct functab *tab;
	unsigned tried;
	const char *problem; /* of the last candidate */
};

static bool search_segment(struct search *search, const struct image_segment *seg)
{
	const uint8_t *data = image_at(search->img, seg->addr, seg->filesz);

	if (!data)
		return false;
	for (uint64_t off = -seg->addr & 7; off < seg->filesz && seg->filesz - off >= 8; off += 8) {
		if (!looks_like_header(data + off))
			continue;
		search->problem = read_moduledata(search->tab, search->img, seg->addr + off);
		if (!search->problem)
			return true;
		if (++search->tried == MAX_CANDIDATES)
			return false;
	}
	return false;
}

static bool search_sections(struct search *search)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	struct image_section sec;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!image_section(search->img, names[i], &sec))
			continue;
		search->problem = read_moduledata(search->tab, search->img, sec.addr);
		if (!search->problem)
			return true;
	}
	return false;
}

/* Externally linked PIE programs have no section for it, others no section headers at all. */
static bool search_segments(struct search *search)
{
	size_t count;
	const struct image_segment *segments = image_segments(search->img, &count);

	for (int exec = 0; exec <= 1; exec++)
		for (size_t i = 0; i < count && search->tried < MAX_CANDIDATES; i++)
			if (segments[i].exec == exec && search_segment(search, &segments[i]))
				return true;
	return false;
}

/* UPX puts its mark right after the program headers, in the first segment. */
static bool is_packed(const struct image *img)
{
	size_t count;
	const struct image_segment *seg = image_segments(img, &count);
	size_t len = seg->filesz < 4096 ? seg->filesz : 4096;
	const void *start = image_at(img, seg->addr, len);

	return start && memmem(start, len, "UPX!", 4);
}

int pclntab_table_find(const struct image *img, struct functab *tab, struct errmsg *err)
{
	struct search search = {.img = img, .tab = tab};

	if (search_sections(&search) || search_segments(&search))
		return 0;
	if (search.problem)
		return errmsg_set(err, "\"%s\": its Go function table %s", image_path(img),
				  search.problem);
	errmsg_set(err, "\"%s\": not a Go program", image_path(img));
	if (is_packed(img))
		errmsg_hint(err, "it is packed by UPX: its functions can be seen once it is "
				 "unpacked (upx -d)");
	return -1;
}

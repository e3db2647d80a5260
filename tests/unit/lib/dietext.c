// SPDX-License-Identifier: Apache-2.0
#include "dietext.h"

#include <dwarf.h>

enum { LABELS_MAX = 128, LABEL_MAX = 24, WORD_MAX = 256, DEPTH_MAX = 8, ATTRS_MAX = 10 };
/* Go's own attributes */
enum { GO_KIND = 0x2900, GO_KEY, GO_ELEM, GO_EMBEDDED, GO_RUNTIME_TYPE, GO_PACKAGE };

enum form { NUMBER, ADDRESS, REFERENCE, FLAG, PLACE, RANGES };

static const struct {
	const char *word;
	unsigned attr;
	enum form form;
} attrs[] = {
	{"type", DW_AT_type, REFERENCE},
	{"origin", DW_AT_abstract_origin, REFERENCE},
	{"key", GO_KEY, REFERENCE},
	{"elem", GO_ELEM, REFERENCE},
	{"low", DW_AT_low_pc, ADDRESS},
	{"high", DW_AT_high_pc, ADDRESS},
	{"size", DW_AT_byte_size, NUMBER},
	{"encoding", DW_AT_encoding, NUMBER},
	{"upper", DW_AT_upper_bound, NUMBER},
	{"count", DW_AT_count, NUMBER},
	{"off", DW_AT_data_member_location, NUMBER},
	{"line", DW_AT_decl_line, NUMBER},
	{"column", DW_AT_decl_column, NUMBER},
	{"kind", GO_KIND, NUMBER},
	{"descriptor", GO_RUNTIME_TYPE, NUMBER},
	{"result", DW_AT_variable_parameter, FLAG},
	{"embedded", GO_EMBEDDED, FLAG},
	{"at", DW_AT_location, PLACE},
	{"ranges", DW_AT_ranges, RANGES},
};

static const struct {
	const char *word;
	unsigned tag;
} tags[] = {
	{"unit", DW_TAG_compile_unit},          {"func", DW_TAG_subprogram},
	{"param", DW_TAG_formal_parameter},     {"base", DW_TAG_base_type},
	{"struct", DW_TAG_structure_type},      {"member", DW_TAG_member},
	{"array", DW_TAG_array_type},           {"subrange", DW_TAG_subrange_type},
	{"pointer", DW_TAG_pointer_type},       {"typedef", DW_TAG_typedef},
	{"functype", DW_TAG_subroutine_type},   {"variable", DW_TAG_variable},
	{"inlined", DW_TAG_inlined_subroutine}, {"block", DW_TAG_lexical_block},
	{"const", DW_TAG_const_type},           {"label", DW_TAG_label},
};

struct label {
	char name[LABEL_MAX];
	uint32_t off;
};

struct writer {
	struct elffile *f;
	uint32_t info, abbrev, loc, ranges; /* bytes of each section */
	uint32_t unit, codes;               /* where the unit begins; abbreviations so far */
	uint64_t base;                      /* the unit's lowest address */
	struct label labels[LABELS_MAX], uses[LABELS_MAX];
	size_t label_count, use_count;
};

static void need(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "dietext: %s\n", what);
	abort();
}

static void put(struct writer *w, uint64_t addr, uint32_t *used, uint32_t most, const void *bytes,
		size_t len)
{
	need(*used + len <= most, "no room");
	elffile_bytes(w->f, addr + *used, bytes, len);
	*used += len;
}

static void put_info(struct writer *w, uint64_t value, size_t len)
{
	put(w, DIETEXT_INFO, &w->info, DIETEXT_INFO_MAX, &value, len);
}

static void put_leb(struct writer *w, uint64_t addr, uint32_t *used, uint32_t most, unsigned value)
{
	do {
		uint8_t byte = (value & 0x7f) | (value >= 0x80 ? 0x80 : 0);

		put(w, addr, used, most, &byte, 1);
		value >>= 7;
	} while (value);
}

static void put_abbrev(struct writer *w, unsigned value)
{
	put_leb(w, DIETEXT_ABBREV, &w->abbrev, DIETEXT_ABBREV_MAX, value);
}

static size_t hex_bytes(const char *hex, uint8_t *out)
{
	size_t len = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[len++] = byte;
	return len;
}

/* "FROM-TO[:BYTES],...": a list of ranges, whose end is a pair of zeros */
static uint32_t put_list(struct writer *w, const char *text, uint64_t addr, uint32_t *used,
			 bool has_bytes)
{
	uint32_t begin = *used;
	uint64_t range[2];
	uint8_t bytes[64];
	int len = 0;

	for (; sscanf(text, "%lx-%lx%n", &range[0], &range[1], &len) == 2;
	     text += *text == ',' ? 1 : 0) {
		text += len;
		range[0] -= w->base;
		range[1] -= w->base;
		put(w, addr, used, DIETEXT_LISTS_MAX, range, sizeof(range));
		if (!has_bytes)
			continue;
		need(*text == ':', "a range has no location");

		uint16_t count = hex_bytes(++text, bytes);

		put(w, addr, used, DIETEXT_LISTS_MAX, &count, 2);
		put(w, addr, used, DIETEXT_LISTS_MAX, bytes, count);
		text += 2 * count;
	}
	memset(range, 0, sizeof(range));
	put(w, addr, used, DIETEXT_LISTS_MAX, range, sizeof(range));
	return begin;
}

static void put_place(struct writer *w, const char *text)
{
	uint8_t bytes[64];
	size_t len;

	if (strchr(text, '-')) {
		put_abbrev(w, DW_FORM_sec_offset);
		put_info(w, put_list(w, text, DIETEXT_LOC, &w->loc, true), 4);
		return;
	}
	put_abbrev(w, DW_FORM_exprloc);
	len = hex_bytes(text, bytes);
	put_info(w, len, 1);
	for (size_t i = 0; i < len; i++)
		put_info(w, bytes[i], 1);
}

static void put_value(struct writer *w, enum form form, const char *text)
{
	static const unsigned forms[] = {DW_FORM_data8, DW_FORM_addr, DW_FORM_ref_addr,
					 DW_FORM_flag};

	if (form == PLACE) {
		put_place(w, text);
		return;
	}
	put_abbrev(w, form == RANGES ? DW_FORM_sec_offset : forms[form]);
	switch (form) {
	case REFERENCE:
		need(*text == '#' && w->use_count < LABELS_MAX, "a reference is wrong");
		snprintf(w->uses[w->use_count].name, LABEL_MAX, "%s", text);
		w->uses[w->use_count++].off = w->info;
		put_info(w, 0, 4);
		break;
	case FLAG:
		put_info(w, strtoull(text, NULL, 16), 1);
		break;
	case RANGES:
		put_info(w, put_list(w, text, DIETEXT_RANGES, &w->ranges, false), 4);
		break;
	default:
		put_info(w, strtoull(text, NULL, 16), 8);
		break;
	}
}

static void put_attr(struct writer *w, char *word)
{
	char *value = strchr(word, '=');

	need(value, word);
	*value++ = '\0';
	for (size_t i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		if (strcmp(attrs[i].word, word) != 0)
			continue;
		put_abbrev(w, attrs[i].attr);
		put_value(w, attrs[i].form, value);
		return;
	}
	need(false, word);
}

static void put_name(struct writer *w, const char *name, unsigned attr)
{
	put_abbrev(w, attr);
	put_abbrev(w, DW_FORM_string);
	do
		put_info(w, (uint8_t)*name, 1);
	while (*name++);
}

static unsigned tag_of(const char *word)
{
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (strcmp(tags[i].word, word) == 0)
			return tags[i].tag;
	need(false, word);
	return 0;
}

static void end_unit(struct writer *w)
{
	if (w->info > w->unit)
		elffile_u32(w->f, DIETEXT_INFO + w->unit, w->info - w->unit - 4);
}

static void begin_unit(struct writer *w, const char *line)
{
	const char *low = strstr(line, " low=");

	w->unit = w->info;
	w->base = low ? strtoull(low + 5, NULL, 16) : 0;
	put_info(w, 0, 4); /* its length, later */
	put_info(w, 4, 2); /* version */
	put_info(w, 0, 4); /* offset in .debug_abbrev */
	put_info(w, 8, 1); /* bytes of an address */
}

static void put_label(struct writer *w, const char *name)
{
	need(w->label_count < LABELS_MAX, "too many labels");
	snprintf(w->labels[w->label_count].name, LABEL_MAX, "%s", name);
	w->labels[w->label_count++].off = w->info;
}

/* The next word of a line; a quoted one may have blanks. NULL: there is none */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " "), *end;

	if (!*word)
		return NULL;
	end = *word == '"' ? strchr(word + 1, '"') : word + strcspn(word, " ");
	need(end, "a name does not end");
	*at = end + (*end != '\0');
	*end = '\0';
	return word;
}

static void put_entry(struct writer *w, char *line, bool has_children)
{
	char *at = line, *word = next_word(&at);

	if (*word == '#') {
		put_label(w, word);
		word = next_word(&at);
	}

	unsigned tag = tag_of(word);
	uint8_t children = has_children;

	put_abbrev(w, ++w->codes);
	put_abbrev(w, tag);
	put(w, DIETEXT_ABBREV, &w->abbrev, DIETEXT_ABBREV_MAX, &children, 1);
	need(w->codes < 0x4000, "too many entries");
	put_leb(w, DIETEXT_INFO, &w->info, DIETEXT_INFO_MAX, w->codes);
	while ((word = next_word(&at))) {
		if (*word == '"')
			put_name(w, word + 1, DW_AT_name);
		else if (strncmp(word, "package=", 8) == 0)
			put_name(w, word + 8, GO_PACKAGE);
		else
			put_attr(w, word);
	}
	put_abbrev(w, 0);
	put_abbrev(w, 0);
}

static size_t depth_of(const char *line)
{
	return strspn(line, " ");
}

static void resolve(struct writer *w)
{
	for (size_t i = 0; i < w->use_count; i++) {
		const struct label *use = &w->uses[i], *found = NULL;

		for (size_t k = 0; k < w->label_count; k++)
			if (strcmp(w->labels[k].name, use->name) == 0)
				found = &w->labels[k];
		need(found, use->name);
		elffile_u32(w->f, DIETEXT_INFO + use->off, found->off);
	}
}

void dietext_write(struct elffile *f, const char *text)
{
	struct writer *w = calloc(1, sizeof(*w));
	char line[WORD_MAX];
	uint8_t end = 0;

	need(w, "no memory");
	w->f = f;
	while (*text) {
		size_t len = strcspn(text, "\n"), depth = depth_of(text), after;

		need(len < sizeof(line) && text[len], "a line is too long, or does not end");
		memcpy(line, text, len);
		line[len] = '\0';
		text += len + 1;
		after = *text ? depth_of(text) : 0;
		if (!depth) {
			end_unit(w);
			begin_unit(w, line);
		}
		put_entry(w, line, after > depth);
		for (; depth > after; depth--)
			put_info(w, 0, 1); /* no more children */
	}
	end_unit(w);
	resolve(w);
	put(w, DIETEXT_ABBREV, &w->abbrev, DIETEXT_ABBREV_MAX, &end, 1);
	elffile_section(f, ".debug_abbrev", DIETEXT_ABBREV, w->abbrev);
	elffile_section(f, ".debug_loc", DIETEXT_LOC, w->loc);
	elffile_section(f, ".debug_ranges", DIETEXT_RANGES, w->ranges);
	elffile_section(f, ".debug_info", DIETEXT_INFO, w->info);
	free(w);
}

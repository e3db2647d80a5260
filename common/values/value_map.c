// SPDX-License-Identifier: Apache-2.0
/* Maps: map[string]int(len 3), or as many entries as its first group or bucket has. */
#include <inttypes.h>
#include <string.h>

#include "values/value_internal.h"
#include "values/value_read_internal.h"

enum {
	SLOTS = 8,
	SWISS_EMPTY =
		0x80,    /* so marked are free slots in Go's src/internal/runtime/maps/group.go */
	TOPHASH_MIN = 5, /* least top hash of a slot in use: src/runtime/map.go before */
};

/* How many entries there are. VALUE_NIL, VALUE_FAULT, VALUE_CUT: not known. */
static enum value_got count_entries(const struct value_source *source, const struct value_at *at,
				    uint64_t *count)
{
	const struct shape_ref *ref = value_ref(at, SHAPE_MAP);
	uint64_t pointer;
	uint32_t len;
	enum value_got got = value_read_word(source, at, 0, &pointer);

	if (got != VALUE_GOT)
		return got;
	if (!pointer)
		return VALUE_NIL;
	if (!ref)
		return VALUE_CUT;
	got = value_ref_bytes(source, ref, &len);
	if (got != VALUE_GOT || len < sizeof(*count))
		return got == VALUE_GOT ? VALUE_CUT : VALUE_FAULT;
	memcpy(count, source->record + ref->at, sizeof(*count));
	return VALUE_GOT;
}

static bool is_used(uint8_t mark, bool swiss)
{
	return swiss ? !(mark & SWISS_EMPTY) : mark >= TOPHASH_MIN;
}

struct entries {
	struct value_printer *printer;
	bool any;
};

static void print_entry(struct entries *entries, const struct value_at *key,
			const struct value_at *value)
{
	if (entries->any)
		fputs(", ", entries->printer->out);
	entries->any = true;
	value_print_part(entries->printer, key);
	putc(':', entries->printer->out);
	value_print_part(entries->printer, value);
}

/* Prints each entry that was read. Returns how many. */
static unsigned print_each(struct entries *entries, const struct value_source *source,
			   const struct value_at *at)
{
	const struct shape_ref *ref = value_ref(at, SHAPE_MAP);
	const struct shape_ref *group = ref ? ref->group : NULL;
	unsigned used = 0;
	uint32_t len;

	if (!group || value_ref_bytes(source, group, &len) != VALUE_GOT || len < group->max)
		return 0;
	for (size_t i = 0; i < SLOTS && 2 * i + 1 < group->elem_count; i++) {
		struct value_at key = value_of(&group->elems[2 * i]);
		struct value_at value = value_of(&group->elems[2 * i + 1]);

		if (!is_used(source->record[group->at + i], at->type->swiss))
			continue;
		used++;
		print_entry(entries, &key, &value);
	}
	return used;
}

static void print_entries(struct value_printer *printer, const struct value_at *at, uint64_t count)
{
	struct entries entries = {.printer = printer};

	putc('{', printer->out);
	if (print_each(&entries, printer->source, at) < count)
		fputs(entries.any ? ", ..." : "...", printer->out);
	putc('}', printer->out);
}

void value_print_map(struct value_printer *printer, const struct value_at *at)
{
	const struct shape_ref *ref = value_ref(at, SHAPE_MAP);
	uint64_t count;
	enum value_got got = count_entries(printer->source, at, &count);

	if (got != VALUE_GOT && got != VALUE_CUT) {
		fputs(value_why(got), printer->out);
		return;
	}
	value_print_name(printer, at->type);
	if (got == VALUE_CUT)
		fputs("(...)", printer->out);
	else if (printer->style == VALUE_DEEP && ref->group)
		print_entries(printer, at, count);
	else
		fprintf(printer->out, "(len %" PRIu64 ")", count);
}

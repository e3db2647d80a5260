// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "abi/arginfo.h"
#include "abi/argreads_internal.h"
#include "abi/argtable_place_internal.h"
#include "machine/arch.h"
#include "golang/gofunc.h"
#include "unit.h"

/* What a table tells, as text: "8@0 {8@8 8@16} ..."; what the code reads: registers, then slots of
 * the stack; where each value is: i0, f1, s16, each after ! (certain) or ? (a guess), or "-". */
struct row {
	const char *table;
	uint32_t ints, floats;
	int slot; /* that is read; -1: none */
	int32_t args;
	unsigned hidden;
	const char *places;
};

static const struct row rows[] = {
	/* all registers are read: there is no other way */
	{"8@0", 1, 0, -1, 8, 0, "!i0"},
	{"8@0 8@8 8@16", 7, 0, -1, 24, 0, "!i0 !i1 !i2"},
	{"{8@0 8@8} 4@16 1@20", 15, 0, -1, 24, 0, "!i0 !i1 !i2 !i3"},
	/* floating-point numbers, by what is read of those registers */
	{"8@0", 0, 1, -1, 8, 0, "!f0"},
	{"8@0 8@8", 0, 3, -1, 16, 0, "!f0 !f1"},
	{"1@0 8@8", 1, 1, -1, 16, 0, "!i0 !f0"},
	{"8@0 8@8", 1, 1, -1, 16, 0, "- -"},
	{"2@0 4@4 8@8", 1, 2, -1, 16, 0, "!i0 !f0 !f1"},
	/* what is not read is an integer, by guess */
	{"8@0", 0, 0, -1, 8, 0, "?i0"},
	{"8@0 8@8", 1, 0, -1, 16, 0, "?i0 ?i1"},
	{"{8@0 8@8 8@16}", 1, 0, -1, 24, 0, "?i0 ?i1 ?i2"},
	/* small ones are no floating-point numbers, but may be on the stack with all others */
	{"1@0", 0, 0, -1, 8, 0, "?i0"},
	{"1@0 8@8", 2, 0, -1, 16, 0, "!i0 !i1"},
	/* an array, on the stack; after it the slots of registers */
	{"8@24 {8@0 8@8 8@16} 8@32", 3, 0, -1, 40, 0, "!i0 !s0 !s8 !s16 !i1"},
	{"{8@0 8@8}", 0, 0, 0, 16, 0, "!s0 !s8"},
	/* more than registers hold: the last of eleven is on the stack, before the others' slots */
	{"8@8 8@16 8@24 8@32 8@40 8@48 8@56 8@64 8@72 8@0", 0x1ff, 0, -1, 80, 0,
	 "!i0 !i1 !i2 !i3 !i4 !i5 !i6 !i7 !i8 !s0"},
	/* a struct of ten words never fits */
	{"{8@0 8@8 8@16 8@24 8@32 8@40 8@48 8@56 8@64 8@72}", 0, 0, 0, 80, 0,
	 "!s0 !s8 !s16 !s24 !s32 !s40 !s48 !s56 !s64 !s72"},
	/* stack results stand between stack arguments and slots */
	{"8@80", 1, 0, -1, 88, 0, "!i0"},
	{"8@80", 1, 0, -1, 96, 0, "-"},
	/* a register that cannot be a parameter's: nothing is believed */
	{"8@0", 2, 0, -1, 8, 0, "-"},
	/* ... unless there are others that are not told */
	{"8@0 ...", 3, 0, -1, 16, 0, "?i0"},
	/* a hidden dictionary */
	{"8@8 8@16", 7, 0, -1, 24, 1, "!i1 !i2"},
	{"8@8", 2, 0, -1, 16, 1, "!i1"},
	/* from where it is too far to tell on, nothing is known */
	{"8@0 _ 8@8", 3, 0, -1, 24, 0, "?i0"},
};

static void read_table(const char *text, struct arginfo *info)
{
	*info = (struct arginfo){.count = 0};
	for (const char *at = text; *at; at++) {
		struct arginfo_item *item = &info->items[info->count];
		int size, off, len;

		if (*at == '{')
			*item = (struct arginfo_item){.kind = ARGINFO_OPEN};
		else if (*at == '}')
			*item = (struct arginfo_item){.kind = ARGINFO_CLOSE};
		else if (*at == '_')
			*item = (struct arginfo_item){.kind = ARGINFO_VALUE, .off = -1};
		else if (!strcmp(at, "..."))
			*item = (struct arginfo_item){.kind = ARGINFO_MORE};
		else if (*at != ' ' && sscanf(at, "%d@%d%n", &size, &off, &len) == 2)
			*item = (struct arginfo_item){ARGINFO_VALUE, (uint8_t)size, (int16_t)off};
		else
			continue;
		if (*at >= '0' && *at <= '9')
			at += len - 1;
		info->count++;
		if (item->kind == ARGINFO_MORE) {
			info->truncated = true;
			break;
		}
	}
}

static void print_places(const struct argtable_places *places, char *text, size_t size)
{
	size_t len = 0;

	*text = 0;
	for (size_t i = 0; i < places->count; i++) {
		const char *space = i ? " " : "";

		if (places->how[i] == GOPARAM_UNPLACED)
			len += snprintf(text + len, size - len, "%s-", space);
		else
			len += snprintf(text + len, size - len, "%s%c%c%u", space,
					places->how[i] == GOPARAM_READ ? '!' : '?',
					"ifs"[places->pieces[i].where], places -> pieces[i].n);
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct argreads reads = {.ints = rows[i].ints, .floats = rows[i].floats};
		struct arginfo info;
		struct argtable_asked asked = {&info, &reads, ARCH_AMD64, rows[i].args,
					       rows[i].hidden};
		struct argtable_places places;
		char text[256];

		if (rows[i].slot >= 0)
			reads.stack[rows[i].slot] = true;
		read_table(rows[i].table, &info);
		argtable_place(&asked, &places);
		print_places(&places, text, sizeof(text));
		if (strcmp(text, rows[i].places) != 0)
			fail_msg("%s: %s, not %s", rows[i].table, text, rows[i].places);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

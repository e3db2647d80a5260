// SPDX-License-Identifier: Apache-2.0
/* What each arm64 instruction is, by its upper bits, with the others in several ways. */
#include <stdio.h>
#include <string.h>

#include "machine/access.h"
#include "machine/arm64_internal.h"
#include "ranges.h"
#include "steps.h"
#include "unit.h"

enum { UPPER = 1 << 8, LOWER_BITS = 24 };

static const uint32_t lower[] = {0, 0xffffff, 0x2003e0, 0x9f0381};

static const char *kind_of(void *ctx, unsigned upper)
{
	static const char *const kinds[] = {"other", "call", "jump", "if",   "reg",
					    "mem",   "ret",  "trap", "move", "nop"};
	static char text[64];
	struct arm64_op op;

	arm64_parse((uint32_t)upper << LOWER_BITS | *(const uint32_t *)ctx, &op);
	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s", kinds[op.kind], op.simulated ? "+" : "",
		 op.refused ? "!" : "", op.may_fault ? "*" : "", op.floats ? "~" : "",
		 op.stays ? "=" : "", op.direct ? ">" : "");
	return text;
}

/* +: simulated by the kernel, !: refused, *: may fault, ~: floats, =: stays, >: direct */
static const char kinds_said[] =
	"0: 0 trap!, 1-7 other, 8 other!*=, 9 move*=, a-b other, c-d move*, e-f other, 10 "
	"other+, 11 move, 12-13 other, 14-17 jump+>, 18 move!~, 19 move*, 1a-1b other, 1c "
	"move!~, 1d move*, 1e-27 other, 28-29 move*=, 2a-2b other, 2c-2d move*=, 2e-2f "
	"other, 30 other+, 31-33 other, 34-37 if+>, 38-39 move*=, 3a-3b other, 3c-3d "
	"move*=, 3e-47 other, 48 other!*=, 49 move*=, 4a-4b other, 4c-4d move*, 4e-4f "
	"other, 50 other+, 51-53 other, 54 if+>, 55-57 other, 58 move!~, 59 move*, 5a-5b "
	"other, 5c move!~, 5d move*, 5e-67 other, 68-69 move*=, 6a-6b other, 6c-6d move*=, "
	"6e-6f other, 70 other+, 71-77 other, 78-79 move*=, 7a-7b other, 7c-7d move*=, "
	"7e-87 other, 88 other!*=, 89 move*=, 8a-8b other, 8c-8d move*, 8e-8f other, 90 "
	"other+~, 91 move, 92-93 other, 94-97 call+>, 98 move!~, 99 move*, 9a-9b other, 9c "
	"move!~, 9d move*, 9e-a7 other, a8-a9 move*=, aa-ab other, ac-ad move*=, ae-af "
	"other, b0 other+~, b1-b3 other, b4-b7 if+>, b8-b9 move*=, ba-bb other, bc-bd "
	"move*=, be-c7 other, c8 other!*=, c9 move*=, ca-cb other, cc-cd move*, ce-cf "
	"other, d0 other+~, d1-d3 other, d4-d5 other!, d6-d7 other, d8 move!~, d9 move*, "
	"da-db other, dc move!~, dd move*, de-e7 other, e8-e9 move*=, ea-eb other, ec-ed "
	"move*=, ee-ef other, f0 other+~, f1-f7 other, f8-f9 move*=, fa-fb other, fc-fd "
	"move*=, fe-ff other; ffffff: 0-7 other, 8 other!~, 9 move~, a-b other, c-d move~, "
	"e-f other, 10 other+, 11 other, 12 other~, 13 other, 14-17 jump+>, 18 move!~, 19 "
	"move~, 1a-1b other, 1c move!~, 1d move~, 1e-27 other, 28-29 move~, 2a-2b other, "
	"2c-2d move~, 2e-2f other, 30 other+, 31 other, 32 other~, 33 other, 34-37 if+>, "
	"38-39 move~, 3a-3b other, 3c-3d move~, 3e-47 other, 48 other!~, 49 move~, 4a-4b "
	"other, 4c-4d move~, 4e-4f other, 50 other+, 51 other, 52 other~, 53-57 other, 58 "
	"move!~, 59 move~, 5a-5b other, 5c move!~, 5d move~, 5e-67 other, 68-69 move~, "
	"6a-6b other, 6c-6d move~, 6e-6f other, 70 other+, 71 other, 72 other~, 73-77 "
	"other, 78-79 move~, 7a-7b other, 7c-7d move~, 7e-87 other, 88 other!~, 89 move~, "
	"8a-8b other, 8c-8d move~, 8e-8f other, 90 other+~, 91 other, 92 other~, 93 other, "
	"94-97 call+>, 98 move!~, 99 move~, 9a-9b other, 9c move!~, 9d move~, 9e-a7 other, "
	"a8-a9 move~, aa-ab other, ac-ad move~, ae-af other, b0 other+~, b1 other, b2 "
	"other~, b3 other, b4-b7 if+>, b8-b9 move~, ba-bb other, bc-bd move~, be-c7 other, "
	"c8 other!~, c9 move~, ca-cb other, cc-cd move~, ce-cf other, d0 other+~, d1 "
	"other, d2 other~, d3 other, d4 other!, d5-d7 other, d8 move!~, d9 move~, da-db "
	"other, dc move!~, dd move~, de-e7 other, e8-e9 move~, ea-eb other, ec-ed move~, "
	"ee-ef other, f0 other+~, f1 other, f2 other~, f3-f7 other, f8-f9 move~, fa-fb "
	"other, fc-fd move~, fe-ff other; 2003e0: 0-7 other, 8 other!~, 9 move~, a-b "
	"other, c-d move~, e-f other, 10 other+, 11-13 other, 14-17 jump+>, 18 move!~, 19 "
	"move~, 1a-1b other, 1c move!~, 1d move~, 1e-27 other, 28-29 move~, 2a-2b other, "
	"2c-2d move~, 2e-2f other, 30 other+, 31 other, 32 other~, 33 other, 34-37 if+>, "
	"38-39 move~, 3a-3b other, 3c-3d move~, 3e-47 other, 48 other!~, 49 move~, 4a-4b "
	"other, 4c-4d move~, 4e-4f other, 50 other+, 51-53 other, 54 if+>, 55-57 other, 58 "
	"move!~, 59 move~, 5a-5b other, 5c move!~, 5d move~, 5e-67 other, 68-69 move~, "
	"6a-6b other, 6c-6d move~, 6e-6f other, 70 other+, 71-77 other, 78-79 move~, 7a-7b "
	"other, 7c-7d move~, 7e-87 other, 88 other!~, 89 move~, 8a-8b other, 8c-8d move~, "
	"8e-8f other, 90 other+~, 91 other~, 92-93 other, 94-97 call+>, 98 move!~, 99 "
	"move~, 9a-9b other, 9c move!~, 9d move~, 9e-a7 other, a8-a9 move~, aa-ab other, "
	"ac-ad move~, ae-af other, b0 other+~, b1 other, b2 other~, b3 other, b4-b7 if+>, "
	"b8-b9 move~, ba-bb other, bc-bd move~, be-c7 other, c8 other!~, c9 move~, ca-cb "
	"other, cc-cd move~, ce-cf other, d0 other+~, d1-d3 other, d4 trap!, d5 other!, "
	"d6-d7 other, d8 move!~, d9 move~, da-db other, dc move!~, dd move~, de-e7 other, "
	"e8-e9 move~, ea-eb other, ec-ed move~, ee-ef other, f0 other+~, f1-f7 other, "
	"f8-f9 move~, fa-fb other, fc-fd move~, fe-ff other; 9f0381: 0-7 other, 8 other!=, "
	"9 move=, a-b other, c-d move, e-f other, 10 other+, 11 other, 12 other~, 13 "
	"other, 14-17 jump+>, 18 move!~, 19 move, 1a-1b other, 1c move!~, 1d move, 1e-27 "
	"other, 28-29 move=, 2a-2b other, 2c-2d move=, 2e-2f other, 30 other+, 31 other, "
	"32 other~, 33 other, 34-37 if+>, 38-39 move, 3a-3b other, 3c-3d move=, 3e-47 "
	"other, 48 other!=, 49 move=, 4a-4b other, 4c-4d move, 4e-4f other, 50 other+, 51 "
	"other, 52 other~, 53 other, 54 if+>, 55-57 other, 58 move!~, 59 move, 5a-5b "
	"other, 5c move!~, 5d move, 5e-67 other, 68-69 move=, 6a-6b other, 6c-6d move=, "
	"6e-6f other, 70 other+, 71 other, 72 other~, 73-77 other, 78-79 move, 7a-7b "
	"other, 7c-7d move, 7e-87 other, 88 other!=, 89 move=, 8a-8b other, 8c-8d move, "
	"8e-8f other, 90 other+~, 91 other, 92 other~, 93 other, 94-97 call+>, 98 move!~, "
	"99 move, 9a-9b other, 9c move!~, 9d move, 9e-a7 other, a8-a9 move=, aa-ab other, "
	"ac-ad move=, ae-af other, b0 other+~, b1 other, b2 other~, b3 other, b4-b7 if+>, "
	"b8-b9 move, ba-bb other, bc-bd move, be-c7 other, c8 other!=, c9 move=, ca-cb "
	"other, cc-cd move, ce-cf other, d0 other+~, d1 other, d2 other~, d3 other, d4 "
	"other!, d5-d7 other, d8 move!~, d9 move, da-db other, dc move!~, dd move, de-e7 "
	"other, e8-e9 move=, ea-eb other, ec-ed move=, ee-ef other, f0 other+~, f1 other, "
	"f2 other~, f3-f7 other, f8-f9 move, fa-fb other, fc-fd move, fe-ff other; ";

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lower) / sizeof(*lower); i++) {
		uint32_t rest = lower[i];
		char what[32];

		snprintf(what, sizeof(what), "%x", rest);
		ranges_are(what, UPPER, kind_of, &rest);
	}
	steps_expect(kinds_said);
}

static const char *access_of(void *ctx, unsigned upper)
{
	static const char *const how[] = {"", "load", "store", "address", "other"};
	static char text[64];
	struct access access;

	arm64_access((uint32_t)upper << LOWER_BITS | *(const uint32_t *)ctx, &access);
	if (access.how == ACCESS_NONE)
		return "";
	snprintf(text, sizeof(text), "%s %u%s%s%s", how[access.how], access.bytes,
		 access.plain ? " at" : "", access.pair ? " pair" : "",
		 access.constant ? " constant" : "");
	if (access.plain)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %+d", access.disp);
	return text;
}

static void test_access(void **state)
{
	static const uint32_t rest[] = {0, 0xdfffff, 0x200c00, 0x805400, 0x1ff000, 0x5a5000};

	(void)state;
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++) {
		uint32_t low = rest[i];
		char what[32];

		snprintf(what, sizeof(what), "%x", low);
		ranges_are(what, UPPER, access_of, &low);
	}
	steps_expect(
		"0: 8 other 1 at +0, 28 store 4 pair, 29 store 4 at pair +0, 2c other 0, 2d other "
		"0 at +0, 38-39 store 1 at +0, 3c-3d other 0 at +0, 48 other 2 at +0, 68 store 4 "
		"pair, 69 store 4 at pair +0, 6c other 0, 6d other 0 at +0, 78-79 store 2 at +0, "
		"7c-7d other 0 at +0, 88 other 4 at +0, 91 address 0 at +0, a8 store 8 pair, a9 "
		"store 8 at pair +0, ac other 0, ad other 0 at +0, b8-b9 store 4 at +0, bc-bd "
		"other 0 at +0, c8 other 8 at +0, e8 store 8 pair, e9 store 8 at pair +0, ec other "
		"0, ed other 0 at +0, f8-f9 store 8 at +0, fc-fd other 0 at +0; dfffff: 8 load 1 "
		"at +0, 28-29 load 4 pair, 2c-2d other 0, 38 load 1, 39 load 1 at +2047, 3c other "
		"0, 3d other 0 at +2047, 48 load 2 at +0, 68-69 load 4 pair, 6c-6d other 0, 78 "
		"load 2, 79 load 2 at +4094, 7c other 0, 7d other 0 at +4094, 88 load 4 at +0, "
		"a8-a9 load 8 pair, ac-ad other 0, b8 load 4, b9 load 4 at +8188, bc other 0, bd "
		"other 0 at +8188, c8 load 8 at +0, e8-e9 load 8 pair, ec-ed other 0, f8 load 8, "
		"f9 load 8 at +16376, fc other 0, fd other 0 at +16376; 200c00: 8 other 1 at +0, "
		"28 store 4 pair, 29 store 4 at pair -256, 2c other 0, 2d other 0 at -256, 38 "
		"store 1, 39 store 1 at +2051, 3c other 0, 3d other 0 at +2051, 48 other 2 at +0, "
		"68 store 4 pair, 69 store 4 at pair -256, 6c other 0, 6d other 0 at -256, 78 "
		"store 2, 79 store 2 at +4102, 7c other 0, 7d other 0 at +4102, 88 other 4 at +0, "
		"91 address 0 at +2051, a8 store 8 pair, a9 store 8 at pair -512, ac other 0, ad "
		"other 0 at -512, b8 store 4, b9 store 4 at +8204, bc other 0, bd other 0 at "
		"+8204, c8 other 8 at +0, e8 store 8 pair, e9 store 8 at pair -512, ec other 0, ed "
		"other 0 at -512, f8 store 8, f9 store 8 at +16408, fc other 0, fd other 0 at "
		"+16408; 805400: 8 store 1 at +0, 28-29 store 4 pair, 2c-2d other 0, 38 load 1, 39 "
		"load 1 at +21, 3c other 0, 3d other 0 at +21, 48 store 2 at +0, 68-69 store 4 "
		"pair, 6c-6d other 0, 78 load 2, 79 load 2 at +42, 7c other 0, 7d other 0 at +42, "
		"88 store 4 at +0, a8-a9 store 8 pair, ac-ad other 0, b8 load 4, b9 load 4 at +84, "
		"bc other 0, bd other 0 at +84, c8 store 8 at +0, e8-e9 store 8 pair, ec-ed other "
		"0, fc other 0, fd other 0 at +168; 1ff000: 8 other 1 at +0, 28 store 4 pair, 29 "
		"store 4 at pair +252, 2c other 0, 2d other 0 at +252, 38 store 1 at -1, 39 store "
		"1 at +2044, 3c other 0 at -1, 3d other 0 at +2044, 48 other 2 at +0, 68 store 4 "
		"pair, 69 store 4 at pair +252, 6c other 0, 6d other 0 at +252, 78 store 2 at -1, "
		"79 store 2 at +4088, 7c other 0 at -1, 7d other 0 at +4088, 88 other 4 at +0, 91 "
		"address 0 at +2044, a8 store 8 pair, a9 store 8 at pair +504, ac other 0, ad "
		"other 0 at +504, b8 store 4 at -1, b9 store 4 at +8176, bc other 0 at -1, bd "
		"other 0 at +8176, c8 other 8 at +0, e8 store 8 pair, e9 store 8 at pair +504, ec "
		"other 0, ed other 0 at +504, f8 store 8 at -1, f9 store 8 at +16352, fc other 0 "
		"at -1, fd other 0 at +16352; 5a5000: 8 other 1 at +0, 28 load 4 pair, 29 load 4 "
		"at pair +208, 2c other 0, 2d other 0 at +208, 38 load 1 at -91, 39 load 1 at "
		"+1684, 3c other 0 at -91, 3d other 0 at +1684, 48 other 2 at +0, 68 load 4 pair, "
		"69 load 4 at pair +208, 6c other 0, 6d other 0 at +208, 78 load 2 at -91, 79 load "
		"2 at +3368, 7c other 0 at -91, 7d other 0 at +3368, 88 other 4 at +0, 91 address "
		"0 at +6897664, a8 load 8 pair, a9 load 8 at pair +416, ac other 0, ad other 0 at "
		"+416, b8 load 4 at -91, b9 load 4 at +6736, bc other 0 at -91, bd other 0 at "
		"+6736, c8 other 8 at +0, e8 load 8 pair, e9 load 8 at pair +416, ec other 0, ed "
		"other 0 at +416, f8 load 8 at -91, f9 load 8 at +13472, fc other 0 at -91, fd "
		"other 0 at +13472; ");
}

static void test_words(void **state)
{
	static const uint32_t words[] = {
		0x14000001, 0x17ffffff, 0x94000002, 0x97fffffe, 0x15ffffff, 0x16000000, 0x54000020,
		0x54ffffef, 0x5400002d, 0x54000030, 0x34000041, 0xb5ffffe2, 0x36080063, 0xb7f7ffe4,
		0xd65f03c0, 0xd65f03a0, 0xd65f03c1, 0xd63f0100, 0xd61f0220, 0xd61f0221, 0xd503201f,
		0xd503203f, 0xd4200000, 0xd43fffe0, 0xd4200001, 0,          0xaa0103e2, 0xaa0103c2,
		0x2a1f03ff, 0x910003fd, 0x910007fd, 0x1100001f, 0x9100003f, 0x10000000, 0x90000001,
		0x9000001b, 0xd503205f, 0x3980001b, 0x39bffc1b, 0x3980001a, 0x398003fb, 0x5800001b,
		0xd2800001, 0x92800001, 0xf2800001, 0x320003e1, 0xb20003e1, 0x1e604020, 0x1e601000,
		0x9e6703e0, 0x1e2703e0, 0x1e2703e1, 0x08a07c00, 0xc8a07c01, 0xc8dffc00, 0xc89ffc00};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct arm64_op op;
		uint32_t rest = words[i] & 0xffffff;

		arm64_parse(words[i], &op);
		steps_are("%x %s %u %u %ld", words[i], kind_of(&rest, words[i] >> LOWER_BITS),
			  op.cond, op.reg, op.offset);
	}
	steps_expect(
		"14000001 jump+> 0 0 4; 17ffffff jump+> 0 0 -4; 94000002 call+> 0 0 8; 97fffffe "
		"call+> 0 0 -8; 15ffffff jump+> 0 0 134217724; 16000000 jump+> 0 0 -134217728; "
		"54000020 if+> 0 0 4; 54ffffef if+> 15 0 -4; 5400002d if+> 13 0 4; 54000030 other "
		"0 1 0; 34000041 if+> 16 0 8; b5ffffe2 if+> 16 0 -4; 36080063 if+> 16 0 12; "
		"b7f7ffe4 if+> 16 0 -4; d65f03c0 ret+ 0 30 0; d65f03a0 reg+ 0 29 0; d65f03c1 other "
		"0 30 0; d63f0100 call+ 0 8 0; d61f0220 reg+ 0 17 0; d61f0221 other 0 17 0; "
		"d503201f nop~ 0 0 0; d503203f other! 0 1 0; d4200000 trap! 0 0 0; d43fffe0 trap! "
		"0 31 0; d4200001 other! 0 0 0; 0 trap! 0 0 0; aa0103e2 move~ 0 31 0; aa0103c2 "
		"other 0 30 0; 2a1f03ff move~ 0 31 0; 910003fd other~ 0 31 0; 910007fd other~ 0 31 "
		"0; 1100001f move 0 0 0; 9100003f move 0 1 0; 10000000 other+ 0 0 0; 90000001 "
		"other+~ 0 0 0; 9000001b other+ 0 0 0; d503205f other! 0 2 0; 3980001b move*= 0 0 "
		"0; 39bffc1b move*= 0 0 0; 3980001a move* 0 0 0; 398003fb move~ 0 31 0; 5800001b "
		"move!~ 0 0 0; d2800001 other~ 0 0 0; 92800001 other~ 0 0 0; f2800001 other~ 0 0 "
		"0; 320003e1 other~ 0 31 0; b20003e1 other~ 0 31 0; 1e604020 other~ 0 1 0; "
		"1e601000 other~ 0 0 0; 9e6703e0 other~ 0 31 0; 1e2703e0 other~ 0 31 0; 1e2703e1 "
		"other~ 0 31 0; 8a07c00 other!*= 0 0 0; c8a07c01 other!*= 0 0 0; c8dffc00 other!* "
		"0 0 0; c89ffc00 other!*= 0 0 0; ");
}

static void test_addresses(void **state)
{
	static const uint32_t pages[][2] = {
		{0x90000000, 0x91000000}, {0xb0000021, 0x91004021}, {0xf0ffffe2, 0x913ffc42},
		{0x10000000, 0x91000000}, {0xd0000003, 0x91400063}, {0xd0000003, 0x91000064},
		{0xd0000003, 0x91000083}, {0x90800000, 0x91000000}, {0x50000000, 0x91000000}};
	static const uint32_t loads[] = {0xf8617801, 0xf8617800, 0xf87f7be1, 0xf8616801,
					 0xb8617801};

	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		uint64_t addr = 0, page = 0;
		uint8_t reg = 0;
		bool is = arm64_is_address(pages[i][0], pages[i][1], 0x400ffc, &addr, &reg);
		bool is_page = arm64_page(pages[i][0], 0x400ffc, &page);

		steps_are("%d %lx %u, %d %lx", is, addr, reg, is_page, page);
	}
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		uint8_t base = 0;
		bool is = arm64_is_table_load(loads[i], 1, &base);

		steps_are("%x %d %u", loads[i], is, base);
	}
	steps_expect("1 400000 0, 1 400000; 1 405010 1, 1 405000; 1 3fffff 2, 1 3ff000; 0 "
		     "400ffc 0, 1 400ffc; 0 402000 3, 1 402000; 0 402000 4, 1 402000; 0 "
		     "402000 3, 1 402000; 1 ffffffff00400000 0, 1 ffffffff00400000; 0 "
		     "400ffe 0, 1 400ffe; f8617801 1 0; f8617800 0 0; f87f7be1 1 31; "
		     "f8616801 0 0; b8617801 0 0; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

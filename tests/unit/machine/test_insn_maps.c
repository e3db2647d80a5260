// SPDX-License-Identifier: Apache-2.0
/* Whole maps of opcodes, a character for each: what changes by one entry of a table shows. Of kinds
 * and probes the character is one of
 *        other call jump if reg mem ret trap move nop
 *   stepped  a    d    g  j   m   p   s    v    y   B
 *   emulated b    e    h  k   n   q   t    w    z   C
 *   refused  c    f    i  l   o   r   u    x    A   D
 * and - is no instruction. Of marks it is a hexadecimal digit: 1 floats, 2 stays, 4 may fault, 8
 * the kernel does it wrong. */
#include <string.h>

#include "machine/arch.h"
#include "machine/insn.h"
#include "unit.h"

enum { BASE = 0x401000, SIZE = 15, COLUMNS = 64 };

static const char kinds[] = "abcdefghijklmnopqrstuvwxyzABCD", marks[] = "0123456789abcdef";

struct map {
	const char *before; /* the opcode */
	uint8_t modrm;      /* and bytes of 0 behind it */
	const char *kinds[4], *marks[4];
};

static const struct map x86_maps[] = {
	{"",
	 0xc1,
	 {"aaaaaa--aaaaaa-aaaaaaa--aaaaaa--aaaaaac-aaaaaac-aaaaaac-aaaaaac-",
	  "aaaaaaaaaaaaaaaabbbbbbbbaaaaaaaa--cyaaaaaaaacccckkkkkkkkkkkkkkkk",
	  "aa-aaaaayyyya-aaCaaaaaaaaa-accaayyyyaaaaaaaaaaaayyyyyyyyyyyyyyyy",
	  "aassaayyaammxc-oaaaa---aaaaaaaaajjjjcccceh-hcccccxaaxaaaaaccaaaa"},
	 {"000000--000000-6000000--000000--0000004-0000004-0000004-0000004-",
	  "44444444444444440000000000000000--400044000044442222222222222222",
	  "00-0000001010-001000000000-0880000004444004444441111111111111111",
	  "00004401000000-00000---0000000002222000020-000004044000000000000"}},
	{"",
	 0x01,
	 {"aaaaaa--aaaaaa-caaaaaa--aaaaaa--aaaaaac-aaaaaac-aaaaaac-aaaaaac-",
	  "aaaaaaaaaaaaaaaabbbbbbbbaaaaaaaa--cyaaaaaaaacccckkkkkkkkkkkkkkkk",
	  "aa-aaaaayyyyayaaCaaaaaaaaa-accaayyyyaaaaaaaaaaaayyyyyyyyyyyyyyyy",
	  "aassaayyaammxc-oaaaa---aaaaaaaaajjjjcccceh-hcccccxaaxaaaaaccaaaa"},
	 {"664400--664400-4664400--664400--6644006-6644006-6644006-4444006-",
	  "66666666666666660000000000000000--442266040444442222222222222222",
	  "66-66466664440441000000000-0880000004444004444441111111111111111",
	  "44004466000000-04444---0444444442222000020-000006066004400000066"}},
	{"\x0f",
	 0xc1,
	 {"ccaa-ccccc-x-ac-yyyyaayyaaaaaaaBaaaa----yyaaaaaacaaacc-ca-a-----",
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaayyaaaaaaaacc--aayy",
	  "kkkkkkkkkkkkkkkkaaaaaaaaaaaaaaaaaaaaaa--aaaaaacaaaaaaayyavaaaayy",
	  "aaaaaaaaaaaaaaaaaaaaaayaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax"},
	 {"0000-00000-0-00-10000000000000010000----10000000000000-04-4-----",
	  "0000000000000000000000000000000000000000000000000000000000--0000",
	  "22222222222222220000000000000000000000--000000000000000000000000",
	  "0000000000000000000000000000000000000000000000000000000000000000"}},
	{"\x0f",
	 0x01,
	 {"ccaa-ccccc-x-ac-yyyyaayyaaaaaaaBaaaa----yyaaaaaacaaacc-ca-a-----",
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaayyaaaaaaaacc--aayy",
	  "kkkkkkkkkkkkkkkkaaaaaaaaaaaaaaaaaaaaaa--aaaaaacaaaaaaayyavaaaayy",
	  "aaaaaaaaaaaaaaaaaaaaaayaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax"},
	 {"4444-00000-0-40-46464446444444414444----46444444000000-04-4-----",
	  "4444444444444444444444444444444444444444444444444444444044--4446",
	  "22222222222222224444444444444444000444--000444446644444444444444",
	  "6644444400000000444444644444444444444446444444444444444444444444"}},
	{"\xf3",
	 0x44,
	 {"aaaaaa--aaaaaa-aaaaaaa--aaaaaa--aaaaaac-aaaaaac-aaaaaac-aaaaaac-",
	  "----------------aaaaaaaaaaaaaaaa---yaaaaaaaacccckkkkkkkkkkkkkkkk",
	  "aa-aaaaayyyyayaaCaaaaaaaaa-accaayyyyccccaaccccccyyyyyyyyyyyyyyyy",
	  "aass-ayyaammxc-oaaaa---aaaaaaaaajjjjcccceh-hcccccxaaxaaaaaccaaaa"},
	 {"664400--664400-4664400--664400--6644006-6644006-6644006-4444006-",
	  "----------------0000000000000000---422660404cccc2222222222222222",
	  "66-66466664440441000000000-088000000cccc00cccccc1111111111111111",
	  "4400-466000000-04444---0444444442222000020-000006066004400000066"}},
	{"\x66\x0f",
	 0xc9,
	 {"ccaa-ccccc-x-ac-yyyyaayyaaaaaaaBaaaa----yyaaaaaacaaacc-ca-a-----",
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaayyaaaaaaaacc--aayy",
	  "llllllllllllllllaaaaaaaaaaaaaaaaaaaaaa--aaaaaacaaaaaaayyavaaaayy",
	  "aaaaaaaaaaaaaaaaaaaaaayaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax"},
	 {"0000-00000-0-00-10000000000000010000----10000000000000-04-4-----",
	  "0000000000000000000000010000000000000000000000000000000000--0000",
	  "22222222222222220000000000000000000000--000000000000000000000000",
	  "0000000000000000000000000000000000000000000000000000000000000000"}},
	{"\xc5\xf8",
	 0xc1,
	 {"aaaa-accaa-a-ac-yyyyaaAAaaaaaaccaaaa----yyaaaaacaaaaaa-c--------",
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaacccaaaaaaaaaccAAaaaaaaaaaa--aayy",
	  "aacaaaaaaaaaaaaaaaaaaaaaaacaaaaaaaaaaa--aaaaaaaaaaaaaayyaaaaaayy",
	  "aaaaccaaaaaaccccaaaaccAaaaaaaaaaaaaaccccaacaccccacaacaaaaaccaaaa"},
	 {"0000-00000-0-00-00000000000000000000----00000000000000-0--------",
	  "0000000000000000000000000000000000000000000000000000000000--0000",
	  "00000000000000000000000000000000000000--000000000000000000000000",
	  "0000000000000000000000000000000000000000000000000000000000000000"}},
};

static char kind_of(const struct insn *in)
{
	return kinds[in->kind * 3 + in->probe];
}

static char mark_of(const struct insn *in)
{
	return marks[in->floats | in->stays << 1 | in->may_fault << 2 | in->breaks << 3];
}

static void expect(size_t map, const char *got, const char *const want[4])
{
	for (unsigned i = 0; i < 4; i++)
		for (unsigned n = 0; n < COLUMNS; n++)
			if (got[i * COLUMNS + n] != want[i][n])
				fail_msg("map %zu, %02x: %c, not %c", map, i * COLUMNS + n,
					 got[i * COLUMNS + n], want[i][n]);
}

static void check_map(const struct insn_decoder *dec, size_t n, const struct map *map)
{
	char of_kinds[257] = "", of_marks[257] = "";
	size_t len = strlen(map->before);

	for (unsigned opcode = 0; opcode < 256; opcode++) {
		uint8_t bytes[SIZE] = {0};
		const struct insn_code code = {bytes, SIZE, BASE};
		struct insn in;

		memcpy(bytes, map->before, len);
		bytes[len] = opcode;
		bytes[len + 1] = map->modrm;
		bool known = insn_decode(dec, &code, BASE, &in);

		of_kinds[opcode] = known ? kind_of(&in) : '-';
		of_marks[opcode] = known ? mark_of(&in) : '-';
	}
	expect(n, of_kinds, map->kinds);
	expect(n, of_marks, map->marks);
}

static void test_x86(void **state)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);

	(void)state;
	for (size_t i = 0; i < sizeof(x86_maps) / sizeof(*x86_maps); i++)
		check_map(dec, i, &x86_maps[i]);
	insn_decoder_free(dec);
}

/* arm64's by the first byte of the word, with some that may be below it */
static const struct word_map {
	uint32_t low;
	const char *kinds[4], *marks[4];
} arm64_maps[] = {
	{0x000000,
	 {"xaaaaaaacyaayyaabyaahhhhAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaakaaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa",
	  "aaaaaaaacyaayyaabyaaeeeeAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaaccaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa"},
	 {"0000000066004400000000001400140000000000660066000000222266006600",
	  "0000000066004400000020001400140000000000660066000000000066006600",
	  "0000000066004400100022221400140000000000660066001000222266006600",
	  "0000000066004400100000001400140000000000660066001000000066006600"}},
	{0x1e03e3,
	 {"aaaaaaaacyaayyaabaaahhhhAyaaAyaaaaaaaaaayyyayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaakaaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa",
	  "aaaaaaaacyaayyaabaaaeeeeAyaaAyaaaaaaaaaayyyayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaaccaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa"},
	 {"0000000011001100000000001100110000000000111011000010222211001100",
	  "0000000011001100000020001100110000000000110011000000000011001100",
	  "0000000011001100110022221100110000000000111011001010222211001100",
	  "0000000011001100100000001100110000000000110011001000000011001100"}},
	{0x5f03c0,
	 {"aaaaaaaacyaayyaabaaahhhhAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaakaaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa",
	  "aaaaaaaacyaayyaabaaaeeeeAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaacataAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa"},
	 {"0000000044004400000000001400140000000000440044000000222244004400",
	  "0000000044004400000020001400140000000000440044000000000044004400",
	  "0000000044004400100022221400140000000000440044001000222244004400",
	  "0000000044004400100000001400140000000000440044001000000044004400"}},
	{0x1f0020,
	 {"aaaaaaaacyaayyaabaaahhhhAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaakaaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa",
	  "aaaaaaaacyaayyaabaaaeeeeAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaaccnaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa"},
	 {"0000000066004400000000001400140000000000660066000000222266006600",
	  "0000000066004400000020001400140000000000660066000000000066006600",
	  "0000000066004400100022221400140000000000660066001000222266006600",
	  "0000000066004400100000001400140000000000660066001000000066006600"}},
	{0x3f2fe1,
	 {"aaaaaaaacyaayyaabaaahhhhAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaakaaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa",
	  "aaaaaaaacyaayyaabaaaeeeeAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaaccaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa"},
	 {"0000000011001100000000001100110000000000110011000010222211001100",
	  "0000000011001100000020001100110000000000110011000000000011001100",
	  "0000000011001100110022221100110000000000110011001010222211001100",
	  "0000000011001100100000001100110000000000110011001000000011001100"}},
	{0x800c41,
	 {"aaaaaaaacyaayyaabaaahhhhAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaakaaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa",
	  "aaaaaaaacyaayyaabaaaeeeeAyaaAyaaaaaaaaaayyaayyaabaaakkkkyyaayyaa",
	  "aaaaaaaacyaayyaabaaacaaaAyaaAyaaaaaaaaaayyaayyaabaaaaaaayyaayyaa"},
	 {"0000000066004400001000001400140000000000660066000010222244006600",
	  "0000000066004400001020001400140000000000660066000010000044004400",
	  "0000000066004400101022221400140000000000660066001010222244004400",
	  "0000000066004400101000001400140000000000660066001010000044004400"}},
};

static void check_words(const struct insn_decoder *dec, size_t n, const struct word_map *map)
{
	char of_kinds[257] = "", of_marks[257] = "";

	for (uint32_t high = 0; high < 256; high++) {
		uint32_t word = high << 24 | map->low;
		const struct insn_code code = {(const uint8_t *)&word, sizeof(word), BASE};
		struct insn in;
		bool known = insn_decode(dec, &code, BASE, &in);

		of_kinds[high] = known ? kind_of(&in) : '-';
		of_marks[high] = known ? mark_of(&in) : '-';
	}
	expect(n, of_kinds, map->kinds);
	expect(n, of_marks, map->marks);
}

static void test_arm64(void **state)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_ARM64);

	(void)state;
	for (size_t i = 0; i < sizeof(arm64_maps) / sizeof(*arm64_maps); i++)
		check_words(dec, i, &arm64_maps[i]);
	insn_decoder_free(dec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_x86),
					   cmocka_unit_test(test_arm64)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

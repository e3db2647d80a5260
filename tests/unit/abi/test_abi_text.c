// SPDX-License-Identifier: Apache-2.0
#include "abi/abi.h"
#include "machine/arch.h"
#include "unit.h"

static void test_places(void **state)
{
	static const struct {
		struct abi_piece piece;
		const char *amd64, *arm64;
	} cases[] = {
		{{ABI_INT, 0, .size = 8}, "rax", "x0"},
		{{ABI_INT, 1, .size = 8}, "rbx", "x1"},
		{{ABI_INT, 2, .size = 8}, "rcx", "x2"},
		{{ABI_INT, 3, .size = 8}, "rdi", "x3"},
		{{ABI_INT, 4, .size = 8}, "rsi", "x4"},
		{{ABI_INT, 5, .size = 8}, "r8", "x5"},
		{{ABI_INT, 6, .size = 8}, "r9", "x6"},
		{{ABI_INT, 7, .size = 8}, "r10", "x7"},
		{{ABI_INT, 8, .size = 8}, "r11", "x8"},
		{{ABI_INT, 9, .size = 8}, "?", "x9"},
		{{ABI_INT, 0, .size = 4}, "eax", "w0"},
		{{ABI_INT, 0, .size = 2}, "ax", "w0"},
		{{ABI_INT, 3, .size = 1}, "dil", "w3"},
		{{ABI_INT, 5, .size = 1}, "r8b", "w5"},
		{{ABI_FLOAT, 3, .size = 8}, "xmm3", "d3"},
		{{ABI_FLOAT, 14, .size = 4}, "xmm14", "s14"},
		{{ABI_SLOT, 0, .size = 8}, "[sp+8]", "[sp+8]"},
		{{ABI_SLOT, 16, .size = 1}, "[sp+24]", "[sp+24]"},
		{{ABI_SP, 40, .size = 8}, "[sp+40]", "[sp+40]"},
		{{ABI_HARDWARE, 1, .size = 8}, "rdx", "x1"},
		{{ABI_HARDWARE, 14, .size = 2}, "r14w", "w14"},
		{{ABI_HARDWARE, 16, .size = 8}, "?", "x16"},
		{{ABI_HARDWARE, 0, .size = 4, .from = 4}, "rax+4", "x0+4"},
		{{ABI_AT, 3, .size = 1}, "[rbx]", "[x3]"},
		{{ABI_AT, 3, .size = 4, .from = 16}, "[rbx+16]", "[x3+16]"},
	};
	char text[24];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		abi_place_text(ARCH_AMD64, &cases[i].piece, text, sizeof(text));
		assert_string_equal(text, cases[i].amd64);
		abi_place_text(ARCH_ARM64, &cases[i].piece, text, sizeof(text));
		assert_string_equal(text, cases[i].arm64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

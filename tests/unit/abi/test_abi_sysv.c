// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi_rows.h"
#include "base/mem.h"
#include "machine/arch.h"
#include "golang/signature.h"
#include "unit.h"

/* As gccgo-12 -O2 -g says of functions that it compiled: registers by DWARF's numbers (rax 0, rdx
 * 1, rcx 2, rsi 4, rdi 5, r8, r9), "h0.4": from byte 4 of it on; "@0.8": memory, 8 bytes past rax.
 */
static void test_sysv(void **state)
{
	static const struct abi_row rows[] = {
		{"()", "", 0, 0},
		{"(a int, b int8, c bool)", "h5 h4 h1", 0, 0},
		{"(a string, b []int, c error, d any)", "h5+h4 [0] h1+h2 h8+h9", 24, 24},
		{"(a string, c error, d any, e int)", "h5+h4 h1+h2 h8+h9 [0]", 8, 8},
		/* what does not fit leaves its register to those after it */
		{"(a, b, c, d, e int, s string, z int, y int)", "h5 h4 h1 h2 h8 [0] h9 [16]", 24,
		 24},
		{"(a float64, b int, c float32, d complex128, e complex64)", "f0 h5 f1 f2+f3 f4", 0,
		 0},
		{"(m map[int]int, c chan int, f func(), p *int, u uintptr)", "h5 h4 h1 h2 h8", 0,
		 0},
		{"(s struct{a int8; b float32; c string})", "[0]", 24, 24},
		{"(s struct{a float32; b int32})", "h5", 0, 0},
		{"(s struct{a float64; b int})", "f0+h5", 0, 0},
		{"(s struct{a int; b float64}, t struct{a,b float32})", "h5+f0 f1", 0, 0},
		{"(a [0]int, b int)", "-0 h5", 0, 0},
		{"(a [1]int, b [2]int, c [3]int, d int)", "h5 h4+h1 [0] h2", 24, 24},
		{"(a [1]string, s struct{}, b int)", "h5+h4 -0 h1", 0, 0},
		{"(a [3]int8, b [2]int32, c [5]int8, d [7]int8, e [6]byte)",
		 "h5+h5.2 h4 h1+h1.4 h2+h2.4+h2.6 h8+h8.4", 0, 0},
		{"(s struct{a, b int; c struct{}}, d int)", "[0] h5", 24, 24},
		{"(s struct{a int; b [0]int; c struct{}}, d int)", "h5+h4 h1", 0, 0},
		{"(s struct{a struct{b struct{c int; d int8}}})", "h5+h4", 0, 0},
		{"(a, b, c, d, e, f, g, h, i, j float32)", "f0 f1 f2 f3 f4 f5 f6 f7 [0] [8]", 16,
		 16},
		{"(a, b, c, d, e complex128)", "f0+f1 f2+f3 f4+f5 f6+f7 [0]", 16, 16},
		{"(a, b, c, d, e, f, g float64, s struct{a, b float64}, h float64)",
		 "f0 f1 f2 f3 f4 f5 f6 [0] f7", 16, 16},
		{"(a, b, c, d, e int, s, f, g struct{a int; b float64})",
		 "h5 h4 h1 h2 h8 h9+f0 [0] [16]", 32, 32},
		{"(a [2]complex64, b [2]float32, c [4]int16, d [2][2]int8)", "f0+f1 f2 h5 h4", 0,
		 0},
		{"(a int8, b [3]int, c int8, d [9]int8, e int)", "h5 [0] h4 h1+h2 h8", 24, 24},
		{"(a string) (n int, err error)", "h4+h1 -> @0 @0.8", 0, 0},
		{"(a int) string", "h5 -> h0+h1", 0, 0},
		{"(a int) [2]int", "h5 -> h0+h1", 0, 0},
		{"(a int) [3]int", "h4 -> @0", 0, 0},
		{"() (int8, int8, int32)", " -> h0 h0.1 h0.4", 0, 0},
		{"() (int, float64)", " -> h0 f0", 0, 0},
		{"() (float32, float32, float64)", " -> f0 f0.4 f1", 0, 0},
		{"(a int) complex128", "h5 -> f0+f1", 0, 0},
		{"(a int) (r bool, s error)", "h4 -> @0 @0.8", 0, 0},
		{"(a int) (struct{}, int, [0]int)", "h5 -> -0 h0 -0", 0, 0},
	};

	(void)state;
	abi_rows_check(rows, sizeof(rows) / sizeof(rows[0]), ARCH_AMD64, ABI_SYSV);
}

static char *receiver_place(const char *type)
{
	struct gotypes *types = gotypes_new();
	struct abi_layout layout;
	struct gofunc fn;
	char *text = mem_printf("(self %s, b [3]int, c int) [3]int", type);

	assert_false(signature_parse(types, NULL, text, &fn, NULL, NULL));
	free(text);
	fn.params[0].by_address = true;
	abi_layout(&fn, ARCH_AMD64, ABI_SYSV, &layout);
	text = abi_rows_describe(&layout);
	abi_layout_free(&layout);
	gotypes_free(types);
	return text;
}

/* What is no pointer is passed by its address, but as it is where it is one word that points. */
static void test_sysv_receivers(void **state)
{
	static const char *const rows[][2] = {
		{"int", "@4 [0] h1 -> @0"},
		{"struct{a [4]int}", "@4 [0] h1 -> @0"},
		{"struct{}", "-0 [0] h1 -> @0"},
		{"func()", "h4 [0] h1 -> @0"},
		{"map[int]int", "h4 [0] h1 -> @0"},
		{"struct{a [1]*int}", "h4 [0] h1 -> @0"},
		{"struct{a, b *int}", "@4 [0] h1 -> @0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *said = receiver_place(rows[i][0]);

		assert_string_equal(said, rows[i][1]);
		free(said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sysv),
		cmocka_unit_test(test_sysv_receivers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

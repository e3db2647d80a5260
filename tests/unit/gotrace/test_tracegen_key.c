// SPDX-License-Identifier: Apache-2.0
/* What is generated of goargdist's PROBEs, so that a record is a key: word for word. */
#include <string.h>

#include "genprobe.h"
#include "unit.h"

static const struct genprobe_how keyed = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .keyed = true};
static const struct genprobe_how histogram = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .keyed = true, .log2 = true};

struct row {
	const char *probe;
	const struct genprobe_how *how;
	const char *key;
	uint32_t record_size;
};

/* clang-format off */
/* What differs between calls of the same values is nothing to a key: pointers, but whether they are nil;
 * a slice's capacity; what could not be read; a map's inner words. */
static const struct row rows[] = {
	{"main.f(n int) n + 1", &keyed,
	 "\t*(u64 *)(rec + 0) &= read_mask(rec + 8);\n", 16},
	{"main.f(n uint8) n, $cpu", &keyed,
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 16) &= read_mask(rec + 24);\n", 32},
	{"main.f(n int) n", &histogram,
	 "\t*(u64 *)(rec + 0) = log2_row(*(u64 *)(rec + 0), true);\n"
	 "\t*(u64 *)(rec + 0) &= read_mask(rec + 8);\n", 16},
	{"main.f(n uint32) n", &histogram,
	 "\t*(u64 *)(rec + 0) = log2_row(*(u64 *)(rec + 0), true);\n"
	 "\t*(u64 *)(rec + 0) &= read_mask(rec + 8);\n", 16},
	{"main.f(s string) s", &keyed,
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 16) &= read_mask(rec + 0);\n"
	 "\tforget_pointer(rec + 8);\n", 112},
	{"main.f(s []byte) s", &keyed,
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 16) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 24) &= read_mask(rec + 0);\n"
	 "\tforget_pointer(rec + 8);\n"
	 "\t*(u64 *)(rec + 24) = 0;\n", 120},
	{"main.f(s []string) s", &keyed,
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 16) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 24) &= read_mask(rec + 0);\n"
	 "\tforget_pointer(rec + 8);\n"
	 "\t*(u64 *)(rec + 24) = 0;\n"
	 "\tforget_pointer(rec + 40);\n"
	 "\tforget_pointer(rec + 56);\n"
	 "\tforget_pointer(rec + 72);\n"
	 "\tforget_pointer(rec + 88);\n"
	 "\tforget_pointer(rec + 104);\n"
	 "\tforget_pointer(rec + 120);\n"
	 "\tforget_pointer(rec + 136);\n"
	 "\tforget_pointer(rec + 152);\n", 872},
	{"main.f(t main.T) t", &keyed,
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 16) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 24) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 32) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 40) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 48) &= read_mask(rec + 0);\n"
	 "\tforget_pointer(rec + 16);\n", 144},
	{"main.f(t *main.T) t", &keyed,
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n", 16},
	{"main.f(f func(), m map[string]int) f, m", &keyed,
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 40) &= read_mask(rec + 32);\n"
	 "\tforget_pointer(rec + 8);\n"
	 "\tforget_pointer(rec + 40);\n"
	 "\t*(u64 *)(rec + 64) = 0;\n"
	 "\t*(u64 *)(rec + 72) = 0;\n"
	 "\t*(u64 *)(rec + 80) = 0;\n"
	 "\t*(u64 *)(rec + 88) = 0;\n"
	 "\t*(u64 *)(rec + 96) = 0;\n", 104},
	{"main.f(v interface{}) v", &keyed,
	 "\tforget_dynamic(rec + 24, 6, false, hit);\n"
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 16) &= read_mask(rec + 0);\n"
	 "\tforget_pointer(rec + 8);\n"
	 "\tforget_pointer(rec + 16);\n", 2520},
	{"r:main.f() (err error) err", &keyed,
	 "\tforget_dynamic(rec + 24, 6, true, hit);\n"
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 16) &= read_mask(rec + 0);\n"
	 "\tforget_pointer(rec + 8);\n"
	 "\tforget_pointer(rec + 16);\n", 2520},
	{"main.f(n int, s string) $comm, $func, n, s", &keyed,
	 "\t*(u64 *)(rec + 24) &= read_mask(rec + 16);\n"
	 "\t*(u64 *)(rec + 40) &= read_mask(rec + 32);\n"
	 "\t*(u64 *)(rec + 48) &= read_mask(rec + 32);\n"
	 "\tforget_pointer(rec + 40);\n", 144},
	{"main.f(n int, s string) goargs", &keyed,
	 "\t*(u64 *)(rec + 8) &= read_mask(rec + 0);\n"
	 "\t*(u64 *)(rec + 24) &= read_mask(rec + 16);\n"
	 "\t*(u64 *)(rec + 32) &= read_mask(rec + 16);\n"
	 "\tforget_pointer(rec + 24);\n", 128},
	{"main.f(n uint64) n", &histogram,
	 "\t*(u64 *)(rec + 0) = log2_row(*(u64 *)(rec + 0), false);\n"
	 "\t*(u64 *)(rec + 0) &= read_mask(rec + 8);\n", 16},
	{"r:main.f(n int) $latency", &histogram,
	 "\t*(u64 *)(rec + 0) = log2_row(*(u64 *)(rec + 0), true);\n"
	 "\t*(u64 *)(rec + 0) &= read_mask(rec + 8);\n", 16},
};
/* clang-format on */

static void check_row(const struct row *row)
{
	struct genprobe gp;
	struct errmsg err = {0};

	if (genprobe_make(&gp, row->probe, row->how, &err))
		fail_msg("%s: %s", row->probe, err.text);
	assert_string_equal(gp.plan.key, row->key);
	assert_int_equal(gp.plan.record_size, row->record_size);
	genprobe_free(&gp);
}

static void test_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_row(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

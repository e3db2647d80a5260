// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/bytecode_internal.h"
#include "unit.h"

static struct bpf_insn insns[] = {
	{.code = BPF_LD | BPF_DW | BPF_IMM, .src_reg = BPF_PSEUDO_MAP_FD, .imm = 1},
	{.code = 0},
	{.code = BPF_JMP | BPF_EXIT},
};
static struct bytecode_map maps[] = {{"calls", 1, 2, 3, 4, 5}, {"events", 27, 0, 0, 4096, 6}};
static struct bytecode_func funcs[] = {{"on_probe", insns, 3}, {"on_end", insns + 2, 1}};
static const struct bytecode whole = {maps, funcs, 2, 2};

static char *written(const struct bytecode *code, size_t *size)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size);

	bytecode_write(out, code);
	fclose(out);
	return bytes;
}

static void test_round(void **state)
{
	size_t size;
	char *bytes = written(&whole, &size);
	struct bytecode *code = bytecode_read(bytes, size);

	(void)state;
	assert_non_null(code);
	assert_int_equal(code->nmaps, 2);
	assert_string_equal(code->maps[0].name, "calls");
	assert_int_equal(code->maps[0].type, 1);
	assert_int_equal(code->maps[0].key_size, 2);
	assert_int_equal(code->maps[0].value_size, 3);
	assert_int_equal(code->maps[0].entries, 4);
	assert_int_equal(code->maps[0].flags, 5);
	assert_string_equal(code->maps[1].name, "events");
	assert_int_equal(code->maps[1].entries, 4096);
	assert_int_equal(code->nfuncs, 2);
	assert_string_equal(code->funcs[0].name, "on_probe");
	assert_int_equal(code->funcs[0].count, 3);
	assert_memory_equal(code->funcs[0].insns, insns, sizeof(insns));
	assert_string_equal(code->funcs[1].name, "on_end");
	assert_int_equal(code->funcs[1].count, 1);
	assert_memory_equal(code->funcs[1].insns, insns + 2, sizeof(*insns));
	bytecode_free(code);
	free(bytes);
}

/* A file that ends early, has too much, or whose numbers are huge is not taken. */
static void test_malformed(void **state)
{
	size_t size;
	char *bytes = written(&whole, &size);

	(void)state;
	for (size_t n = 0; n < size; n++) {
		char *cut = mem_alloc(n + 1);

		memcpy(cut, bytes, n);
		assert_null(bytecode_read(cut, n));
		free(cut);
	}
	char *longer = mem_zalloc(size + 1, 1);

	memcpy(longer, bytes, size);
	assert_null(bytecode_read(longer, size + 1));
	for (size_t n = 0; n < size; n++) {
		memcpy(longer, bytes, size);
		longer[n] = (char)0xff;
		bytecode_free(bytecode_read(longer, size)); /* ASan sees what is read beyond */
	}
	free(longer);
	free(bytes);
}

/* An instruction that loads a map which there is not would get any descriptor. */
static void test_unknown_map(void **state)
{
	struct bytecode code = whole;
	size_t size;

	(void)state;
	code.nmaps = 1;
	char *bytes = written(&code, &size);

	assert_null(bytecode_read(bytes, size));
	free(bytes);
	insns[0].imm = -1;
	bytes = written(&whole, &size);
	assert_null(bytecode_read(bytes, size));
	insns[0].imm = 1;
	free(bytes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_unknown_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Arbitrary text as a signature: errors lie in the text, the name of a type means the same type
 * again, and no two values are passed in the same place. */
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "base/errmsg.h"
#include "machine/arch.h"
#include "fuzz.h"
#include "golang/signature_internal.h"

enum { SIZE_MAX_TRIED = 4000, REGISTERS = 16 };

static const char *const SEEDS[] = {
	"(w io.Writer, a ...any) (n int, err error)",
	"(a, b int, c *net/http.Request, d main.List[int,map[string]int]) <-chan error",
	"(s struct{a [1]int8; _, b complex64; *pkg.T `tag`; error}, m map[string]func(...int))",
	"(interface{M(x int) (y string, z bool); error}, [2][0]struct{}, chan<- chan int)",
	"(a float32, b, c, d, e, f []byte, g [3]uint16) (x [2]int, t time.Time, d time.Duration)",
};

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	if (index >= sizeof(SEEDS) / sizeof(SEEDS[0]))
		return NULL;
	*size = strlen(SEEDS[index]);
	return (uint8_t *)strdup(SEEDS[index]);
}

static void check_name(struct gotypes *types, const struct gotype *type)
{
	const struct gotype *again = signature_type(types, NULL, type->name, NULL, NULL);

	if (again && (again->size != type->size || again->align != type->align ||
		      again->kind != type->kind || strcmp(again->name, type->name) != 0))
		abort();
}

struct taken {
	bool registers[2][REGISTERS];
	uint64_t stack; /* bytes, from 0 on: slots come in order */
};

static void take(struct taken *taken, const struct abi_piece *piece, const struct gotype *type)
{
	if (piece->off > type->size || piece->size > type->size - piece->off || !piece->size)
		abort();
	if (piece->where == ABI_SLOT) {
		if (piece->n < taken->stack)
			abort();
		taken->stack = (uint64_t)piece->n + piece->size;
		return;
	}
	if (piece->n >= REGISTERS || taken->registers[piece->where][piece->n])
		abort();
	taken->registers[piece->where][piece->n] = true;
}

static void take_all(struct taken *taken, const struct abi_value *values,
		     const struct goparam *params, size_t count)
{
	memset(taken->registers, 0, sizeof(taken->registers));
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < values[i].count; j++)
			take(taken, &values[i].pieces[j], params[i].type);
}

static void check_layout(const struct gofunc *fn, enum arch arch, enum abi_convention convention)
{
	struct taken taken = {0};
	struct abi_layout layout;

	abi_layout(fn, arch, convention, &layout);
	take_all(&taken, layout.params, fn->params, fn->param_count);
	take_all(&taken, layout.results, fn->results, fn->result_count);
	if (layout.stack_size % 8 || (layout.stack_size && taken.stack > layout.stack_size))
		abort();
	abi_layout_free(&layout);
}

static void check(struct gotypes *types, const struct gofunc *fn)
{
	for (size_t i = 0; i < fn->param_count; i++)
		check_name(types, fn->params[i].type);
	for (size_t i = 0; i < fn->result_count; i++)
		check_name(types, fn->results[i].type);
	check_layout(fn, ARCH_AMD64, ABI_REGISTERS);
	check_layout(fn, ARCH_ARM64, ABI_REGISTERS);
	check_layout(fn, ARCH_AMD64, ABI_STACK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gotypes *types = gotypes_new();
	char *text = strndup((const char *)data, size < SIZE_MAX_TRIED ? size : SIZE_MAX_TRIED);
	struct errmsg err = {0};
	struct gofunc fn;
	size_t pos = 0;

	if (!signature_parse(types, NULL, text, &fn, &pos, &err))
		check(types, &fn);
	else if (pos > strlen(text) || !*err.text)
		abort();
	free(text);
	gotypes_free(types);
	return 0;
}

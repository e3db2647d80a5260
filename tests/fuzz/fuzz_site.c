// SPDX-License-Identifier: Apache-2.0
/* Arbitrary bytes as the code of one function: no site may lie outside of it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "machine/arch.h"
#include "fuzz.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "sites/site_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;

	uint64_t base = data[0] & 4 ? 0xfffffffffffff000 : 0x401000;
	struct insn_code code = {data + 1, size - 1 > 4095 ? 4095 : size - 1, base};
	struct functab_func fn = {.name = "main.f", .addr = base, .end = base + code.len};
	struct site_finder *finder =
		site_finder_new_code(data[0] & 1 ? ARCH_ARM64 : ARCH_AMD64, &code);
	struct site_list list = {0};
	const char *reason;
	struct site site;

	fn.is_asm = data[0] & 2;
	if (!site_entry(finder, &fn, data[0] & 8, &site, &reason) &&
	    (site.addr < fn.addr || site.addr >= fn.end))
		abort();
	site_returns(finder, &fn, &list, &reason);
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].addr < fn.addr || list.items[i].addr >= fn.end)
			abort();
	free(list.items);
	site_finder_free(finder);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "abi/evidence.h"

#include "elf/image.h"
#include "program/functab.h"
#include "program/toolchain.h"
#include "abi/abi_internal.h"

void evidence_read(const struct image *img, const struct functab *tab,
		   const struct insn_decoder *dec, int release, const struct functab_func *fn,
		   struct evidence *out)
{
	size_t len = fn->end - fn->addr;
	const uint8_t *bytes = image_at(img, fn->addr, len);
	struct insn_code code = {bytes, bytes ? len : 0, fn->addr};

	out->arch = image_arch(img);
	out->args = INT32_MIN;
	out->spills.count = 0;
	out->restart = 0;
	if (functab_toolchain(tab)->c_abi) {
		out->usual = out->arch == ARCH_AMD64 ? ABI_SYSV : ABI_REGISTERS;
		return;
	}
	out->usual = fn->is_asm ? ABI_STACK : abi_convention(out->arch, release);
	if (!functab_args_size(tab, fn, &out->args))
		out->args = INT32_MIN;
	/* stack arguments need no saving: code that looks like it has another purpose */
	if (out->usual == ABI_STACK || !code.bytes)
		return;
	if (!spills_read(dec, &code, out->arch, &out->spills))
		out->spills.count = 0;
	else if (!out->spills.count)
		out->restart = out->spills.restart;
}

bool evidence_layout(const struct evidence *evidence, const struct gofunc *fn,
		     struct abi_layout *out)
{
	return abi_layout_fitting(fn, evidence->arch, evidence->usual, evidence->args, out) &&
	       (!evidence->spills.count || spills_fit(&evidence->spills, out, fn->dictionary >= 0));
}

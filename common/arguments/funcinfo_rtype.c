// SPDX-License-Identifier: Apache-2.0
/* Types by their run-time descriptors. */
#include <elf.h>
#include <string.h>

#include "arguments/funcinfo_internal.h"
#include "dwarf/debuginfo.h"
#include "elf/dynlink.h"
#include "elf/image.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "rtti/rtti.h"

struct rtti *funcinfo_rtti(struct funcinfo *info)
{
	const struct program *prog = info->prog;

	if (info->rtti_tried)
		return info->rtti;
	info->rtti_tried = true;
	info->rtti = rtti_open(prog->img, prog->tab, prog->release, info->memory, NULL);
	if (info->rtti && info->library)
		rtti_link(info->rtti, info->library->prog->img);
	return info->rtti;
}

void funcinfo_link(struct funcinfo *info, struct funcinfo *library)
{
	if (info->prog->toolchain->libgo)
		info->library = library;
}

/* Each package of a program has descriptors of the types it declares, with symbols unless the
 * program is stripped; the symbols of its library are dynamic. */
static const char *find_foreign(void *ctx, const char *last, enum gotype_kind kind, uint64_t size)
{
	struct funcinfo *info = ctx, *library = info->library;
	const char *own, *other = NULL;
	bool several = false;

	if (!funcinfo_rtti(info) || (library && !funcinfo_rtti(library)) ||
	    (!library && dynlink_needs(info->prog->img, info->prog->toolchain->libgo)) ||
	    (!image_dynamic(info->prog->img, DT_SONAME, 0, &(uint64_t){0}) &&
	     !image_has_symtab(info->prog->img)))
		return NULL;
	own = rtti_last(info->rtti, last, kind, size, &several);
	if (library)
		other = rtti_last(library->rtti, last, kind, size, &several);
	if (several || (own && other && strcmp(own, other) != 0))
		return NULL;
	return own ? own : other;
}

void funcinfo_foreign(struct funcinfo *info)
{
	const struct debuginfo_foreign foreign = {find_foreign, info};

	if (info->dbg && info->prog->toolchain->gcc_dwarf)
		debuginfo_ask(info->dbg, &foreign);
}

uint64_t funcinfo_rtype_key(struct funcinfo *info, uint64_t addr)
{
	struct rtti *rtti = funcinfo_rtti(info);

	return rtti && info->prog->toolchain->libgo ? rtti_key(rtti, addr) : 0;
}

const struct gotype *funcinfo_rtype(struct funcinfo *info, uint64_t addr, bool *direct)
{
	struct rtti *rtti = funcinfo_rtti(info);
	const struct gotype *type = rtti ? rtti_type(rtti, addr) : NULL;

	*direct = type && rtti_is_direct(rtti, addr);
	return type;
}

struct each_rtype {
	struct rtti *rtti;
	bool (*fn)(const struct gotype *type, bool direct, void *ctx);
	void *ctx;
};

static bool on_rtype(const struct gotype *type, void *ctx)
{
	struct each_rtype *each = ctx;

	return each->fn(type, rtti_is_direct(each->rtti, type->rtype), each->ctx);
}

uint64_t funcinfo_type_names(struct funcinfo *info)
{
	struct rtti *rtti = funcinfo_rtti(info);

	return rtti ? rtti_names(rtti) : 0;
}

void funcinfo_each_rtype(struct funcinfo *info,
			 bool (*fn)(const struct gotype *type, bool direct, void *ctx), void *ctx)
{
	struct each_rtype each = {funcinfo_rtti(info), fn, ctx};

	if (each.rtti)
		rtti_each(each.rtti, on_rtype, &each);
}

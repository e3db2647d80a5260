// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceplan_held_internal.h"

#include <string.h>

#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "golang/signature.h"

struct pointer_search {
	uint64_t to; /* descriptor's address */
	const struct gotype *found;
};

static bool points_to(const struct gotype *type, bool direct, void *ctx)
{
	struct pointer_search *search = ctx;

	(void)direct;
	if (type->kind == GOTYPE_POINTER && type->elem && type->elem->rtype == search->to)
		search->found = type;
	return !search->found;
}

/* Searches run-time type information, as debug information does not have the address of each
 * descriptor. */
static const struct gotype *find_pointer(struct funcinfo *info, const struct gotype *elem)
{
	struct pointer_search search = {.to = elem->rtype};

	funcinfo_each_rtype(info, points_to, &search);
	return search.found;
}

const struct gotype *traceplan_held_type(void *info, const char *name, bool *direct,
					 struct errmsg *err)
{
	const struct signature_names names = funcinfo_names(info);
	size_t stars = strspn(name, "*");
	const struct gotype *type = names.find(names.ctx, name + stars);

	for (size_t i = 0; i < stars && type && type->rtype; i++)
		type = find_pointer(info, type);
	if (type && type->rtype) {
		funcinfo_rtype(info, type->rtype, direct);
		return type;
	}
	errmsg_set(err, "no interface of the program holds a \"%s\"", name);
	errmsg_hint(err, "write the whole import path of the type, as in *net/http.Request");
	return NULL;
}

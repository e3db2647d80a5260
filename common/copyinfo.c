// SPDX-License-Identifier: Apache-2.0
#include "copyinfo.h"

#include <stdlib.h>

#include "errmsg.h"
#include "forwarder.h"
#include "funcinfo.h"
#include "mem.h"
#include "program.h"
#include "selection.h"
#include "signature.h"

/* All of it is optimised out. */
static void nothing_placed(const struct gofunc *sig, struct abi_layout *out)
{
	*out = (struct abi_layout){.param_count = sig->param_count,
				   .result_count = sig->result_count};
	out->params = mem_zalloc(sig->param_count + 1, sizeof(*out->params));
	out->results = mem_zalloc(sig->result_count + 1, sizeof(*out->results));
}

static size_t count_known(const struct gofunc *sig, const struct abi_layout *layout)
{
	size_t known = 0;

	for (size_t i = 0; i < sig->param_count; i++)
		known += abi_covers(&layout->params[i], sig->params[i].type, 0);
	return known;
}

/* A copy that is timed over its one call has its end right after it: there the results are. */
static void take_forwarder(const struct copyinfo_asker *asker, struct selection_item *item,
			   struct copyinfo *out)
{
	struct signature_names names = funcinfo_names(asker->info);
	const struct gofunc *typed = out->sig.source != GOFUNC_NONE ? &out->sig : NULL;
	struct forwarder_call call;

	if (!forwarder_find(item->prog->finder, asker->minor, &item->copy, asker->memory, &names,
			    typed, &call))
		return;
	size_t known = count_known(&call.sig, &call.layout);
	bool same_place = call.site.addr == item->entry.addr;

	if ((item->returns && !same_place) || (typed && known <= out->known)) {
		abi_layout_free(&call.layout);
		return;
	}
	abi_layout_free(&out->layout);
	if (!item->returns)
		item->entry = call.site;
	*out = (struct copyinfo){call.sig, call.layout, known};
}

int copyinfo_find(const struct copyinfo_asker *asker, struct selection_item *item,
		  struct copyinfo *out, struct errmsg *err)
{
	*out = (struct copyinfo){.sig = {.dictionary = -1}};
	if (asker->signature && funcinfo_typed(asker->info, item->copy.name, asker->signature,
					       asker->col, &out->sig, err))
		return -1;
	nothing_placed(&out->sig, &out->layout);
	selection_locate_copy(asker->sel, item);
	if (!item->skipped)
		take_forwarder(asker, item, out);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "golang/forwarder_types.h"

#include "golang/forwarder_table.h"
#include "golang/golibrary.h"

/* Asked while a signature is parsed: what a type is made of is parsed without names. */
const struct gotype *forwarder_type(void *ctx, const char *name)
{
	const struct forwarder_types *types = ctx;
	const struct gotype *found = NULL;

	if (types->program && types->program->find)
		found = types->program->find(types->program->ctx, name);
	if (found)
		return found;

	const struct signature_names none = {.minor = types->minor};
	const char *text = forwarder_made_of(types->memory, name, types->minor);

	if (!text)
		text = golibrary_text(types->memory, name, types->minor);
	if (text)
		found = signature_type(types->memory, &none, text, NULL, NULL);
	if (!found)
		return NULL;
	struct gotype *made = gotypes_add(types->memory, found->kind, name);
	const char *own_name = made->name;

	*made = *found;
	made->name = own_name;
	made->defined = true;
	return made;
}

// SPDX-License-Identifier: Apache-2.0
#include "forwarder_types.h"

#include <string.h>

/* Go 1's promise of compatibility keeps what an interface is one: only the two words matter here,
 * and that the first is an itab. */
static const char *const interfaces[] = {"io.Reader", "io.Writer", "net/http.Handler"};

const struct gotype *forwarder_type(void *ctx, const char *name)
{
	const struct forwarder_types *types = ctx;
	const struct gotype *found = NULL;

	if (types->program && types->program->find)
		found = types->program->find(types->program->ctx, name);
	for (size_t i = 0; !found && i < sizeof(interfaces) / sizeof(*interfaces); i++) {
		if (strcmp(interfaces[i], name))
			continue;
		struct gotype *made = gotypes_add(types->memory, GOTYPE_INTERFACE, name);

		*made = *gotypes_basic(types->memory, "error");
		made->name = gotypes_text(types->memory, name, strlen(name));
		found = made;
	}
	return found;
}

// SPDX-License-Identifier: Apache-2.0
#include "genprobe.h"

#include <stdlib.h>
#include <string.h>

#include "bpf-src/shared/later.h"
#include "elf/image.h"
#include "golang/signature.h"
#include "gotrace/tracegen_assert_internal.h"
#include "program/toolchain.h"
#include "values/format.h"
#include "golang/gotype_internal.h"
#include "gotrace/tracegen_plan_internal.h"

enum { RECORD_MAX = LATER_PLACES };

static struct gotype *add_struct(struct gotypes *types, const char *name, size_t count,
				 const struct gotype_field *fields, uint64_t size)
{
	struct gotype *type = gotypes_add(types, GOTYPE_STRUCT, name);

	type->defined = true;
	type->align = 8;
	type->size = size;
	type->fields = gotypes_alloc(types, count, sizeof(*fields));
	type->field_count = count;
	if (fields)
		memcpy(type->fields, fields, count * sizeof(*fields));
	return type;
}

/* package time: type Time struct { wall uint64; ext int64; loc *Location } */
static const struct gotype *find_time(struct gotypes *types, const char *name)
{
	const struct gotype_field fields[] = {
		{"wall", gotypes_basic(types, "uint64"), 0, false},
		{"ext", gotypes_basic(types, "int64"), 8, false},
		{"loc", gotypes_pointer(types, gotypes_basic(types, "int")), 16, false},
	};

	return strcmp(name, "time.Time") != 0 ? NULL
					      : add_struct(types, "time.Time", 3, fields, 24);
}

/* type Context interface { Err() error }; type Request struct { method string; ctx Context } */
static const struct gotype *find_context(struct gotypes *types, const char *name)
{
	struct gotype *context = gotypes_add(types, GOTYPE_INTERFACE, "context.Context");
	const struct gotype_field fields[] = {
		{"method", gotypes_basic(types, "string"), 0, false},
		{"ctx", context, 16, false},
	};

	if (!strcmp(name, "main.Wide")) { /* an int that lies about its size */
		struct gotype *wide = gotypes_add(types, GOTYPE_INT, name);

		wide->size = 1000;
		return wide;
	}
	context->has_methods = context->defined = true;
	context->size = 16;
	context->align = 8;
	if (!strcmp(name, context->name))
		return context;
	return strcmp(name, "main.Request") != 0 ? find_time(types, name)
						 : add_struct(types, "main.Request", 2, fields, 32);
}

/* type T struct { a int32; b uint8; name string; next *T; one [1]int16 }
 * type Box struct { *T; n int; f float64 }
 * type Deep struct { err error; m map[string]int; list []T; box Box; fn func() } */
static const struct gotype *find_type(void *ctx, const char *name)
{
	struct gotypes *types = ctx;
	const struct gotype *integer = gotypes_basic(types, "int");
	struct gotype *t = add_struct(types, "main.T", 5, NULL, 48);
	struct gotype *fn = gotypes_add(types, GOTYPE_FUNC, "func()");
	struct gotype *map = gotypes_add(types, GOTYPE_MAP, "map[string]int");
	const struct gotype_field t_fields[] = {
		{"a", gotypes_basic(types, "int32"), 0, false},
		{"b", gotypes_basic(types, "uint8"), 4, false},
		{"name", gotypes_basic(types, "string"), 8, false},
		{"next", gotypes_pointer(types, t), 24, false},
		{"one", gotypes_array(types, gotypes_basic(types, "int16"), 1), 32, false},
	};
	const struct gotype_field box_fields[] = {
		{"T", gotypes_pointer(types, t), 0, true},
		{"n", integer, 8, false},
		{"f", gotypes_basic(types, "float64"), 16, false},
	};

	memcpy(t->fields, t_fields, sizeof(t_fields));
	fn->size = map->size = fn->align = map->align = 8;
	map->key = gotypes_basic(types, "string");
	map->elem = integer;
	map->swiss = true;
	struct gotype *box = add_struct(types, "main.Box", 3, box_fields, 24);
	const struct gotype_field deep_fields[] = {
		{"err", gotypes_basic(types, "error"), 0, false},
		{"m", map, 16, false},
		{"list", gotypes_slice(types, t), 24, false},
		{"box", box, 48, false},
		{"fn", fn, 72, false},
	};
	struct gotype *deep = add_struct(types, "main.Deep", 5, deep_fields, 80);
	const struct gotype *all[] = {t, box, deep};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return find_context(types, name);
}

/* As find_type(), but with descriptors, and pointers to these types as well. */
static const struct gotype *find_held(void *ctx, const char *name, bool *direct, struct errmsg *err)
{
	const struct gotype *type = find_type(ctx, name + (*name == '*'));
	struct gotype *held = gotypes_alloc(ctx, 1, sizeof(*held));

	*direct = *name == '*';
	if (!type && !*direct)
		type = gotypes_basic(ctx, name);
	if (!type) {
		errmsg_set(err, "nothing holds a %s", name);
		errmsg_hint(err, "main.T is held");
		return NULL;
	}
	*held = *direct ? *gotypes_pointer(ctx, type) : *type;
	held->rtype = *direct ? 0x2000 : 0x1000;
	return held;
}

static int parse(struct genprobe *gp, const char *probe, bool keyed, struct errmsg *err)
{
	const struct signature_names names = {find_type, gp->types, 24};

	if (keyed ? probespec_parse_values(probe, false, &gp->spec, err)
		  : probespec_parse(probe, false, &gp->spec, err)) {
		gp->spec = (struct probespec){0};
		return -1;
	}
	if (gp->spec.format) {
		gp->format = format_parse(gp->spec.format, gp->spec.format_len,
					  gp->spec.format_cols, err);
		if (!gp->format)
			return -1;
	}
	if (!gp->spec.signature)
		return 0;
	return signature_parse(gp->types, &names, gp->spec.signature, &gp->fn, NULL, err);
}

int genprobe_make(struct genprobe *gp, const char *probe, const struct genprobe_how *how,
		  struct errmsg *err)
{
	struct tracegen_held held = {find_held, NULL, how->contexts};
	struct tracegen_probe as = {.spec = &gp->spec,
				    .fn = &gp->fn,
				    .abi = &gp->abi,
				    .arch = how->arch,
				    .toolchain = &toolchain_gc,
				    .several = how->several,
				    .is_copy = how->is_copy,
				    .held = &held,
				    .told = how->told,
				    .keyed = how->keyed,
				    .log2 = how->log2,
				    .g_labels = how->g_labels,
				    .label_map = how->label_map,
				    .limits = {.string_max = how->string_max ? how->string_max : 80,
					       .record_max = RECORD_MAX}};

	*gp = (struct genprobe){.types = gotypes_new(),
				.fn = {.dictionary = -1, .source = GOFUNC_SIGNATURE}};
	held.ctx = gp->types;
	if (parse(gp, probe, how->keyed, err))
		return -1;
	gp->fn.source = how->unknown ? GOFUNC_NONE : GOFUNC_SIGNATURE;
	gp->fn.dictionary = -1;
	abi_layout(&gp->fn, how->arch, how->convention, &gp->abi);
	for (size_t i = 0; i < gp->abi.param_count; i++)
		if (how->absent >> i & 1)
			gp->abi.params[i].count = 0;
	as.format = gp->format;
	as.has_states = gp->spec.at_return && (how->has_states || gp->spec.state);
	if (!tracegen_plan(gp->types, &as, &gp->plan, err))
		return 0;
	gp->plan = (struct tracegen_plan){0};
	return -1;
}

void genprobe_free(struct genprobe *gp)
{
	tracegen_free(&gp->plan);
	abi_layout_free(&gp->abi);
	format_free(gp->format);
	probespec_free(&gp->spec);
	gotypes_free(gp->types);
}

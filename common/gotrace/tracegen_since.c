// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen_since_internal.h"

#include <string.h>

#include "base/errmsg.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_uses_internal.h"

static bool is_word(const struct gotype *type, size_t field, const char *name)
{
	return !strcmp(type->fields[field].name, name) && type->fields[field].off == 8 * field &&
	       type->fields[field].type->size == 8;
}

/* Is it a time.Time, of whatever name? */
static bool is_time(const struct gotype *type)
{
	return type->kind == GOTYPE_STRUCT && type->field_count > 1 && is_word(type, 0, "wall") &&
	       is_word(type, 1, "ext");
}

/* Writes the time as ns since 1970. */
static int unix_time(struct gen *gen, const struct expr *expr, char name[NAME_MAX_LEN])
{
	char wall[NAME_MAX_LEN], ext[NAME_MAX_LEN];
	struct place place;

	if (!gen_is_place(expr))
		return gen_failed(errmsg_set(gen->err, "col %u: this is not a time", expr->col));
	if (gen_place(gen, expr, &place))
		return -1;
	if (place.type->kind == GOTYPE_POINTER && place.type->elem && is_time(place.type->elem) &&
	    gen_follow(gen, &place, expr->col))
		return -1;
	if (!is_time(place.type)) {
		errmsg_set(gen->err, "col %u: %s is not a time", expr->col, place.type->name);
		errmsg_hint(gen->err, "since(x) takes a time.Time");
		return -1;
	}
	if (gen_load(gen, &place, 0, 8, false, expr->col, wall) ||
	    gen_load(gen, &place, 8, 8, false, expr->col, ext))
		return -1;
	gen_var(gen, name);
	ctext_line(gen->out, "u64 %s = time_unix(&bad, %s, %s);", name, wall, ext);
	return 0;
}

/* A parameter's time is taken at entry and kept with the call. */
static int unix_time_at_entry(struct gen *gen, const struct expr *expr, char name[NAME_MAX_LEN])
{
	struct ctext *before = gen_enter_entry(gen);

	ctext_line(gen->out, "bad = 0;");
	if (unix_time(gen, expr, name))
		return -1;
	gen_leave_entry(gen, before, name);
	return 0;
}

int gen_since(struct gen *gen, const struct expr *expr, struct number *out)
{
	char time[NAME_MAX_LEN];
	bool kept = gen->returning && !gen->after && gen_uses(gen, expr->a) == GEN_USES_ENTRY;

	if (kept ? unix_time_at_entry(gen, expr->a, time) : unix_time(gen, expr->a, time))
		return -1;
	gen->uses |= TRACEGEN_TIME | TRACEGEN_IDENTITY; /* which finds out what time it is */
	*out = (struct number){0};
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = time_since(hit, %s);", out->text, time);
	return 0;
}

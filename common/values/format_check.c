// SPDX-License-Identifier: Apache-2.0
/* Which verbs a value of each type may have. */
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "values/format.h"
#include "values/format_internal.h"
#include "values/value_internal.h"

struct allowed {
	const char *verbs;
	const char *what; /* in messages: "a string" */
	const char *remedy;
};

static bool is_byte(const struct gotype *type)
{
	return type && type->kind == GOTYPE_UINT && type->size == 1;
}

static bool is_named(const struct gotype *type, const char *name)
{
	return !strcmp(type->name, name);
}

static struct allowed of_integer(const struct gotype *type)
{
	if (is_named(type, "time.Duration"))
		return (struct allowed){"diuxXovs", "a duration", "%v or %d"};
	if (is_named(type, GOTYPE_OPEN_FLAGS))
		return (struct allowed){"diuxXovs", "flags", "%v or %d"};
	if (is_named(type, "syscall.Errno"))
		return (struct allowed){"diuxXovsq", "an error number", "%v or %d"};
	return (struct allowed){"diuxXocqvp", "an integer", "%d or %v"};
}

static struct allowed of_sequence(const struct gotype *type)
{
	bool bytes = is_byte(type->elem);

	if (type->kind == GOTYPE_ARRAY && value_has_text(type))
		return (struct allowed){"vsqxX", "a UUID", "%v or %x"};
	if (type->kind == GOTYPE_ARRAY)
		return (struct allowed){bytes ? "vxX" : "v", "an array", bytes ? "%v or %x" : "%v"};
	if (bytes)
		return (struct allowed){"sqvxXp", "a slice of bytes", "%s, %x or %v"};
	return (struct allowed){"vp", "a slice", "%v"};
}

static struct allowed of_type(const struct gotype *type)
{
	switch (type->kind) {
	case GOTYPE_BOOL:
		return (struct allowed){"tvdiu", "a bool", "%t or %v"};
	case GOTYPE_INT:
	case GOTYPE_UINT:
		return of_integer(type);
	case GOTYPE_FLOAT:
		return (struct allowed){"fFeEgGv", "a float", "%g, %f or %v"};
	case GOTYPE_COMPLEX:
		return (struct allowed){"v", "a complex number", "%v"};
	case GOTYPE_STRING:
		return (struct allowed){"sqvxX", "a string", "%s or %v"};
	case GOTYPE_SLICE:
	case GOTYPE_ARRAY:
		return of_sequence(type);
	case GOTYPE_STRUCT:
		if (is_named(type, "time.Time"))
			return (struct allowed){"vs", "a time", "%v"};
		if (value_has_text(type))
			return (struct allowed){"vsq", "a struct", "%v or %s"};
		return (struct allowed){"v", "a struct", "%v, or print its fields"};
	case GOTYPE_POINTER:
		if (value_has_text(type))
			return (struct allowed){"pvsqdiuxX", "a pointer", "%v, %s or %p"};
		return (struct allowed){"pvdiuxX", "a pointer", "%p or %v"};
	case GOTYPE_MAP:
		return (struct allowed){"pvxX", "a map", "%v"};
	case GOTYPE_CHAN:
		return (struct allowed){"pvxX", "a channel", "%v"};
	case GOTYPE_FUNC:
		return (struct allowed){"pvsxX", "a func", "%v"};
	case GOTYPE_INTERFACE:
		if (is_named(type, "error"))
			return (struct allowed){"vsqp", "an error", "%v or %s"};
		return (struct allowed){"diuxXoctsqvpfFeEgG", "an interface", "%v"};
	case GOTYPE_PAIR:
		return (struct allowed){"vsq", "two words", "%v or %s"};
	default:
		if (type->size > 8)
			return (struct allowed){"v", "a value of unknown type", "%v"};
		return (struct allowed){"diuxXoctvp", "a word", "%d or %x"};
	}
}

static struct allowed of_arg(const struct format_arg *arg, const struct gotype *type)
{
	switch (arg->kind) {
	case FORMAT_INT:
		if (arg->is_bool)
			return (struct allowed){"tvdiu", "a bool", "%t or %v"};
		return (struct allowed){"diuxXocqvp", "an integer", "%d or %v"};
	case FORMAT_TEXT:
		return (struct allowed){"sqvxX", "a string", "%s or %v"};
	case FORMAT_LIST:
		return (struct allowed){"v", "a list of values", "%v"};
	case FORMAT_SHAPE:
		if (type)
			return of_type(type);
		/* fall through */
	default: /* a value that is missing is printed as such, by any verb */
		return (struct allowed){"diuxXoctsqvpfFeEgG", "", ""};
	}
}

static const char *article(const char *noun)
{
	bool uint = noun[0] == 'u' && noun[1] == 'i'; /* "a uint" */

	return noun[0] && strchr("aeiou", noun[0]) && !uint ? "an" : "a";
}

int format_check(const struct format *format, size_t n, const struct format_arg *arg,
		 const char *what, struct errmsg *err)
{
	const struct format_piece *piece = format_piece(format, n);
	const struct gotype *type =
		arg->kind == FORMAT_SHAPE && arg->shape ? arg->shape->type : NULL;
	struct allowed allowed = of_arg(arg, type);

	if (!piece || strchr(allowed.verbs, piece->verb))
		return 0;
	char *name = escape_text(what);
	char *type_name = type ? escape_text(type->name) : NULL;

	errmsg_set(err, "col %u: %%%c does not print %s (%s is %s%s%s)", piece->col, piece->verb,
		   allowed.what, name, type ? article(type_name) : "", type ? " " : "",
		   type ? type_name : allowed.what);
	errmsg_hint(err, "use %s", allowed.remedy);
	free(type_name);
	free(name);
	return -1;
}

// SPDX-License-Identifier: Apache-2.0
/* Names of types that GCC's DWARF has no name for, made of those that it has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/debuginfo_gccgo_internal.h"
#include "dwarf/dietree_internal.h"

enum {
	MAX_DEPTH = 8,   /* types nested in each other */
	MAX_NAMES = 200, /* in one name */
};

struct writer {
	struct debuginfo *dbg;
	FILE *out;
	unsigned left;
};

static void write_type(struct writer *writer, const struct die *die, unsigned depth);

static void write_part(struct writer *writer, const struct die *die, enum die_attr attr,
		       unsigned depth)
{
	struct die to;

	if (die_reference(die, attr, &to))
		write_type(writer, &to, depth + 1);
	else
		fputs("?", writer->out);
}

/* ".example.com/lib.thing" */
static void write_hidden(struct writer *writer, const char *name)
{
	const char *slash = strrchr(name, '/');

	fputs(slash ? slash + 1 : name + 1, writer->out);
}

/* Names of exported types have no package in DWARF; two types are recognised all the same. */
static const char *exported_name(const char *name, const struct die *bare)
{
	if (!name)
		return "?";
	if (!strcmp(name, "Pointer") && die_tag(bare) == DIE_POINTER)
		return "unsafe.Pointer";
	return !strcmp(name, "Time") && debuginfo_gccgo_is_time(bare) ? "time.Time" : name;
}

static void write_def(struct writer *writer, const struct die *die)
{
	const struct debuginfo_desc *desc = debuginfo_gccgo_desc(writer->dbg, die);
	struct die bare = *die;
	const char *name = die_name(die), *said = NULL;
	bool is_known = debuginfo_gccgo_bare(&bare);

	if (desc && is_known)
		said = debuginfo_gccgo_desc_name(writer->dbg, desc, debuginfo_gccgo_kind(&bare),
						 DEBUGINFO_SIZE_LATER);
	if (!said && is_known)
		said = debuginfo_gccgo_foreign_name(writer->dbg, die, debuginfo_gccgo_kind(&bare),
						    DEBUGINFO_SIZE_LATER);
	if (said)
		fputs(said, writer->out);
	else if (name && *name == '.')
		write_hidden(writer, name);
	else
		fputs(is_known ? exported_name(name, &bare) : "?", writer->out);
}

static void write_struct(struct writer *writer, const struct die *die, unsigned depth)
{
	struct die member;
	const char *before = " ";

	fputs("struct {", writer->out);
	for (bool more = die_child(die, &member); more && writer->left;
	     more = die_sibling(&member, &member)) {
		const char *name = die_tag(&member) == DIE_MEMBER ? die_name(&member) : NULL;

		if (!name)
			continue;
		fprintf(writer->out, "%s%s ", before, name);
		write_part(writer, &member, DIE_TYPE, depth);
		before = "; ";
	}
	fputs(*before == ';' ? " }" : "}", writer->out);
}

static void write_slice(struct writer *writer, const struct die *die, unsigned depth)
{
	struct die elem;

	fputs("[]", writer->out);
	if (debuginfo_gccgo_elem(die, &elem))
		write_type(writer, &elem, depth + 1);
}

static void write_array(struct writer *writer, const struct die *die, unsigned depth)
{
	uint64_t lengths[DEBUGINFO_DIMS];
	size_t count = debuginfo_gccgo_dims(die, lengths);

	for (size_t i = 0; i < count; i++)
		fprintf(writer->out, "[%" PRIu64 "]", lengths[i]);
	write_part(writer, die, DIE_TYPE, depth);
}

static void write_interface(struct writer *writer, const struct die *die)
{
	struct die member;
	const char *name = die_child(die, &member) ? die_name(&member) : NULL;
	bool empty = name && !strcmp(name, "__type_descriptor");

	fputs(empty ? "interface {}" : "interface {...}", writer->out);
}

static void write_pointer(struct writer *writer, const struct die *die, unsigned depth)
{
	struct die to;

	if (!die_reference(die, DIE_TYPE, &to)) {
		fputs("unsafe.Pointer", writer->out);
		return;
	}
	fputs("*", writer->out);
	write_type(writer, &to, depth + 1);
}

static void write_bare(struct writer *writer, const struct die *die, unsigned depth)
{
	const char *name = die_name(die);

	switch (debuginfo_gccgo_kind(die)) {
	case GOTYPE_STRUCT:
		write_struct(writer, die, depth);
		break;
	case GOTYPE_STRING:
		fputs("string", writer->out);
		break;
	case GOTYPE_SLICE:
		write_slice(writer, die, depth);
		break;
	case GOTYPE_INTERFACE:
		write_interface(writer, die);
		break;
	case GOTYPE_POINTER:
		write_pointer(writer, die, depth);
		break;
	case GOTYPE_ARRAY:
		write_array(writer, die, depth);
		break;
	case GOTYPE_MAP: /* its key and value are not told */
		fputs("map", writer->out);
		break;
	case GOTYPE_CHAN:
		fputs("chan", writer->out);
		break;
	case GOTYPE_FUNC:
		fputs("func", writer->out);
		break;
	default:
		fputs(name ? name : "?", writer->out);
	}
}

static void write_type(struct writer *writer, const struct die *die, unsigned depth)
{
	struct die type = *die;

	if (depth > MAX_DEPTH || !writer->left || !debuginfo_gccgo_skip(&type)) {
		fputs("?", writer->out);
		return;
	}
	writer->left--;
	if (die_tag(&type) == DIE_TYPEDEF)
		write_def(writer, &type);
	else
		write_bare(writer, &type, depth);
}

const char *debuginfo_gccgo_name(struct debuginfo *dbg, const struct die *die)
{
	char *text = NULL;
	size_t len = 0;
	struct writer writer = {dbg, open_memstream(&text, &len), MAX_NAMES};
	const char *kept;

	if (!writer.out)
		return "?";
	write_type(&writer, die, 0);
	fclose(writer.out);
	kept = gotypes_text(dbg->types, text, len);
	free(text);
	return kept;
}

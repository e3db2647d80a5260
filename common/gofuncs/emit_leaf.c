// SPDX-License-Identifier: Apache-2.0
#include "gofuncs/emit_leaf_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	WORD = 8,
	DEPTH_MAX = 4,   /* of structs in structs */
	FIELDS_MAX = 16, /* shown of one struct */
	NAME_MAX_LEN = 60,
	STACK_TEXT = 64, /* bytes of a string in bpftrace */
	STACK_TYPE = 160,
	STACK_BOOL = 24,
	/* type descriptors: Go's src/internal/abi/type.go */
	ITAB_TYPE = 8,
	TYPE_TFLAG = 20,
	TYPE_STR = 40,
};

struct reader {
	struct emit_leaves *to;
	const struct emit_leaf_site *site;
	bool is_guess;
};

/* --- leaves --- */

static struct emit_leaf *add_leaf(const struct reader *reader, const char *name,
				  const struct gotype *type)
{
	struct emit_leaves *to = reader->to;
	struct emit_leaf leaf = {.name = mem_strdup(name),
				 .type = type->name,
				 .format = mem_strdup("?"),
				 .args = mem_strdup(""),
				 .setup = mem_strdup(""),
				 .is_guess = reader->is_guess};

	to->items = mem_grow(to->items, to->count, &to->cap, sizeof(leaf));
	to->items[to->count] = leaf;
	return &to->items[to->count++];
}

static void set(char **text, char *to)
{
	free(*text);
	*text = to;
}

/* The bytes of bpftrace's stack that an expression takes: memory is read onto the stack. */
static unsigned stack_of(const char *text)
{
	return *text == '*' ? 2 * WORD : WORD;
}

static void add_lost(const struct reader *reader, const char *name, const struct gotype *type,
		     const char *why)
{
	add_leaf(reader, name, type)->lost = why;
}

/* Adds a value that one conversion prints: `format`; the value is cast to `cast`, and followed by
 * `suffix`. */
static void add_number(const struct reader *reader, const char *name, const struct gotype *type,
		       uint64_t off, const char *cast, const char *format, const char *suffix)
{
	struct emit_leaf *leaf = add_leaf(reader, name, type);
	char *text = emit_access(reader->site, off, type->size, cast, &leaf->lost);

	if (!text)
		return;
	leaf->stack = stack_of(text) + (type->kind == GOTYPE_BOOL ? STACK_BOOL : 0);
	set(&leaf->format, mem_strdup(format));
	set(&leaf->args, mem_printf("%s%s", text, suffix));
	free(text);
}

static void add_integer(const struct reader *reader, const char *name, const struct gotype *type,
			uint64_t off)
{
	bool is_signed = type->kind == GOTYPE_INT;
	bool is_number = is_signed || type->kind == GOTYPE_UINT;
	char cast[16];

	if (type->size != 1 && type->size != 2 && type->size != 4 && type->size != WORD) {
		add_lost(reader, name, type, "it is not a number of 1, 2, 4 or 8 bytes");
		return;
	}
	snprintf(cast, sizeof(cast), "%sint%u", is_signed ? "" : "u", (unsigned)type->size * 8);
	if (type->kind == GOTYPE_BOOL)
		add_number(reader, name, type, off, cast, "%s", " ? \"true\" : \"false\"");
	else
		add_number(reader, name, type, off, cast,
			   is_signed                    ? "%lld"
			   : is_number                  ? "%llu"
			   : type->kind == GOTYPE_FLOAT ? "bits 0x%llx"
							: "0x%llx",
			   "");
}

/* A parameter of which argument tables tell only sizes and places. */
static void add_pieces(const struct reader *reader, const char *name, const struct gotype *type)
{
	const struct abi_value *value = reader->site->value;

	if (!value->count)
		add_lost(reader, name, type, "its place is not known");
	for (size_t i = 0; i < value->count; i++) {
		const struct abi_piece *piece = &value->pieces[i];
		struct gotype part = {.kind = GOTYPE_UNKNOWN, .name = "", .size = piece->size};
		char *full = value->count > 1 ? mem_printf("%s_%zu", name, i) : mem_strdup(name);

		add_integer(reader, full, &part, piece->off);
		free(full);
	}
}

/* Expressions for up to three words from `off` on; false: some are lost, and *lost says why. */
static bool words(const struct reader *reader, uint64_t off, size_t count, char **texts,
		  const char **lost)
{
	size_t i;

	for (i = 0; i < count; i++) {
		texts[i] = emit_access(reader->site, off + i * WORD, WORD, i ? "int64" : "uint64",
				       lost);
		if (!texts[i])
			break;
	}
	if (i == count)
		return true;
	while (i-- > 0)
		free(texts[i]);
	return false;
}

static void add_string(const struct reader *reader, const char *name, const struct gotype *type,
		       uint64_t off)
{
	struct emit_leaf *leaf = add_leaf(reader, name, type);
	bool is_bytes = type->kind == GOTYPE_SLICE;
	char *word[2];

	if (!words(reader, off, 2, word, &leaf->lost))
		return;
	leaf->stack = STACK_TEXT + stack_of(word[0]) + 2 * stack_of(word[1]) - WORD;
	set(&leaf->format, mem_strdup(is_bytes ? "\\\"%r\\\"(%lld)" : "\\\"%s\\\"(%lld)"));
	set(&leaf->args,
	    mem_printf("%s(%s, %s), %s", is_bytes ? "buf" : "str", word[0], word[1], word[1]));
	free(word[0]);
	free(word[1]);
}

static void add_slice(const struct reader *reader, const char *name, const struct gotype *type,
		      uint64_t off)
{
	struct emit_leaf *leaf = add_leaf(reader, name, type);
	char *word[3];

	if (!words(reader, off, 3, word, &leaf->lost))
		return;
	leaf->stack = 3 * stack_of(word[0]);
	set(&leaf->format, mem_strdup("[0x%llx len %lld cap %lld]"));
	set(&leaf->args, mem_printf("%s, %s, %s", word[0], word[1], word[2]));
	for (size_t i = 0; i < 3; i++)
		free(word[i]);
}

/* Lines that read a type's name from its descriptor: a flag byte, a length, and the text, which may
 * begin with a star that is not part of the name. */
static char *type_name_lines(const struct emit_leaf_site *site, size_t n)
{
	char *bias = site->is_pie ? mem_printf("reg(\"ip\") - 0x%" PRIx64 " + ", site->addr)
				  : mem_strdup("");
	char *text = mem_printf("\t$n%1$zu = %2$s0x%3$" PRIx64 " + *(uint32 *)($t%1$zu + %4$d);\n"
				"\t$s%1$zu = (*(uint8 *)($t%1$zu + %5$d) >> 1) & 1;\n"
				"\t$l%1$zu = *(uint8 *)($n%1$zu + 1);\n"
				"\t$e%1$zu = str(uptr($n%1$zu + 2 + ($l%1$zu >> 7) + $s%1$zu), "
				"$l%1$zu - $s%1$zu);\n"
				"\tif ($l%1$zu == 0) { $e%1$zu = \"?\"; }\n"
				"\tif ($t%1$zu == 0) { $e%1$zu = \"nil\"; }\n",
				n, bias, site->type_names, TYPE_STR, TYPE_TFLAG);

	free(bias);
	return text;
}

/* An interface: its dynamic type and data word. */
static void add_interface(const struct reader *reader, const char *name, const struct gotype *type,
			  uint64_t off)
{
	size_t n = reader->to->count + 1;
	struct emit_leaf *leaf = add_leaf(reader, name, type);
	char *word[2], *lines;

	if (!words(reader, off, 2, word, &leaf->lost))
		return;
	lines = type->has_methods
			? mem_printf("\t$t%zu = *(uint64 *)(%s + %d);\n", n, word[0], ITAB_TYPE)
			: mem_printf("\t$t%zu = %s;\n", n, word[0]);
	set(&leaf->setup, lines);
	if (reader->site->type_names) {
		char *more = type_name_lines(reader->site, n);

		set(&leaf->setup, mem_printf("%s%s", leaf->setup, more));
		free(more);
		leaf->stack = STACK_TYPE + stack_of(word[1]);
		set(&leaf->format, mem_strdup("%s(0x%llx)"));
		set(&leaf->args, mem_printf("$e%zu, %s", n, word[1]));
	} else {
		leaf->stack = 2 * stack_of(word[1]);
		set(&leaf->format, mem_strdup("type 0x%llx(0x%llx)"));
		set(&leaf->args, mem_printf("$t%zu, %s", n, word[1]));
	}
	free(word[0]);
	free(word[1]);
}

/* --- values --- */

static void add_value(const struct reader *reader, const char *name, const struct gotype *type,
		      uint64_t off, unsigned depth);

static void add_field_leaves(const struct reader *reader, const char *name,
			     const struct gotype *type, uint64_t off, unsigned depth)
{
	if (!type->field_count || depth >= DEPTH_MAX || type->field_count > FIELDS_MAX) {
		add_lost(reader, name, type,
			 type->field_count ? "it has too many fields" : "it has no fields");
		return;
	}
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];
		char *full = mem_printf("%s.%s", name, field->name);

		add_value(reader, full, field->type, off + field->off, depth + 1);
		free(full);
	}
}

static void add_elements(const struct reader *reader, const char *name, const struct gotype *type,
			 uint64_t off, unsigned depth)
{
	if (!type->count || !type->elem || depth >= DEPTH_MAX || type->count > FIELDS_MAX) {
		add_lost(reader, name, type,
			 type->count ? "it has too many elements" : "it has no elements");
		return;
	}
	for (uint64_t i = 0; i < type->count; i++) {
		char *full = mem_printf("%s[%" PRIu64 "]", name, i);

		add_value(reader, full, type->elem, off + i * type->elem->size, depth + 1);
		free(full);
	}
}

/* `depth` bounds the recursion. */
static void add_value(const struct reader *reader, const char *name, const struct gotype *type,
		      uint64_t off, unsigned depth)
{
	switch (type->kind) {
	case GOTYPE_STRING:
		add_string(reader, name, type, off);
		break;
	case GOTYPE_SLICE:
		if (type->elem && type->elem->kind == GOTYPE_UINT && type->elem->size == 1)
			add_string(reader, name, type, off);
		else
			add_slice(reader, name, type, off);
		break;
	case GOTYPE_INTERFACE:
		add_interface(reader, name, type, off);
		break;
	case GOTYPE_STRUCT:
		add_field_leaves(reader, name, type, off, depth);
		break;
	case GOTYPE_UNKNOWN:
		add_pieces(reader, name, type);
		break;
	case GOTYPE_ARRAY:
		add_elements(reader, name, type, off, depth);
		break;
	case GOTYPE_COMPLEX:
		add_lost(reader, name, type, "bpftrace has no such numbers");
		break;
	default:
		add_integer(reader, name, type, off);
	}
}

/* Can the script have this name? Names in a file that no compiler wrote may be anything. */
static bool is_identifier(const char *name)
{
	if (!*name || strlen(name) > NAME_MAX_LEN || !strcmp(name, "_"))
		return false;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '~' && *c != '.')
			return false;
	return true;
}

void emit_leaf_param(struct emit_leaves *to, const struct emit_leaf_site *site,
		     const struct goparam *param, size_t n)
{
	struct reader reader = {to, site, param->is_guess};
	char *name = is_identifier(param->name) ? mem_strdup(param->name)
						: mem_printf("%s%zu", site->prefix, n);

	if (!strcmp(param->name, "..."))
		add_lost(&reader, "...", param->type, "the argument tables end here");
	else
		add_value(&reader, name, param->type, 0, 0);
	free(name);
}

void emit_leaves_free(struct emit_leaves *leaves)
{
	for (size_t i = 0; i < leaves->count; i++) {
		free(leaves->items[i].name);
		free(leaves->items[i].format);
		free(leaves->items[i].args);
		free(leaves->items[i].setup);
	}
	free(leaves->items);
}

// SPDX-License-Identifier: Apache-2.0
#include "gofuncs/emit_args_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/escape.h"
#include "machine/arch.h"
#include "sites/site.h"

enum {
	WORD = 8,
	RETURN_ADDRESS = 8, /* bytes at the stack pointer, below the first stack argument */
	WORDS_MAX = 8,      /* of a value on the stack */
	ARGS_MAX = 100,     /* the kernel allows 128 for a probe */
	PLACE_TEXT = 24,
	NAME_MAX_LEN = 24, /* bytes; the kernel allows 31 */
};

struct printer {
	FILE *out;
	enum arch arch;
	const struct site *site;
	size_t printed;
};

/* Can an argument have this name? Names may come from a malformed file: only plain identifiers can.
 * Those that begin with two underscores or common_ are the kernel's own. */
static bool is_event_name(const char *name)
{
	size_t len = strlen(name);

	return len <= NAME_MAX_LEN && *name != '_' && strncmp(name, "common_", 7) != 0 &&
	       strcmp(name, "flags") != 0 && strcmp(name, "goid") != 0 &&
	       escape_is_identifier(name);
}

const char *emit_register(enum arch arch, const struct abi_piece *piece, char *text, size_t size)
{
	struct abi_piece whole = *piece;
	const char *name = text;

	whole.size = WORD;
	whole.from = 0;
	if (piece->where == ABI_AT)
		whole.where = ABI_HARDWARE;
	abi_place_text(arch, &whole, text, size);
	if (arch != ARCH_ARM64 && isalpha((unsigned char)name[1]))
		name++; /* the kernel calls rax %ax, but r8 %r8 */
	return name;
}

/* `bytes`: 1, 2, 4 or 8 */
static char type_letter(const struct gotype *type)
{
	if (type->kind == GOTYPE_INT)
		return 's';
	return type->kind == GOTYPE_UINT || type->kind == GOTYPE_BOOL ? 'u' : 'x';
}

static void print_slot(struct printer *printer, const char *name, const struct abi_piece *piece,
		       char letter)
{
	bool is_slot = piece->where == ABI_SLOT;
	int64_t at = is_slot ? (int64_t)printer->site->sp_adjust + RETURN_ADDRESS + piece->n
			     : piece->from;
	char text[PLACE_TEXT];
	const char *base = is_slot ? "sp" : emit_register(printer->arch, piece, text, sizeof(text));
	bool scalar = piece->size == 1 || piece->size == 2 || piece->size == 4;
	unsigned words = piece->size / WORD;

	if (scalar) {
		printer->printed++;
		fprintf(printer->out, " %s=+%lld(%%%s):%c%u", name, (long long)at, base, letter,
			piece->size * 8);
	}
	for (unsigned i = 0; i < words && i < WORDS_MAX; i++, printer->printed++) {
		fprintf(printer->out, " %s", name);
		if (words > 1)
			fprintf(printer->out, "_%u", i);
		fprintf(printer->out, "=+%lld(%%%s):%c64", (long long)at + i * WORD, base,
			words > 1 ? 'x' : letter);
	}
}

static void print_piece(struct printer *printer, const char *name, const struct abi_piece *piece,
			char letter)
{
	char text[PLACE_TEXT];

	if (printer->printed >= ARGS_MAX || piece->where == ABI_FLOAT || piece->where == ABI_SP ||
	    (piece->from && piece->where != ABI_AT))
		return;
	if (piece->where == ABI_SLOT || piece->where == ABI_AT) {
		print_slot(printer, name, piece, letter);
		return;
	}
	fprintf(printer->out, " %s=%%%s:%c%u", name,
		emit_register(printer->arch, piece, text, sizeof(text)), letter, piece->size * 8);
	printer->printed++;
}

void emit_args(FILE *out, enum arch arch, const struct goparam *params,
	       const struct abi_value *values, size_t count, const struct site *site,
	       const char *prefix)
{
	struct printer printer = {out, arch, site, 0};
	char name[NAME_MAX_LEN + 16];

	for (size_t i = 0; i < count; i++) {
		bool plain = is_event_name(params[i].name), one = values[i].count == 1;
		int len = plain ? snprintf(name, NAME_MAX_LEN + 1, "%s", params[i].name)
				: snprintf(name, NAME_MAX_LEN + 1, "%s%zu", prefix, i + 1);

		for (size_t j = 0; j < values[i].count; j++) {
			if (!one)
				snprintf(name + len, sizeof(name) - len, "_%zu", j);
			print_piece(&printer, name, &values[i].pieces[j],
				    one ? type_letter(params[i].type) : 'x');
		}
	}
}

// SPDX-License-Identifier: Apache-2.0
#include "tracing/options_help_internal.h"

#include <string.h>

#include "tracing/options.h"

enum { HELP_COLUMN = 24, LINE_WIDTH = 79, INDENT = 4, EXAMPLES = 5 };

/* Appends a word to a line that breaks before LINE_WIDTH, and goes on at column `indent`. */
static void put_word(FILE *out, int *column, int indent, const char *word)
{
	int len = strlen(word);

	if (*column > indent && *column + 1 + len > LINE_WIDTH) {
		fprintf(out, "\n%*s", indent, "");
		*column = indent;
	}
	*column += fprintf(out, *column > indent ? " %s" : "%s", word);
}

/* What stands between an option and its value. */
static const char *space_before(const char *value)
{
	return *value && *value != '[' ? " " : "";
}

void options_help_usage(FILE *out, const struct options_tool *tool, const struct options_def *defs,
			size_t count)
{
	int indent = fprintf(out, "usage: %s ", tool->name), column = indent;
	char word[64];

	for (size_t i = 0; i < count; i++) {
		const struct options_def *def = &defs[i];
		const char *value = def->value ? def->value : "", *space = space_before(value);

		if (def->letter < 256)
			snprintf(word, sizeof(word), "[-%c%s%s]", def->letter, space, value);
		else
			snprintf(word, sizeof(word), "[--%s%s%s]", def->name, space, value);
		put_word(out, &column, indent, word);
	}
	for (const char *arg = tool->args; *arg; arg += strspn(arg, " ")) {
		/* "[-- COMMAND [ARG...]]" stays in one piece */
		int len = *arg == '[' && arg[1] == '-' ? strlen(arg) : strcspn(arg, " ");

		snprintf(word, sizeof(word), "%.*s", len, arg);
		put_word(out, &column, indent, word);
		arg += len;
	}
	fputc('\n', out);
}

static void print_def(FILE *out, const struct options_def *def)
{
	const char *value = def->value ? def->value : "", *space = space_before(value);
	int column;

	if (def->letter < 256)
		column = fprintf(out, "  -%c%s%s, --%s%s%s", def->letter, space, value, def->name,
				 space, value);
	else
		column = fprintf(out, "  --%s%s%s", def->name, space, value);
	if (column + 2 > HELP_COLUMN) {
		fputc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - column, "");
	column = HELP_COLUMN;
	for (const char *word = def->help; *word; word += strspn(word, " ")) {
		char text[64];
		int len = strcspn(word, " ");

		snprintf(text, sizeof(text), "%.*s", len, word);
		put_word(out, &column, HELP_COLUMN, text);
		word += len;
	}
	fputc('\n', out);
}

/* How long the lines of the first EXAMPLES are together. */
static int first_examples(const char *examples)
{
	const char *end = examples;
	size_t count = 0;

	while (*end) {
		if (strspn(end, " ") == INDENT && ++count > EXAMPLES)
			break;
		end += strcspn(end, "\n");
		end += *end == '\n';
	}
	return end - examples;
}

void options_help_short(FILE *out, const struct options_tool *tool, const struct options_def *defs,
			size_t count)
{
	options_help_usage(out, tool, defs, count);
	fprintf(out, "\n%s\n\nexamples:\n%.*s\nall options: %s --help all\n", tool->about,
		first_examples(tool->examples), tool->examples, tool->name);
}

void options_help_all(FILE *out, const struct options_tool *tool, const struct options_def *defs,
		      size_t count)
{
	options_help_usage(out, tool, defs, count);
	fprintf(out, "\n%s\n\noptions:\n", tool->about);
	for (size_t i = 0; i < count; i++)
		print_def(out, &defs[i]);
	fprintf(out, "\nexamples:\n%s", tool->examples);
}

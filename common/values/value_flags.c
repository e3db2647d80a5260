// SPDX-License-Identifier: Apache-2.0
/* Flags of open(2) in words, in strace's order. */
#include "values/value_internal.h"

#include <inttypes.h>
#include <linux/fcntl.h> /* the kernel's: in glibc's, O_LARGEFILE is 0 */
#include <string.h>

/* What consists of several bits stands before its parts. */
static const struct {
	uint64_t bits;
	const char *name;
} FLAGS[] = {
	{O_CREAT, "O_CREAT"},     {O_EXCL, "O_EXCL"},           {O_NOCTTY, "O_NOCTTY"},
	{O_TRUNC, "O_TRUNC"},     {O_APPEND, "O_APPEND"},       {O_NONBLOCK, "O_NONBLOCK"},
	{O_SYNC, "O_SYNC"},       {O_DSYNC, "O_DSYNC"},         {FASYNC, "O_ASYNC"},
	{O_DIRECT, "O_DIRECT"},   {O_LARGEFILE, "O_LARGEFILE"}, {O_NOFOLLOW, "O_NOFOLLOW"},
	{O_NOATIME, "O_NOATIME"}, {O_CLOEXEC, "O_CLOEXEC"},     {O_PATH, "O_PATH"},
	{O_TMPFILE, "O_TMPFILE"}, {O_DIRECTORY, "O_DIRECTORY"},
};

bool value_is_open_flags(const struct gotype *type)
{
	return type->kind == GOTYPE_INT && !strcmp(type->name, GOTYPE_OPEN_FLAGS);
}

void value_print_open_flags(FILE *out, int64_t flags)
{
	static const char *const access[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};
	uint64_t rest = (uint64_t)flags & ~(uint64_t)O_ACCMODE;

	fputs(access[flags & O_ACCMODE], out);
	for (size_t i = 0; i < sizeof(FLAGS) / sizeof(FLAGS[0]); i++) {
		if ((rest & FLAGS[i].bits) != FLAGS[i].bits)
			continue;
		fprintf(out, "|%s", FLAGS[i].name);
		rest &= ~FLAGS[i].bits;
	}
	if (rest)
		fprintf(out, "|0x%" PRIx64, rest);
}

char *value_flags_text(const struct shape *shape, const struct value_source *source)
{
	char *text = NULL;
	size_t len;
	int64_t flags;

	if (!value_is_open_flags(shape->type) || !value_int(shape, source, &flags))
		return NULL;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	value_print_open_flags(out, flags);
	fclose(out);
	return text;
}

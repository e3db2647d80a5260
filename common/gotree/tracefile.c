// SPDX-License-Identifier: Apache-2.0
#include "gotree/tracefile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "gotree/calltree_print_internal.h"

enum { BYTES_MAX = 256 << 20 };

struct tracefile {
	struct outfile *file;
	FILE *out; /* what it shall hold: `bytes` */
	char *bytes;
	size_t len;
	uint64_t trees, left_out;
};

struct tracefile *tracefile_open(const char *path, struct errmsg *err)
{
	static const struct outfile_spec spec = {.option = "--perfetto", .folder = ""};
	struct outfile *out = outfile_open(path, &spec, err);

	if (!out)
		return NULL;
	struct tracefile *file = mem_zalloc(1, sizeof(*file));

	file->file = out;
	file->out = open_memstream(&file->bytes, &file->len);
	if (!file->out) {
		errmsg_set(err, "--perfetto: no memory");
		tracefile_close(file);
		return NULL;
	}
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file->out);
	return file;
}

void tracefile_close(struct tracefile *file)
{
	if (!file)
		return;
	if (file->out)
		fclose(file->out);
	free(file->bytes);
	outfile_close(file->file);
	free(file);
}

void tracefile_add(struct tracefile *file, const struct calltree *tree)
{
	if (ftello(file->out) > BYTES_MAX) {
		file->left_out++;
		return;
	}
	calltree_trace(file->out, tree, file->trees++ > 0);
}

int tracefile_write(struct tracefile *file, struct errmsg *err)
{
	fputs("]}\n", file->out);
	if (fflush(file->out))
		return errmsg_set(err, "--perfetto: no memory");
	return outfile_write(file->file, file->bytes, file->len, err);
}

void tracefile_say_left_out(const struct tracefile *file, const char *tool)
{
	if (file->left_out)
		fprintf(stderr,
			"%s: --perfetto: %" PRIu64 " trees left out: the file has %d MB already\n",
			tool, file->left_out, BYTES_MAX >> 20);
}

// SPDX-License-Identifier: Apache-2.0
#include "program/program.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/budget_watch.h"
#include "base/mem.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "program/buildinfo_internal.h"
#include "program/functab_internal.h"

static void read_release(struct program *prog)
{
	struct buildinfo build;

	prog->release_told = buildinfo_read(prog->img, &build) && build.release >= 0;
	prog->release = prog->release_told ? build.release : functab_release_guess(prog->tab);
}

struct program *program_open(struct heldfile *file, struct errmsg *err)
{
	struct program *prog;

	if (!file)
		return NULL;
	prog = mem_zalloc(1, sizeof(*prog));
	prog->file = file;
	prog->path = heldfile_path(file);
	budget_watch_begin(prog->path, heldfile_size(file));
	prog->img = image_open(file, err);
	if (!prog->img)
		goto fail;
	prog->tab = functab_open(prog->img, err);
	if (heldfile_check(file, err) || !prog->tab)
		goto fail;
	prog->toolchain = functab_toolchain(prog->tab);
	read_release(prog);
	return prog;
fail:
	program_close(prog);
	return NULL;
}

void program_close(struct program *prog)
{
	if (!prog)
		return;
	functab_close(prog->tab);
	image_close(prog->img);
	heldfile_close(prog->file);
	free(prog);
}

bool program_bias(const struct program *prog, const struct process *proc, uint64_t *bias)
{
	uint64_t page = sysconf(_SC_PAGESIZE), start, off;
	size_t count;
	const struct image_segment *segs = image_segments(prog->img, &count);

	*bias = 0;
	if (!image_is_pie(prog->img))
		return true;
	if (!process_mapping(proc, prog->file, &start, &off))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (segs[i].off / page != off / page)
			continue;
		*bias = start - segs[i].addr / page * page;
		return true;
	}
	return false;
}

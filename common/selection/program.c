// SPDX-License-Identifier: Apache-2.0
#include "selection/program.h"

#include <stdlib.h>

#include "base/budget_watch.h"
#include "base/mem.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "program/pclntab.h"
#include "sites/site.h"

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
	prog->tab = pclntab_open(prog->img, err);
	if (heldfile_check(file, err) || !prog->tab)
		goto fail;
	prog->finder = site_finder_new(prog->img, prog->tab);
	return prog;
fail:
	program_close(prog);
	return NULL;
}

void program_close(struct program *prog)
{
	if (!prog)
		return;
	site_finder_free(prog->finder);
	pclntab_close(prog->tab);
	image_close(prog->img);
	heldfile_close(prog->file);
	free(prog);
}

// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <stdlib.h>

#include "errmsg.h"
#include "image.h"
#include "mem.h"
#include "pclntab.h"
#include "site.h"

struct program *program_open(const char *path, struct errmsg *err)
{
	struct program *prog = mem_zalloc(1, sizeof(*prog));

	prog->path = mem_strdup(path);
	prog->img = image_open(path, err);
	if (!prog->img)
		goto fail;
	prog->tab = pclntab_open(prog->img, err);
	if (!prog->tab)
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
	free(prog->path);
	free(prog);
}

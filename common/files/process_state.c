// SPDX-License-Identifier: Apache-2.0
#include "files/process_state.h"

#include <string.h>

#include "files/cgroup_folders_internal.h"
#include "files/process.h"
#include "files/process_text_internal.h"

enum { TEXT_SIZE = 1 << 13 };

bool process_is_stopped(const struct process *proc)
{
	static const char word[] = "\nState:\t"; /* line breaks in its name are escaped */
	char text[TEXT_SIZE];
	const char *at = process_status(proc, text, sizeof(text)) ? strstr(text, word) : NULL;

	return at && at[strlen(word)] == 'T';
}

/* What is frozen above it freezes its own, too. */
static void look(void *ctx, const struct cgroup_folder *folder)
{
	bool *frozen = ctx;
	char text[TEXT_SIZE];

	if (!folder->own)
		return;
	cgroup_read(folder->path, folder->v2 ? "cgroup.events" : "freezer.state", text,
		    sizeof(text));
	*frozen |= folder->v2 ? cgroup_value(text, "frozen") != 0 : strstr(text, "FROZEN") == text;
}

bool process_is_frozen(const struct process *proc, const char *proc_dir)
{
	struct cgroup_folders *folders = cgroup_folders_new(proc_dir, "freezer");
	bool frozen = false;

	cgroup_folders_each(folders, process_id(proc), look, &frozen);
	cgroup_folders_free(folders);
	return frozen;
}

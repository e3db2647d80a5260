// SPDX-License-Identifier: Apache-2.0
#include "files/process.h"

#include <stdlib.h>
#include <string.h>

bool process_is_called(const struct process *proc, const char *part, bool or_file)
{
	char *command = process_name(proc), *path = or_file ? process_exe_path(proc) : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	bool is = strstr(command, part) || (slash && strstr(slash + 1, part));

	free(path);
	free(command);
	return is;
}

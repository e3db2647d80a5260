// SPDX-License-Identifier: Apache-2.0
/* What a process has mapped. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/fileroot.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_text_internal.h"

struct inode { /* as the lines of /proc/PID/maps name it */
	unsigned major, minor;
	unsigned long long number;
};

static bool read_inode(const char *line, struct inode *out)
{
	return sscanf(line, "%*s %*s %*s %x:%x %llu", &out->major, &out->minor, &out->number) == 3;
}

/* The file's device and inode as /proc/PID/maps has them. On overlay file systems the device
 * differs from what stat(2) returns: so the tool maps the file, with no access, and looks it up
 * among its own mappings. */
static bool inode_shown(const struct heldfile *file, struct inode *out)
{
	size_t page = sysconf(_SC_PAGESIZE), size = 0;
	void *at = mmap(NULL, page, PROT_NONE, MAP_PRIVATE, heldfile_fd(file), 0);
	FILE *maps = at == MAP_FAILED ? NULL : fopen("/proc/self/maps", "re");
	bool found = false;
	char *line = NULL;

	while (maps && !found && getline(&line, &size, maps) > 0)
		found = strtoull(line, NULL, 16) == (uintptr_t)at && read_inode(line, out);
	free(line);
	if (maps)
		fclose(maps);
	if (at != MAP_FAILED)
		munmap(at, page);
	return found;
}

/* The first mapping of the inode, as its line tells. */
static bool find_mapping(FILE *maps, const struct inode *want, uint64_t *addr, uint64_t *off)
{
	struct inode got;
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (!found && getline(&line, &size, maps) > 0)
		found = read_inode(line, &got) && got.major == want->major &&
			got.minor == want->minor && got.number == want->number &&
			sscanf(line, "%" SCNx64 "-%*s %*s %" SCNx64, addr, off) == 2;
	free(line);
	return found;
}

bool process_mapping(const struct process *proc, const struct heldfile *file, uint64_t *addr,
		     uint64_t *off)
{
	FILE *maps = process_view_text(proc, "maps");
	struct inode want;
	bool found = maps && inode_shown(file, &want) && find_mapping(maps, &want, addr, off);

	if (maps)
		fclose(maps);
	return found;
}

bool process_maps(const struct process *proc, const struct heldfile *file)
{
	FILE *maps = process_view_text(proc, "maps");
	struct inode want;
	uint64_t addr, off;
	bool found = !maps || !inode_shown(file, &want) || find_mapping(maps, &want, &addr, &off);

	if (maps)
		fclose(maps);
	return found;
}

char *process_mapped(const struct process *proc, const char *name)
{
	FILE *maps = process_view_text(proc, "maps");
	char *line = NULL, *path = NULL;
	size_t size = 0;

	while (maps && !path && getline(&line, &size, maps) > 0) {
		char *file = strchr(line, '/'), *base = strrchr(line, '/');

		if (!file || strncmp(base + 1, name, strlen(name)) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		path = strdup(file);
	}
	free(line);
	if (maps)
		fclose(maps);
	return path;
}

static char *mapping_name(const char *line)
{
	const char *name = strpbrk(line, "/["), *slash = strrchr(line, '/');

	if (!name)
		return NULL;
	name = slash ? slash + 1 : name;
	return strndup(name, strcspn(name, "\n"));
}

char *process_mapping_at(const struct process *proc, uint64_t addr, uint64_t *from, uint64_t *to)
{
	FILE *maps = process_view_text(proc, "maps");
	char *line = NULL, *name = NULL;
	bool found = false;
	size_t size = 0;

	while (maps && !found && getline(&line, &size, maps) > 0)
		found = sscanf(line, "%" SCNx64 "-%" SCNx64, from, to) == 2 && *from <= addr &&
			addr < *to;
	if (found)
		name = mapping_name(line);
	free(line);
	if (maps)
		fclose(maps);
	return name;
}

// SPDX-License-Identifier: Apache-2.0
#include "files/process_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "files/process.h"
#include "files/process_text_internal.h"

enum { TEXT_SIZE = 1 << 13 };

/* All of a short file, as text, and closes it; false: it cannot be read. The kernel writes all of
 * such a file for the first read. */
static bool read_text(int fd, char text[TEXT_SIZE])
{
	if (fd < 0)
		return false;
	ssize_t len = read(fd, text, TEXT_SIZE - 1);

	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* What stands after a word that begins a line; NULL: no line begins with it. The name of a process,
 * which comes first, has its line breaks escaped. */
static const char *line_of(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, len))
			return line + len;
	}
	return NULL;
}

/* "Threads:\t12" */
static bool take_number(const char *text, const char *word, uint64_t *n)
{
	const char *at = line_of(text, word);

	if (at)
		*n = strtoull(at, NULL, 10);
	return at;
}

/* "RssAnon:     4028 kB" */
static bool take_kib(const char *text, const char *word, uint64_t *bytes)
{
	if (!take_number(text, word, bytes))
		return false;
	*bytes <<= 10;
	return true;
}

/* "Name:\tgostat": line breaks and backslashes are escaped. */
static bool take_name(const char *text, char *name, size_t size)
{
	const char *at = line_of(text, "Name:\t");
	size_t len = 0;

	for (; at && *at && *at != '\n' && len + 1 < size; at++) {
		if (*at == '\\' && at[1] == 'n')
			name[len++] = '\n';
		else
			name[len++] = *at;
		at += *at == '\\' && at[1];
	}
	name[len] = '\0';
	return at;
}

bool process_usage(const struct process *proc, struct process_usage *out)
{
	char text[TEXT_SIZE];

	*out = (struct process_usage){.cpu_ns = clock_cpu_ns(process_id(proc))};
	return process_status(proc, text, sizeof(text)) &&
	       take_name(text, out->name, sizeof(out->name)) &&
	       take_number(text, "Threads:", &out->threads) &&
	       take_kib(text, "RssAnon:", &out->rss_anon) &&
	       take_kib(text, "RssFile:", &out->rss_file) &&
	       take_kib(text, "RssShmem:", &out->rss_shmem) &&
	       take_kib(text, "VmSwap:", &out->swap);
}

static bool count_entries(const struct process *proc, uint64_t *count)
{
	int fd = process_open_at(proc, "fd", O_RDONLY | O_DIRECTORY);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

	if (!folder && fd >= 0)
		close(fd);
	if (!folder)
		return false;
	*count = 0;
	for (const struct dirent *entry; (entry = readdir(folder));)
		*count += *entry->d_name != '.';
	closedir(folder);
	return true;
}

/* From Linux 6.2 on the folder's size is their number (fs/proc/fd.c); before, and where the first
 * thread has ended, it is 0. */
static bool count_open(const struct process *proc, uint64_t *count)
{
	struct stat st;

	if (fstatat(process_dir(proc), "fd", &st, 0) || !st.st_size)
		return count_entries(proc, count);
	*count = st.st_size;
	return true;
}

static bool parse_limit(const char *text, uint64_t *limit)
{
	const char *at = line_of(text, "Max open files");
	char *end;

	if (!at)
		return false;
	*limit = strtoull(at, &end, 10);
	if (end == at)
		*limit = UINT64_MAX; /* "unlimited" */
	return true;
}

/* The kernel tells others' limits by a system call only to whom it lets change them. */
static bool find_limit(const struct process *proc, uint64_t *limit)
{
	char text[TEXT_SIZE];
	struct rlimit files;

	if (prlimit(process_id(proc), RLIMIT_NOFILE, NULL, &files))
		return read_text(process_text_fd(proc, "limits"), text) && parse_limit(text, limit);
	*limit = files.rlim_cur == RLIM_INFINITY ? UINT64_MAX : files.rlim_cur;
	return true;
}

bool process_descriptors(const struct process *proc, struct process_descriptors *out)
{
	return count_open(proc, &out->open) && find_limit(proc, &out->limit);
}

bool process_lazyfree(const struct process *proc, uint64_t *bytes)
{
	char text[TEXT_SIZE];

	return read_text(process_open_at(proc, "smaps_rollup", O_RDONLY), text) &&
	       take_kib(text, "LazyFree:", bytes);
}

/* "RAN WAITED SLICES": the kernel's Documentation/scheduler/sched-stats.rst. False: the thread has
 * ended, or there are no such numbers. */
static bool add_thread(const struct process *proc, const char *tid, struct process_turns *sum)
{
	char name[64];
	uint64_t ran, waited;

	snprintf(name, sizeof(name), "task/%.20s/schedstat", tid);
	FILE *in = process_text(proc, name);
	bool known = in && fscanf(in, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2;

	if (in)
		fclose(in);
	if (known) {
		sum->ran_ns += ran;
		sum->waited_ns += waited;
	}
	return known;
}

bool process_turns(const struct process *proc, struct process_turns *out)
{
	DIR *threads = process_folder(proc, "task");
	bool known = false;

	*out = (struct process_turns){0};
	if (!threads)
		return false;
	for (const struct dirent *entry; (entry = readdir(threads));)
		if (entry->d_name[0] != '.')
			known |= add_thread(proc, entry->d_name, out);
	closedir(threads);
	return known;
}

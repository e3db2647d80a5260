// SPDX-License-Identifier: Apache-2.0
#include "files/process_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/process_text_internal.h"

#define SECOND_NS UINT64_C(1000000000)

enum { TEXT_SIZE = 1 << 13 };

/* All of a short file, as text, and closes it; false: it cannot be read. */
static bool read_text(FILE *in, char text[TEXT_SIZE])
{
	if (!in)
		return false;
	size_t len = fread(text, 1, TEXT_SIZE - 1, in);

	fclose(in);
	text[len] = '\0';
	return len;
}

/* proc_pid_stat(5): fields 14 utime, 15 stime and 20 num_threads, after the name, which may have
 * any bytes in it. */
static bool parse_stat(const char *text, struct process_usage *out)
{
	uint64_t user, system;
	const char *rest = strrchr(text, ')');

	if (!rest || sscanf(rest + 1,
			    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64
			    " %*s %*s %*s %*s %" SCNu64,
			    &user, &system, &out->threads) != 3)
		return false;
	out->cpu_ns = (user + system) * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
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

/* "RssAnon:     4028 kB" */
static bool take_kib(const char *text, const char *word, uint64_t *bytes)
{
	const char *at = line_of(text, word);

	if (at)
		*bytes = strtoull(at, NULL, 10) << 10;
	return at;
}

bool process_usage(const struct process *proc, struct process_usage *out)
{
	char text[TEXT_SIZE];

	*out = (struct process_usage){0};
	return read_text(process_text(proc, "stat"), text) && parse_stat(text, out) &&
	       read_text(process_text(proc, "status"), text) &&
	       take_kib(text, "RssAnon:", &out->rss_anon) &&
	       take_kib(text, "RssFile:", &out->rss_file) &&
	       take_kib(text, "RssShmem:", &out->rss_shmem) &&
	       take_kib(text, "VmSwap:", &out->swap);
}

/* From Linux 6.2 on the folder's size is their number (fs/proc/fd.c); before, it is 0. */
static bool count_open(const struct process *proc, uint64_t *count)
{
	int fd = process_open_at(proc, "fd", O_RDONLY | O_DIRECTORY);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	struct stat st;

	if (!folder && fd >= 0)
		close(fd);
	if (!folder)
		return false;
	*count = fstat(fd, &st) ? 0 : st.st_size;
	if (!*count)
		for (const struct dirent *entry; (entry = readdir(folder));)
			*count += *entry->d_name != '.';
	closedir(folder);
	return true;
}

bool process_descriptors(const struct process *proc, struct process_descriptors *out)
{
	char text[TEXT_SIZE], *end;

	if (!count_open(proc, &out->open) || !read_text(process_text(proc, "limits"), text))
		return false;
	const char *at = line_of(text, "Max open files");

	if (!at)
		return false;
	out->limit = strtoull(at, &end, 10);
	if (end == at)
		out->limit = UINT64_MAX; /* "unlimited" */
	return true;
}

bool process_lazyfree(const struct process *proc, uint64_t *bytes)
{
	char text[TEXT_SIZE];

	return read_text(process_view_text(proc, "smaps_rollup"), text) &&
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

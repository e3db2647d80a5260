// SPDX-License-Identifier: Apache-2.0
#include "kernel/progcache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/mem.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/bytecode_internal.h"
#include "kernel/compile_internal.h"
#include "kernel/headertree_internal.h"
#include "kernel/kernelfeature_internal.h"

#define FOLDER "/var/cache/bcc-gotools/programs"
enum {
	FILE_MAX = 16 << 20,   /* bytes of a file: beyond, it is not kept */
	FOLDER_MAX = 64 << 20, /* of all */
	NAME_DIGITS = 16,
	STALE_S = 60,
};

static const char MAGIC[8] = "GoBPF 1";

struct head {
	char magic[8];
	uint64_t sum; /* of all that follows */
	uint32_t key_len, libraries_len, code_len, zero;
};

struct progcache {
	char *folder;
	int fd; /* of the folder */
	char *key;
	size_t key_len;
	char name[NAME_DIGITS + sizeof(".bpf")];
};

/* FNV-1a: files are told apart by their whole key; this finds them, and sees a damaged one. */
static uint64_t sum_of(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ at[i]) * 0x100000001b3;
	return sum;
}

/* Does it belong to who runs the tool, and may nobody else write there? */
static bool is_own(int fd, struct stat *st)
{
	return !fstat(fd, st) && st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Makes the last two folders of the path: /var/cache is everywhere. */
static void make_folder(const char *folder)
{
	char *parent = mem_strdup(folder), *slash = strrchr(parent, '/');

	if (slash && slash != parent) {
		*slash = '\0';
		mkdir(parent, 0755);
	}
	mkdir(folder, 0700);
	free(parent);
}

static int open_folder(const char *folder)
{
	enum { HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	int fd = open(folder, HOW);
	struct stat st;

	if (fd < 0) {
		make_folder(folder);
		fd = open(folder, HOW);
	}
	if (fd >= 0 && is_own(fd, &st))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* NULL: nothing is to be kept */
static const char *folder_name(void)
{
	const char *wish = getenv("GOTOOLS_CACHE");

	if (!wish)
		return geteuid() ? NULL : FOLDER;
	return *wish == '/' ? wish : NULL;
}

static uint64_t sum_of_headers(void)
{
	uint64_t sum = 0;

	for (const struct embedded_file *f = embedded_files; f->name; f++)
		if (headertree_has(f->name))
			sum = sum * 31 + sum_of(f->text, strlen(f->text)) +
			      sum_of(f->name, strlen(f->name));
	return sum;
}

/* All that the outcome depends on, but for libbcc, which is not there before it is needed. */
static void write_key(FILE *out, const char *text, const struct bpfprog_define *defs, size_t ndefs)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	struct utsname host = {.release = ""};

	uname(&host);
	fprintf(out, "bcc-gotools %s, Linux %s %s %s, CPUs %u\n", GOTOOLS_VERSION, host.release,
		host.version, host.machine, bpfmap_cpus());
	fprintf(out, "reads %d %d, headers %llx, libraries %s\n", kernelfeature_probe_read_user(),
		kernelfeature_probe_read_kernel(), (unsigned long long)sum_of_headers(),
		path ? path : "");
	for (size_t i = 0; i < ndefs; i++)
		fprintf(out, "%s=%llu\n", defs[i].name,
			compile_mark(defs[i].name) ? 0 : (unsigned long long)defs[i].value);
	fputs(text, out);
}

struct progcache *progcache_open(const char *text, const struct bpfprog_define *defs, size_t ndefs)
{
	const char *folder = folder_name();
	int fd = folder ? open_folder(folder) : -1;

	if (fd < 0)
		return NULL;
	struct progcache *kept = mem_zalloc(1, sizeof(*kept));
	FILE *out = open_memstream(&kept->key, &kept->key_len);

	kept->folder = mem_strdup(folder);
	kept->fd = fd;
	write_key(out, text, defs, ndefs);
	fclose(out);
	snprintf(kept->name, sizeof(kept->name), "%016llx.bpf",
		 (unsigned long long)sum_of(kept->key, kept->key_len));
	return kept;
}

/* Caller frees; NULL: no such file, not of this user's alone, or too long. */
static uint8_t *read_file(const struct progcache *kept, size_t *size)
{
	int fd = openat(kept->fd, kept->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	uint8_t *bytes = NULL;

	if (fd < 0)
		return NULL;
	if (is_own(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX) {
		bytes = mem_alloc(st.st_size + 1);
		ssize_t got = read(fd, bytes, st.st_size);

		*size = got < 0 ? 0 : got;
		futimens(fd, NULL); /* used now */
	}
	close(fd);
	return bytes;
}

static void write_library(FILE *out, const char *path, const struct stat *st)
{
	fprintf(out, "%llu %lld.%09ld %s\n", (unsigned long long)st->st_size,
		(long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, path);
}

static int note_library(struct dl_phdr_info *info, size_t size, void *out)
{
	static const char *const names[] = {"/libbcc.", "/libclang", "/libLLVM"};
	struct stat st;

	(void)size;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strstr(info->dlpi_name, names[i]) && !stat(info->dlpi_name, &st))
			write_library(out, info->dlpi_name, &st);
	return 0;
}

/* Are the files that `lines` tells of, a line each, as they were then? */
static bool libraries_are_the_same(const char *lines)
{
	const char *next;

	for (const char *line = lines; *line; line = next) {
		size_t len = strcspn(line, "\n");
		const char *path = strchr(line, '/');
		struct stat st;
		char *now = NULL;
		size_t now_len;

		next = line + len + (line[len] == '\n');
		if (!path || path > line + len)
			return false;
		char *name = mem_strndup(path, line + len - path);
		FILE *out = open_memstream(&now, &now_len);

		if (!stat(name, &st))
			write_library(out, name, &st);
		fclose(out);
		bool same = now_len == (size_t)(next - line) && !memcmp(now, line, now_len);

		free(name);
		free(now);
		if (!same)
			return false;
	}
	return true;
}

static bool is_whole(const struct progcache *kept, const uint8_t *bytes, size_t size,
		     struct head *head)
{
	if (size < sizeof(*head))
		return false;
	memcpy(head, bytes, sizeof(*head));
	size_t rest = size - offsetof(struct head, key_len);

	return !memcmp(head->magic, MAGIC, sizeof(MAGIC)) &&
	       (uint64_t)head->key_len + head->libraries_len + head->code_len + sizeof(*head) ==
		       size &&
	       head->sum == sum_of(bytes + offsetof(struct head, key_len), rest) &&
	       head->key_len == kept->key_len &&
	       !memcmp(bytes + sizeof(*head), kept->key, kept->key_len);
}

struct bytecode *progcache_find(const struct progcache *kept)
{
	struct bytecode *code = NULL;
	struct head head;
	size_t size;
	uint8_t *bytes = kept ? read_file(kept, &size) : NULL;

	if (bytes && is_whole(kept, bytes, size, &head)) {
		const uint8_t *libraries = bytes + sizeof(head) + head.key_len;
		char *lines = mem_strndup((const char *)libraries, head.libraries_len);

		if (libraries_are_the_same(lines))
			code = bytecode_read(libraries + head.libraries_len, head.code_len);
		free(lines);
	}
	free(bytes);
	return code;
}

static char *make_file(const struct progcache *kept, const struct bytecode *code, size_t *size)
{
	char *bytes = NULL, *libraries = NULL, *body = NULL;
	size_t libraries_len, body_len;
	FILE *out = open_memstream(&libraries, &libraries_len);

	dl_iterate_phdr(note_library, out);
	fclose(out);
	out = open_memstream(&body, &body_len);
	bytecode_write(out, code);
	fclose(out);

	struct head head = {
		.key_len = kept->key_len, .libraries_len = libraries_len, .code_len = body_len};

	memcpy(head.magic, MAGIC, sizeof(MAGIC));
	out = open_memstream(&bytes, size);
	fwrite(&head, sizeof(head), 1, out);
	fwrite(kept->key, 1, kept->key_len, out);
	fwrite(libraries, 1, libraries_len, out);
	fwrite(body, 1, body_len, out);
	fclose(out);
	head.sum = sum_of(bytes + offsetof(struct head, key_len),
			  *size - offsetof(struct head, key_len));
	memcpy(bytes, &head, sizeof(head));
	free(libraries);
	free(body);
	return bytes;
}

struct kept_file {
	char name[NAME_DIGITS + sizeof(".bpf")];
	struct timespec used;
	off_t size;
};

/* Whatever else is in the folder is somebody else's. */
static bool is_kept_file(const char *name)
{
	return strspn(name, "0123456789abcdef") == NAME_DIGITS &&
	       (!strcmp(name + NAME_DIGITS, ".bpf") || !strcmp(name + NAME_DIGITS, ".new"));
}

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept_file *)a)->used;
	const struct timespec *y = &((const struct kept_file *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static struct kept_file *list_files(int folder, size_t *count, off_t *sum)
{
	struct kept_file *files = NULL;
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t cap = 0;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (!is_kept_file(entry->d_name) ||
		    fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		files = mem_grow(files, *count, &cap, sizeof(*files));
		struct kept_file *file = &files[(*count)++];

		strcpy(file->name, entry->d_name);
		file->used = st.st_mtim;
		file->size = st.st_size;
		*sum += st.st_size;
	}
	if (dir)
		closedir(dir);
	return files;
}

/* Above the limit, with `size` bytes more, those that were used longest ago go, until a quarter of
 * it is free: so that this is seldom needed. */
static void make_room(int folder, size_t size)
{
	size_t count = 0;
	off_t sum = size;
	struct kept_file *files = list_files(folder, &count, &sum);

	if (sum > FOLDER_MAX) {
		qsort(files, count, sizeof(*files), by_use);
		for (size_t i = 0; i < count && sum > FOLDER_MAX / 4 * 3; i++)
			if (!unlinkat(folder, files[i].name, 0))
				sum -= files[i].size;
	}
	free(files);
}

/* Written under this name first. One that is there belongs to a tool that is at it, or was killed.
 */
static int open_new(int folder, const char *name)
{
	struct stat st;
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST && !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    st.st_mtim.tv_sec + STALE_S < time(NULL))
		unlinkat(folder, name, 0); /* the next tool writes it */
	return fd;
}

void progcache_keep(const struct progcache *kept, const struct bytecode *code)
{
	char new[sizeof(kept->name)];
	size_t size;

	if (!kept)
		return;
	char *bytes = make_file(kept, code, &size);

	memcpy(new, kept->name, sizeof(new));
	strcpy(new + NAME_DIGITS, ".new");
	int fd = size > FILE_MAX ? -1 : open_new(kept->fd, new);

	if (fd >= 0) {
		make_room(kept->fd, size);
		bool whole = write(fd, bytes, size) == (ssize_t)size;

		whole = !close(fd) && whole;
		if (!whole || renameat(kept->fd, new, kept->fd, kept->name))
			unlinkat(kept->fd, new, 0);
	}
	free(bytes);
}

const char *progcache_folder(const struct progcache *kept)
{
	return kept->folder;
}

void progcache_close(struct progcache *kept)
{
	if (!kept)
		return;
	close(kept->fd);
	free(kept->folder);
	free(kept->key);
	free(kept);
}

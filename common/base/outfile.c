// SPDX-License-Identifier: Apache-2.0
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"

enum { SHARED_MODE = 0644, MODE = 0666, NAME_TRIES = 16 };

struct outfile {
	struct outfile_spec spec;
	int folder;
	char *path, *name, *folder_path;
	char temporary[64];
};

static int fail(const struct outfile *file, const char *what, struct errmsg *err)
{
	int error = errno;

	errmsg_set(err, "%s: cannot %s \"%s\": %s", file->spec.option, what, file->path,
		   strerror(error));
	if (error == ENOENT)
		errmsg_hint(err, "make its folder first%s", file->spec.folder);
	else if (error == EACCES || error == EPERM || error == EROFS)
		errmsg_hint(err, "name a folder where this user may make files");
	return -1;
}

/* It begins with a dot, and has no ending that anybody looks for: collectors do not read it. */
static int open_temporary(struct outfile *file)
{
	int fd = -1;

	for (int i = 0; fd < 0 && i < NAME_TRIES; i++) {
		uint64_t number = 0;

		/* a name that could be guessed could be taken, again and again */
		if (getrandom(&number, sizeof(number), 0) < 0)
			return -1;
		snprintf(file->temporary, sizeof(file->temporary), ".gotools-%016" PRIx64 ".tmp",
			 number);
		fd = openat(file->folder, file->temporary,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    file->spec.shared ? SHARED_MODE : MODE);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	if (fd >= 0 && file->spec.shared)
		fchmod(fd, SHARED_MODE); /* whatever the umask */
	return fd;
}

static int open_folder(const struct outfile *file)
{
	return open(file->folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* In a folder that was removed nothing can be made, though there may be another one of its name. */
static void follow_folder(struct outfile *file)
{
	struct stat st;
	int fd = -1;

	if (!fstat(file->folder, &st) && !st.st_nlink)
		fd = open_folder(file);
	if (fd < 0)
		return;
	close(file->folder);
	file->folder = fd;
}

static int try_folder(struct outfile *file, struct errmsg *err)
{
	struct stat st;
	int fd;

	if (!fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW)) {
		errno = EISDIR;
		if (S_ISDIR(st.st_mode))
			return fail(file, "write", err);
		if (!S_ISREG(st.st_mode) && !(S_ISLNK(st.st_mode) && file->spec.shared))
			return errmsg_set(err, "%s: \"%s\" is there and is no regular file",
					  file->spec.option, file->path);
	}
	fd = open_temporary(file);
	if (fd < 0)
		return fail(file, "write", err);
	close(fd);
	unlinkat(file->folder, file->temporary, 0);
	return 0;
}

struct outfile *outfile_open(const char *path, const struct outfile_spec *spec, struct errmsg *err)
{
	struct outfile *file = mem_zalloc(1, sizeof(*file));
	const char *slash = strrchr(path, '/');
	int ret;

	file->spec = *spec;
	file->path = mem_strdup(path);
	file->name = mem_strdup(slash ? slash + 1 : path);
	file->folder_path = slash ? mem_strndup(path, slash + 1 - path) : mem_strdup(".");
	file->folder = open_folder(file);
	if (!*file->name)
		ret = errmsg_set(err, "%s: \"%s\" names a folder, not a file in it", spec->option,
				 path);
	else if (file->folder < 0)
		ret = fail(file, "open the folder of", err);
	else
		ret = try_folder(file, err);
	if (!ret)
		return file;
	outfile_close(file);
	return NULL;
}

void outfile_close(struct outfile *file)
{
	if (!file)
		return;
	if (file->folder >= 0)
		close(file->folder);
	free(file->path);
	free(file->name);
	free(file->folder_path);
	free(file);
}

static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= n;
	}
	return true;
}

int outfile_write(struct outfile *file, const void *bytes, size_t len, struct errmsg *err)
{
	int fd, ret = -1, error;

	follow_folder(file);
	fd = open_temporary(file);
	if (fd < 0)
		return fail(file, "write", err);
	if (write_all(fd, bytes, len))
		ret = renameat(file->folder, file->temporary, file->folder, file->name);
	error = errno;
	close(fd);
	if (ret)
		unlinkat(file->folder, file->temporary, 0);
	errno = error;
	return ret ? fail(file, "write", err) : 0;
}

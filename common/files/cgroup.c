// SPDX-License-Identifier: Apache-2.0
#include "files/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/errmsg.h"

int cgroup_open(const char *path, struct errmsg *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return errmsg_set(err, "cannot open cgroup \"%s\": %s", path, strerror(errno));
	if (!fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	errmsg_set(err, "\"%s\" is no cgroup of version 2", path);
	errmsg_hint(err,
		    "a cgroup is a folder below where cgroup2 is mounted, /sys/fs/cgroup mostly: "
		    "/proc/PID/cgroup tells a process's");
	return -1;
}

// SPDX-License-Identifier: Apache-2.0
/* What fuzzers of files share. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "image.h"

int fuzz_image_file(const uint8_t *data, size_t size, void (*walk)(const struct image *img))
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	struct image *img = image_open(path, NULL);

	if (img)
		walk(img);
	image_close(img);
	close(fd);
	return 0;
}

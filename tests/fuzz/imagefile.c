// SPDX-License-Identifier: Apache-2.0
/* What fuzzers of files share. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/image.h"
#include "files/heldfile.h"
#include "fuzz.h"

int fuzz_image_file(const uint8_t *data, size_t size, void (*walk)(const struct image *img))
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	struct heldfile *file = heldfile_open(NULL, path, NULL);

	fuzz_change(fd, data, size);
	struct image *img = file ? image_open(file, NULL) : NULL;

	if (img)
		walk(img);
	image_close(img);
	heldfile_close(file);
	fuzz_change(-1, data, 0);
	close(fd);
	return 0;
}

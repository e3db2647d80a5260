// SPDX-License-Identifier: Apache-2.0
/* A file that its owner changes while it is read. Linked with --wrap=pread: between two reads of
 * the input's file some of its bytes change, and at times it is cut off. Deterministic: what
 * changes depends on the input alone. Every second input is left as it is. */
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "fuzz.h"

ssize_t __wrap_pread(int fd, void *out, size_t len, off_t off);
ssize_t __real_pread(int fd, void *out, size_t len, off_t off);

static struct changing {
	int fd; /* for writing; -1: nothing changes */
	size_t size;
	uint64_t state;
} file = {.fd = -1};

static uint64_t next_random(void)
{
	file.state ^= file.state << 13;
	file.state ^= file.state >> 7;
	file.state ^= file.state << 17;
	return file.state * 0x2545f4914f6cdd1d;
}

void fuzz_change(int fd, const uint8_t *data, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 0x100000001b3;
	file = (struct changing){.fd = hash >> 40 & 1 ? fd : -1, .size = size, .state = hash | 1};
}

/* Numbers grow and shrink, texts lose their ends and get new ones. */
static void change_byte(void)
{
	static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff, 'a'};
	off_t at = next_random() % file.size;
	uint8_t byte = bytes[(next_random() >> 8) % sizeof(bytes)];

	if (pwrite(file.fd, &byte, 1, at) != 1)
		file.fd = -1;
}

ssize_t __wrap_pread(int fd, void *out, size_t len, off_t off)
{
	ssize_t got = __real_pread(fd, out, len, off);

	if (file.fd < 0)
		return got;
	for (unsigned n = next_random() >> 16 & 15; n; n--)
		change_byte();
	if ((next_random() >> 20) % 64 == 0 && ftruncate(file.fd, next_random() % file.size))
		file.fd = -1;
	return got;
}

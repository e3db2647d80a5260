/* SPDX-License-Identifier: Apache-2.0 */
/* A small ELF program put together in memory, for tests: three segments at fixed addresses, into
 * which tests write what they need, and sections where they want any. */
#ifndef ELFFILE_H
#define ELFFILE_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "elf/image.h"

enum {
	ELFFILE_TEXT = 0x401000,
	ELFFILE_RODATA = 0x402000,
	ELFFILE_DATA = 0x404000,
	ELFFILE_DATA_END = 0x406000,
	ELFFILE_SIZE = 0x7000, /* bytes; section headers from 0x6000 on */
};

struct elffile {
	uint8_t data[ELFFILE_SIZE];
	size_t size;          /* bytes to write: less truncates the file */
	uint64_t sparse_size; /* of the file with a hole at its end; 0: it has none */
	unsigned nsections;
	char path[64]; /* of the last elffile_open */
	int fd;
};

/* the headers, for tests that damage them */
Elf64_Ehdr *elffile_header(struct elffile *f);
Elf64_Phdr *elffile_segment(struct elffile *f, unsigned i);
Elf64_Shdr *elffile_section_header(struct elffile *f, unsigned i);
/* the file's bytes for a virtual address; and writing there */
uint8_t *elffile_at(struct elffile *f, uint64_t addr);
void elffile_u32(struct elffile *f, uint64_t addr, uint32_t value);
void elffile_u64(struct elffile *f, uint64_t addr, uint64_t value);
void elffile_bytes(struct elffile *f, uint64_t addr, const void *bytes, size_t len);
/* Free with elffile_free(). */
struct elffile *elffile_new(unsigned machine);
/* Adds a section of PROGBITS; the first call makes the null section and .shstrtab as well. */
Elf64_Shdr *elffile_section(struct elffile *f, const char *name, uint64_t addr, uint64_t size);
/* Writes it to a file in memory, and opens that; NULL and *err as image_open. */
struct image *elffile_open(struct elffile *f, struct errmsg *err);
/* Opens the file that elffile_open() wrote once more. */
struct image *elffile_again(const struct elffile *f, struct errmsg *err);
void elffile_free(struct elffile *f);

#endif

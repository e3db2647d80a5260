/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file: its load segments, sections and symbols. Relocations that refer to the file itself
 * are applied, so that words read as they do at run time with load bias 0. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/arch.h"

struct errmsg;
struct heldfile;
struct image;
struct image_sections;

struct image_segment {        /* PT_LOAD */
	uint64_t addr, memsz; /* virtual address */
	uint64_t off, filesz; /* file offset */
	bool write, exec;
};

struct image_section {
	uint64_t addr, size, off;
};

struct image_symbol {
	const char *name; /* as in .strtab; lives as long as the image */
	uint64_t addr, size;
	bool is_func;
	bool is_tls; /* addr is an offset in the file's thread-local memory */
};

/* NULL and *err if the file is not ELF, is 32-bit, big-endian, for another architecture than
 * x86-64 and arm64, truncated, malformed, or cannot be read. The caller closes; `file` is shared.
 * If section headers are missing or wrong, there are no sections and symbols, but no error. */
struct image *image_open(struct heldfile *file, struct errmsg *err);
void image_close(struct image *img); /* NULL is all right */

const char *image_path(const struct image *img); /* as it is shown */
struct heldfile *image_file(const struct image *img);
const struct image_sections *image_sections(const struct image *img);
enum arch image_arch(const struct image *img);
bool image_is_pie(const struct image *img); /* ET_DYN */
const struct image_segment *image_segments(const struct image *img, size_t *count);
bool image_section(const struct image *img, const char *name, struct image_section *out);
bool image_has_symtab(const struct image *img); /* .symtab: false in a stripped file */

/* `len` bytes at virtual address `addr`, which must lie in the file's part of one load segment, and
 * no byte more; else NULL, as where the file cannot be read any more (heldfile_check tells). Valid
 * until image_close. */
const void *image_at(const struct image *img, uint64_t addr, size_t len);
/* how many bytes from addr are in that segment's file part; 0 when addr is in none */
uint64_t image_left(const struct image *img, uint64_t addr);
bool image_u32(const struct image *img, uint64_t addr, uint32_t *out);
bool image_u64(const struct image *img, uint64_t addr, uint64_t *out);
bool image_is_text(const struct image *img, uint64_t addr); /* in an executable segment */
/* file offset of a virtual address; false when no segment's file part holds it */
bool image_addr_to_off(const struct image *img, uint64_t addr, uint64_t *off);

/* bytes of the file's thread-local memory, alignment included; 0: it has none. A program's ends
 * where the thread's pointer (fs) points to. */
uint64_t image_tls_size(const struct image *img);

/* the n-th value of a tag (DT_...) of the dynamic section; false: there is none */
bool image_dynamic(const struct image *img, int64_t tag, size_t n, uint64_t *value);

/* Named, defined symbols of .symtab (or .dynsym where that is missing), in file order; stops when
 * fn answers false. */
void image_each_symbol(const struct image *img, bool (*fn)(const struct image_symbol *, void *),
		       void *ctx);

#endif

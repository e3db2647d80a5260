/* SPDX-License-Identifier: Apache-2.0 */
/* How an ELF file names the file with its debug information: GNU build ID, and name and checksum
 * of .gnu_debuglink (gdb's manual, "Debugging Information in Separate Files"). */
#ifndef DEBUGLINK_H
#define DEBUGLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heldfile;
struct image_sections;

enum { DEBUGLINK_ID_MAX = 64 };

struct debuglink_id {
	uint8_t bytes[DEBUGLINK_ID_MAX];
	size_t len; /* 0: there is none */
};

void debuglink_read_id(const struct image_sections *secs, struct debuglink_id *out);
/* The file's name without a folder, malloc'd, and its checksum; NULL: none. */
char *debuglink_read_name(const struct image_sections *secs, uint32_t *checksum);
/* The checksum of a whole file, as its copy in memory has it: CRC-32 of ISO 3309. False where it
 * cannot be read. */
bool debuglink_checksum(struct heldfile *file, uint32_t *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The notes of a core file: what the kernel knew of the process (Linux's fs/binfmt_elf.c). */
#ifndef COREFILE_NOTES_INTERNAL_H
#define COREFILE_NOTES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/corefile.h"

struct corefile_notes { /* what is pointed to belongs to the notes' bytes, but the threads */
	pid_t pid;
	struct corefile_thread *threads; /* the owner frees */
	size_t thread_count, thread_cap;
	const uint8_t *auxv, *mappings;
	uint64_t auxv_len, mappings_len;
};

/* Adds what a segment of notes tells. The bytes outlive it. */
void corefile_notes_read(const uint8_t *data, uint64_t len, struct corefile_notes *out);
/* as corefile_auxv() and corefile_mapping() */
bool corefile_notes_auxv(const struct corefile_notes *notes, uint64_t type, uint64_t *value);
bool corefile_notes_mapping(const struct corefile_notes *notes, size_t number, uint64_t *addr,
			    uint64_t *off);

#endif

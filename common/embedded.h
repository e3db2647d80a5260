/* SPDX-License-Identifier: Apache-2.0 */
/* The files of bpf-src/, carried in the program (made by bpf-src/embed.cmake). */
#ifndef EMBEDDED_H
#define EMBEDDED_H

struct embedded_file {
	const char *name; /* path below bpf-src/: "count.bpf.c", "include/linux/types.h" */
	const char *text; /* ends in NUL */
};

extern const struct embedded_file embedded_files[]; /* ends with a NULL name */

#endif

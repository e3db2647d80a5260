/* SPDX-License-Identifier: Apache-2.0 */
/* Files carried in the program (made by embed.cmake). */
#ifndef EMBEDDED_H
#define EMBEDDED_H

struct embedded_file {
	const char *name; /* path below its folder: "gofunccount.bpf.c", "include/linux/types.h" */
	const char *text; /* ends in NUL */
};

/* each ends with a NULL name */
extern const struct embedded_file embedded_files[]; /* bpf-src/ */
/* common/golang/stdlib_forwarders.txt, stdlib_signatures.txt: one file each */
extern const struct embedded_file embedded_stdlib_forwarders[], embedded_stdlib_signatures[];

#endif

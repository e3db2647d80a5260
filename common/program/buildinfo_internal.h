/* SPDX-License-Identifier: Apache-2.0 */
/* The Go release that built a file: from .go.buildinfo (Go's src/debug/buildinfo), or, if that is
 * missing, from the string runtime.buildVersion in writable data. */
#ifndef BUILDINFO_INTERNAL_H
#define BUILDINFO_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct image;

struct buildinfo {
	char version[64]; /* "go1.19.8"; "" when unknown; text of the file: escape to print */
	int release;      /* N of Go 1.N; -1 when unknown ("devel ...") */
	int patch;
	uint64_t settings; /* address of the length, a varint, and the text of what follows the
			    * version; 0: not there */
};

/* The text whose length, a varint, stands at *addr, which then is behind it; NULL: none is there.
 */
const char *buildinfo_text(const struct image *img, uint64_t *addr, uint64_t *len);
/* false: the image shows no sign of a Go version (it may still be a Go program: esbuild is one) */
bool buildinfo_read(const struct image *img, struct buildinfo *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The Go release that built a file: from .go.buildinfo (Go's src/debug/buildinfo), or, if that is
 * missing, from the string runtime.buildVersion in writable data. */
#ifndef BUILDINFO_H
#define BUILDINFO_H

#include <stdbool.h>

struct image;

struct buildinfo {
	char version[64]; /* "go1.19.8"; "" when unknown; text of the file: escape to print */
	int release;      /* N of Go 1.N; -1 when unknown ("devel ...") */
	int patch;
};

/* false: the image shows no sign of a Go version (it may still be a Go program: esbuild is one) */
bool buildinfo_read(const struct image *img, struct buildinfo *out);

#endif

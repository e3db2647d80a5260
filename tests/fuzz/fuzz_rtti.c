// SPDX-License-Identifier: Apache-2.0
/* Arbitrary bytes as a Go program: whatever its descriptors say, the types made of them can be
 * walked, and making them ends. */
#include "fuzz.h"
#include "program/buildinfo_internal.h"
#include "rttifile.h"
#include "program/functab_internal.h"

static void walk_image(const struct image *img)
{
	struct functab *tab = functab_open(img, NULL);
	struct buildinfo info = {.release = -1};

	if (!tab)
		return;
	buildinfo_read(img, &info);

	struct gotypes *types = gotypes_new();
	struct rtti *rtti = rtti_open(img, tab, info.release, types, NULL);

	if (rtti)
		rttifile_walk(rtti, tab);
	rtti_close(rtti);
	gotypes_free(types);
	functab_close(tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_image_file(data, size, walk_image);
}

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	static const int releases[] = {15, 16, 18, 20, 24, 26, 27};
	struct rttifile r;

	if (index >= sizeof(releases) / sizeof(*releases))
		return NULL;
	rttifile_make(&r, releases[index], index & 1 ? EM_AARCH64 : EM_X86_64);

	uint8_t *data = malloc(r.g.f->size);

	memcpy(data, r.g.f->data, r.g.f->size);
	*size = r.g.f->size;
	elffile_free(r.g.f);
	return data;
}

// SPDX-License-Identifier: Apache-2.0
/* Arbitrary bytes as a Go program: the sites of its functions, of its inlined copies and of its
 * runtime must lie in its code, and looking for them must end. */
#include <string.h>

#include "arguments/forwarder_internal.h"
#include "fuzz.h"
#include "gofile_forwarder.h"
#include "golang/gotype.h"
#include "program/program.h"
#include "sites/goruntime.h"
#include "sites/inlining_internal.h"
#include "sites/site.h"
#include "program/functab_internal.h"

enum { MAX_FUNCTIONS = 100, MAX_COPIES = 100, OLDEST = 15 };

struct walk {
	const struct image *img;
	const struct functab *tab;
	struct site_finder *finder;
	struct gotypes *memory;
	int release;
	unsigned copies;
};

static void check(const struct walk *walk, const struct functab_func *fn, const struct site *site)
{
	if (site->addr < fn->addr || site->addr >= fn->end || !image_is_text(walk->img, site->addr))
		abort();
}

static void check_list(const struct walk *walk, const struct functab_func *fn,
		       struct site_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		check(walk, fn, &list->items[i]);
	free(list->items);
}

/* What is said of arguments must be in what is passed. */
static void check_values(const struct goparam *params, const struct abi_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t p = 0; p < values[i].count; p++)
			if (values[i].pieces[p].off + values[i].pieces[p].size >
			    params[i].type->size)
				abort();
}

static void walk_forwarder(struct walk *walk, const struct inlining_copy *copy,
			   const struct functab_func *fn)
{
	struct forwarder_call call;

	if (!forwarder_find(walk->finder, walk->release, copy, walk->memory, NULL, NULL, &call))
		return;
	check(walk, fn, &call.site);
	if (call.layout.param_count != call.sig.param_count ||
	    call.layout.result_count != call.sig.result_count)
		abort();
	check_values(call.sig.params, call.layout.params, call.sig.param_count);
	check_values(call.sig.results, call.layout.results, call.sig.result_count);
	abi_layout_free(&call.layout);
}

static bool walk_copy(const struct inlining_copy *copy, void *ctx)
{
	struct walk *walk = ctx;
	struct site_list exits = {0};
	struct functab_func fn;
	const char *reason;
	struct site site;

	if (!functab_func(walk->tab, copy->func, &fn))
		abort();
	if (!inlining_entry(walk->finder, copy, &site, &reason))
		check(walk, &fn, &site);
	if (!inlining_span(walk->finder, copy, &site, &exits, &reason))
		check(walk, &fn, &site);
	check_list(walk, &fn, &exits);
	walk_forwarder(walk, copy, &fn);
	return ++walk->copies < MAX_COPIES;
}

static void walk_functions(struct walk *walk)
{
	for (size_t i = 0; i < functab_count(walk->tab) && i < MAX_FUNCTIONS; i++) {
		struct site_list returns = {0};
		struct functab_func fn;
		const char *reason;
		struct site site;

		if (!functab_func(walk->tab, i, &fn))
			continue;
		if (!site_entry(walk->finder, &fn, i & 1, &site, &reason))
			check(walk, &fn, &site);
		site_returns(walk->finder, &fn, &returns, &reason);
		check_list(walk, &fn, &returns);
	}
}

static void walk_image(const struct image *img)
{
	struct functab *tab = functab_open(img, NULL);

	if (!tab)
		return;

	struct program prog = {.img = (struct image *)img,
			       .tab = tab,
			       .toolchain = functab_toolchain(tab),
			       .release = functab_release_guess(tab),
			       .release_told = true};

	if (prog.release < OLDEST)
		prog.release = OLDEST;
	struct walk walk = {img, tab, site_finder_new(&prog), gotypes_new(), prog.release, 0};
	struct goruntime runtime;

	goruntime_read(&prog, walk.finder, &runtime, NULL);
	walk_functions(&walk);
	inlining_each(tab, walk_copy, &walk);
	site_finder_free(walk.finder);
	gotypes_free(walk.memory);
	functab_close(tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_image_file(data, size, walk_image);
}

/* main.b of gofile.h with code in which copies are found: marks, stores, a loop, a call, a switch
 */
static const uint8_t main_b[] = "\x90\x48\x89\xc3\x90\x48\x89\x03"
				"\x48\xff\xc1\x48\x39\xd1\x75\xf8"
				"\x48\x89\x43\x08\x48\x89\x43\x10"
				"\xe8\0\0\0\0\x90\x74\x05\x48\x8d\x0d\0\x08\0\0\xff\x24\xc1"
				"\x48\x89\x43\x10\xc3";

/* The n-th seed: programs with that code, then with inlined forwarders. */
static bool make_seed(struct gofile *g, unsigned n)
{
	static const int releases[] = {15, 16, 18, 20, 26, 27};
	enum { RELEASES = sizeof(releases) / sizeof(*releases) };
	unsigned machine = n & 1 ? EM_AARCH64 : EM_X86_64, kind = n / 2 / RELEASES;
	int release = releases[n / 2 % RELEASES];
	struct gofile_forwarder names = {"strings.Contains", "os.Rename", "os.rename",
					 release < 18 ? 48 : 32};

	if (kind > 1)
		return false;
	if (kind)
		gofile_make_forwarder(g, release, machine, &names);
	else
		gofile_make(g, release, machine);
	if (!kind)
		elffile_bytes(g->f, g->starts[1], main_b, sizeof(main_b));
	return true;
}

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	struct gofile g;

	if (!make_seed(&g, index))
		return NULL;

	uint8_t *data = malloc(g.f->size);

	memcpy(data, g.f->data, g.f->size);
	*size = g.f->size;
	elffile_free(g.f);
	return data;
}

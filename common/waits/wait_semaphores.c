// SPDX-License-Identifier: Apache-2.0
#include "waits/wait_semaphores.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "goroutines/memory.h"
#include "goroutines/memory_pages.h"
#include "goroutines/snapshot.h"

enum {
	ROOTS = 251,    /* semTabSize */
	ROOT_SIZE = 64, /* a cache line: lock, treap, nwait */
	TREAP = 8,
	SUDOG_G = 0, /* in words */
	SUDOG_RIGHT = 1,
	SUDOG_LEFT = 2,
	SUDOG_ELEM = 3,
	SUDOG_LINK = 8,
	SUDOG_WORDS = 9,
	NODES_MAX = 1 << 20, /* in all: a program that lies may have circles */
	TOGETHER = 64,       /* goroutines that are looked at again together */
};

struct found {
	size_t goroutine; /* which may wait for it: its number in the snapshot */
	struct wait wait;
};

struct table {
	const struct snapshot_source *from;
	struct snapshot *snap;
	struct memory_pages *pages;
	const struct memory *mem;     /* through them */
	struct found found[TOGETHER]; /* and not looked at yet */
	size_t found_count;
	struct index by_addr; /* of snap->all */
	size_t nodes;
	uint64_t *todo;
	size_t todo_count, todo_cap;
};

static bool read_sudog(struct table *table, uint64_t addr, unsigned root,
		       uint64_t sudog[SUDOG_WORDS])
{
	const struct memory *mem = table->mem;

	return addr % 8 == 0 && table->nodes++ < NODES_MAX &&
	       mem->read(mem->ctx, addr, sudog, SUDOG_WORDS * sizeof(*sudog)) &&
	       (sudog[SUDOG_ELEM] >> 3) % ROOTS == root;
}

/* Those that were found, unless they have gone on since they were read, or meanwhile. */
static void add_found(struct table *table)
{
	struct waits *waits = &table->snap->waits;

	memory_pages_forget(table->pages);
	for (size_t i = 0; i < table->found_count; i++) {
		struct goroutine *g = &table->snap->all[table->found[i].goroutine];

		if (g->wait_count || !snapshot_is_still(table->from, table->mem, g))
			continue;
		waits->all = mem_grow(waits->all, waits->count, &waits->cap, sizeof(*waits->all));
		g->waits = waits->count;
		g->wait_count = 1;
		waits->all[waits->count++] = table->found[i].wait;
	}
	table->found_count = 0;
	memory_pages_forget(table->pages);
}

static void note(struct table *table, uint64_t addr, const uint64_t *sudog)
{
	const struct snapshot *snap = table->snap;
	size_t n = index_first(&table->by_addr, index_hash(0, sudog[SUDOG_G]));

	while (n != INDEX_NONE && snap->all[n].addr != sudog[SUDOG_G])
		n = index_next(&table->by_addr, n);
	if (n == INDEX_NONE || snap->all[n].wait_count || snap->all[n].status != GOROUTINE_WAITING)
		return;
	table->found[table->found_count++] = (struct found){
		n, {.object = sudog[SUDOG_ELEM], .sudog = addr, .kind = WAIT_SEMAPHORE}};
	if (table->found_count == TOGETHER)
		add_found(table);
}

static void push(struct table *table, uint64_t addr)
{
	if (!addr)
		return;
	table->todo =
		mem_grow(table->todo, table->todo_count, &table->todo_cap, sizeof(*table->todo));
	table->todo[table->todo_count++] = addr;
}

/* A node of the tree, and those that wait for the same semaphore. */
static void walk_node(struct table *table, uint64_t addr, unsigned root)
{
	uint64_t sudog[SUDOG_WORDS];

	if (!read_sudog(table, addr, root, sudog))
		return;
	push(table, sudog[SUDOG_LEFT]);
	push(table, sudog[SUDOG_RIGHT]);
	for (;;) {
		note(table, addr, sudog);
		addr = sudog[SUDOG_LINK];
		if (!addr || !read_sudog(table, addr, root, sudog))
			return;
	}
}

static uint64_t tree_of(const uint8_t *roots, unsigned i)
{
	uint64_t tree;

	memcpy(&tree, roots + (size_t)i * ROOT_SIZE + TREAP, sizeof(tree));
	return tree;
}

/* Are all trees of sudogs that belong there, and is there one? */
static bool is_table(struct table *table, const uint8_t *roots)
{
	uint64_t sudog[SUDOG_WORDS];
	bool any = false;

	for (unsigned i = 0; i < ROOTS; i++) {
		uint64_t tree = tree_of(roots, i);

		if (tree && !read_sudog(table, tree, i, sudog))
			return false;
		any = any || tree;
	}
	return any;
}

static void walk(struct table *table, const uint8_t *roots)
{
	for (unsigned i = 0; i < ROOTS; i++) {
		push(table, tree_of(roots, i));
		while (table->todo_count)
			walk_node(table, table->todo[--table->todo_count], i);
	}
}

void wait_semaphores(const struct snapshot_source *from, const uint64_t *tables, size_t count,
		     struct snapshot *snap)
{
	struct table table = {.from = from, .snap = snap};
	uint8_t *roots = mem_alloc(ROOTS * ROOT_SIZE);
	bool found = false;

	table.pages = memory_pages_new(from->mem);
	table.mem = memory_pages_memory(table.pages);
	for (size_t i = 0; i < snap->count; i++)
		index_add(&table.by_addr, index_hash(0, snap->all[i].addr));
	for (size_t i = 0; i < count && !found; i++) {
		found = from->mem->read(from->mem->ctx, tables[i], roots,
					(size_t)ROOTS * ROOT_SIZE) &&
			is_table(&table, roots);
		if (found)
			walk(&table, roots);
	}
	add_found(&table);
	memory_pages_free(table.pages);
	index_free(&table.by_addr);
	free(table.todo);
	free(roots);
}

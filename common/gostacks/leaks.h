/* SPDX-License-Identifier: Apache-2.0 */
/* The goroutines of a process by the go statements that created them, over several snapshots: how
 * many were born and have ended from one to the next, and which only become more. */
#ifndef LEAKS_H
#define LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct goroutine;
struct leaks;
struct snapshot;

enum { LEAKS_MAX = 1 << 16 }; /* go statements: more than any program has */

struct leak {
	uint64_t created_by;        /* as struct goroutine's; 0: not known */
	const struct goroutine *of; /* one of them that lives; NULL: there is none any more */
	size_t live, born, ended;   /* at the last look; since the one before */
	size_t first_live, all_ended;
	size_t looks;            /* since it was seen first, that one too */
	size_t grown;            /* at how many of these there were more than before */
	bool has_shrunk;         /* there were fewer than before, at a look */
	uint64_t first_ns;       /* when there were first_live: then, or at the look before */
	uint64_t oldest_ns;      /* one lives for so long, at least; 0: not known */
	const char *state;       /* that most are in */
	size_t goroutines_state; /* how many */
};

struct leak_births {                /* counted one by one */
	uint64_t created_by, start; /* as struct goroutine's */
	size_t born, ended;
};

struct leaks *leaks_new(void);
void leaks_free(struct leaks *leaks); /* NULL is all right */

/* One more snapshot, without goroutines of the runtime itself and the first one. It outlives the
 * next call of leaks_all(). `births` since the last look; NULL: those are counted that one look has
 * and the other has not. Returns how many goroutines are left out, since there are too many go
 * statements. */
size_t leaks_look(struct leaks *leaks, const struct snapshot *snap, const struct frames *frames,
		  const struct leak_births *births, size_t count);
/* Those that live or were born or have ended since the last look: what has grown most first. The
 * caller frees.
 */
struct leak *leaks_all(const struct leaks *leaks, size_t *count);
/* Has it become more at half of the looks, twice at least, and never less? */
bool leak_only_grows(const struct leak *leak);
/* So many in `ns`, as many a minute. */
int64_t leak_a_minute(int64_t count, uint64_t ns);

#endif

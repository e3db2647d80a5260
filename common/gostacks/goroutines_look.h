/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a snapshot of one process's goroutines and prints it, by gostacks' options. */
#ifndef GOROUTINES_LOOK_H
#define GOROUTINES_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "gostacks/goroutines_pick.h"

struct errmsg;
struct goprocesses_one;
struct json;
struct looked;
struct profile;

struct goroutines_look {
	bool each, full, folded, json;
	bool stop;        /* the process, meanwhile */
	bool again;       /* print what has changed since the last snapshot */
	bool has_printed; /* something stands before this */
	struct goroutines_pick pick;
	void (*json_time)(struct json *json); /* adds to each object; NULL: nothing */
	struct profile *profile;              /* goroutines by stack are added; NULL: to none */
	struct looked *before;                /* NULL: there was none yet */
};

/* -1 with *err. *count: how many goroutines were shown; not of a look that is one of many. */
int goroutines_look(struct goroutines_look *look, const struct goprocesses_one *one,
		    uint64_t *count, struct errmsg *err);
void goroutines_look_end(struct goroutines_look *look); /* forgets the last snapshot */

#endif

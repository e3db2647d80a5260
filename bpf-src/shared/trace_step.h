/* SPDX-License-Identifier: Apache-2.0 */
/* What parts/trace_tables.bpf.c does in place of generated code: a table is a row of steps, each of
 * which reads one thing into a record. Used by both sides.
 *
 * Places are bytes from the record's beginning. */
#ifndef TRACE_STEP_H
#define TRACE_STEP_H

#define TRACE_STEPS_MAX 640 /* to be done at one hit */
/* The same when a call begins whose return is waited for, and when it ends: the verifier walks
 * through each of them, and has more to walk through beside them. */
#define TRACE_STEPS_MAX_SAVED 320
#define TRACE_STEPS_MAX_RETURN 128
#define TRACE_STEP_DYNAMICS 16 /* interfaces that they read */
#define TRACE_STEP_REGISTERS 16
#define TRACE_STEP_PLACES (1 << 15) /* bytes of a record, at most */

enum trace_step_what {
	TRACE_STEP_KEPT, /* must_be_kept() */
	/* `max` bytes (1, 2, 4, 8) of register `how`, from bit `n` on, to `at` */
	TRACE_STEP_REGISTER,
	TRACE_STEP_STACK, /* `max` bytes at `n` from the stack pointer, to `at` */
	/* to `at`: `n`, or why something since the last such step was not readable */
	TRACE_STEP_STATE,
	TRACE_STEP_SET, /* to `at`: the number `n`, signed */
	/* through the pointer at `own` (a length or data word after it); the state to `state`: */
	TRACE_STEP_ELEMENTS, /* fetch_elements(): elements of `n` bytes, to `at` */
	TRACE_STEP_OBJECT,   /* fetch_object(), to `at` */
	TRACE_STEP_GROUP,    /* fetch_group() of the map header at `own`, swiss if `how`; to `at` */
	/* fetch_dynamic(), its type found by `how`, at most `max` levels; to `at` */
	TRACE_STEP_DYNAMIC,
	TRACE_STEP_SP,    /* to `at`: the stack pointer that identifies the call */
	TRACE_STEP_MOVED, /* to `at`: after_move() of the pointer at `own`; `state`: from
			     TRACE_STEP_SP */
	TRACE_STEP_IF,    /* unless the state at `state` is at least `n`: skips `skip` steps */
	TRACE_STEP_SKIP,  /* skips `skip` steps */
};

struct trace_step {
	unsigned char what; /* enum trace_step_what */
	unsigned char how;
	unsigned short own, at, state, max, skip;
	unsigned int n;
};

struct trace_table {
	/* bytes of a record, and of its beginning, which is kept with a call until it returns */
	unsigned int record_size, saved_size;
	/* in map `steps`: `saved` of them read what is kept, the next `count` the rest */
	unsigned int first, saved, count;
};

#endif

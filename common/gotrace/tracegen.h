/* SPDX-License-Identifier: Apache-2.0 */
/* Generates BPF C from one PROBE and the signature of one function: tests the predicate, and reads
 * what the format needs into a record. Of what users type and programs contain, only numbers get
 * into that text.
 *
 * A return probe's expressions that need only arguments are computed at entry and kept with the
 * call. */
#ifndef TRACEGEN_H
#define TRACEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"
#include "golang/gotype.h"
#include "probespec/probespec.h"
#include "values/shape.h"

struct errmsg;
struct format;
struct toolchain;

struct tracegen_probe {
	const struct probespec *spec;
	const struct format *format;  /* of the spec; NULL: none */
	const struct gofunc *fn;      /* source GOFUNC_NONE: only raw words are known */
	const struct abi_layout *abi; /* of fn */
	enum arch arch;
	const struct toolchain *toolchain;
	/* several: the PROBE has other functions, and what this one lacks is printed as "?";
	 * is_clone: GCC made it from a function, and changed how it is called; is_copy: an inlined
	 * copy, where what has no pieces in abi is optimised out; restarts: it may lose register
	 * arguments when its stack grows; has_states: what is kept with the call begins with struct
	 * state_times, for $running and the like; is_method: the first parameter is its receiver,
	 * of which an address is enough; label_map: g.labels leads to a map, not to a slice. */
	bool several, is_clone, is_copy, is_line, restarts, has_states, is_method, label_map;
	/* Without a format: pointers to structs are followed, or their types said. For goargdist:
	 * the record becomes a key; log2: its one number is that of a histogram's row. */
	bool follows, says_types, lists_alike, keyed, log2;
	struct shape_limits limits;
	const struct tracegen_held *held; /* finds types of x.(T), contexts; NULL: none */
	const struct tracegen_told *told; /* NULL: nothing is warned of */
	uint32_t g_labels;                /* byte offset in Go's struct g; 0: not known */
};

enum tracegen_kind {
	TRACEGEN_MISSING,  /* ? */
	TRACEGEN_NUMBER,   /* in the record: s64 value, s64 state */
	TRACEGEN_VALUE,    /* in the record: s64 state, then a shape */
	TRACEGEN_SPECIAL,  /* of the event itself */
	TRACEGEN_COMPUTED, /* from what is of the event itself */
	TRACEGEN_TEXT,     /* a literal */
	TRACEGEN_LIST,     /* goargs, gorets */
	TRACEGEN_ABSENT,   /* <optimised out>; `shape` is what it would be */
};

struct tracegen_arg {
	enum tracegen_kind kind;
	/* at_return: known only when the call has returned; is_guess: its place is a guess; deep,
	 * typed: of a list's item, as in format_list_item */
	bool at_return, is_bool, is_unsigned, is_guess, deep, typed;
	uint32_t at;
	enum expr_special special;
	const char *text;        /* TEXT; of a list's item: its name */
	const struct expr *expr; /* COMPUTED: owned by the probe */
	struct shape *shape;
	/* For a parameter in a list that the call may fill: its value after the call; for a
	 * pointer, what it points to, and the same at entry in `before`. NULL: none */
	struct tracegen_arg *items, *before, *after;
	size_t count;
};

struct tracegen_plan {
	/* bodies of C functions; "" when there is nothing to do */
	char *save;   /* of return probes, at entry: rec is what is kept with the call */
	char *wanted; /* the predicate: sets `want`, and `bad` if something could not be read */
	char *fill;   /* into rec, when the event is reserved */
	char *key;    /* makes rec a key; NULL: it is to be none */
	/* that do the same, if it is tabular: the first ones as `save`, the others as `fill` */
	struct trace_step *steps;
	size_t save_step_count, step_count, arg_count; /* the last one: of `args` */
	uint32_t saved_size, record_size; /* bytes kept with the call (its beginning), and in all */
	/* wants_at_entry: the predicate needs nothing that is known at return only; tabular: steps
	 * can do all that `save` and `fill` do */
	bool wants_at_entry, tabular;
	unsigned uses; /* enum tracegen_uses, of tracegen_uses_internal.h */
	/* Without a format: a list of parameters, and at return a list of results. */
	struct tracegen_arg *args;
};

#endif

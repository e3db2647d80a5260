/* SPDX-License-Identifier: Apache-2.0 */
/* What the BPF programs must know of a program's Go runtime to tell goroutines apart, and to see
 * calls that end by a panic or by runtime.Goexit. The offsets are those of Go's
 * src/runtime/runtime2.go. If the program's own code shows them, they are read from it, so that
 * they are right for stripped programs of unknown versions too. */
#ifndef GORUNTIME_H
#define GORUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "sites/site.h"

struct errmsg;
struct image;
struct insn_code;
struct program;

struct goruntime {
	bool g_in_register;     /* ABIInternal with g in r14 (from 1.17), or x28 */
	bool args_in_registers; /* of the runtime's functions: from 1.17, on arm64 from 1.18 */
	/* amd64: g is at fs:tls_g; 0: at fs and what stands at the address tls_word when the file
	 * is loaded; both 0: not known (g_in_register then). Of gccgo see below. */
	int32_t tls_g;
	uint64_t tls_word;
	uint32_t g_stack_hi; /* byte offsets in struct g */
	uint32_t g_m, g_sched_sp, g_goid;
	uint32_t g_sched_link; /* where a machine's register for return addresses is saved; or 0 */
	/* who created the goroutine: the address after the go statement, and from 1.21 the goid of
	 * the creator; 0: not known */
	uint32_t g_gopc, g_parent_goid;
	uint32_t g_lockedm; /* 0: not known */
	/* what a goroutine does: its state, and in a system call where it has called from */
	uint32_t g_status, g_waitsince, g_waitreason, g_syscall_sp;
	uint32_t m_g0, m_curg, m_procid; /* byte offsets in struct m */
	/* Frames die here without returning. addr 0: not found, as where a program has no Goexit.
	 * Kinds: SITE_CALL, or an entry's. */
	struct site recovered; /* on g0: about to resume m.curg at its sched.sp; frames below that
				* stack address are gone */
	struct site goexit;    /* on the goroutine, after its deferred calls ran in Goexit: all of
				* its frames are gone */
	struct site fatal;     /* on the goroutine: an unrecovered panic ends the program */
	/* gccgo: stacks of segments. `recovered` is on the goroutine then, in the frame of the
	 * function that the panic has been unwound to. See bpf-src/parts/splitstack.h. */
	bool split_stack;
	bool has_runtime;       /* in the file itself: hooks, offsets */
	bool is_library;        /* and it serves other files as well */
	uint32_t split_backoff; /* bytes from a segment's first usable one to its guard */
	uint64_t morestack;     /* address of the file's __morestack; 0: not found */
	uint64_t main_word; /* of a library: a word that is filled with main.main's address; or 0 */
	int64_t tls_delta;  /* tls_word: where g is described, as struct trace_place tells */
};

/* 0; -1 with *err if goroutines cannot be told apart. */
int goruntime_read(const struct program *prog, struct site_finder *finder, struct goruntime *out,
		   struct errmsg *err);

/* Of a gc program, the offsets alone. */
void goruntime_read_fields(const struct program *prog, struct goruntime *out);
/* Where g has the goroutine's labels; 0: not known. */
uint32_t goruntime_labels(const struct program *prog, const struct goruntime *rt);
/* Adds to *out, for a program without a runtime, what its library has. */
void goruntime_link_gccgo(const struct image *img, const struct image *library,
			  const struct goruntime *library_rt, struct goruntime *out);

/* Parts of it, from the machine code of single runtime functions (amd64). false: not found. */

/* Can one BPF program serve both? */
bool goruntime_same_layout(const struct goruntime *a, const struct goruntime *b);
/* And can it tell, for both, who created a goroutine? */
bool goruntime_same_creation(const struct goruntime *a, const struct goruntime *b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What goprofile.bpf.c and common/sampling share. Fixed widths, the same on both sides. */
#ifndef PROFILE_SHARED_H
#define PROFILE_SHARED_H

#include "latency.h"

enum profile_kind {
	PROFILE_UNKNOWN, /* nobody has looked at the process yet */
	PROFILE_GO,
	PROFILE_OTHER, /* no process whose samples are wanted */
};

struct profile_target {         /* a process, by its ID in the tool's PID namespace */
	struct process_key key; /* start_ns 0: not known yet, and any is taken for it */
	unsigned int kind;      /* enum profile_kind */
	unsigned int none;
	long long tls_g;                          /* g is at fs:tls_g; 0: in its register */
	unsigned int g_m, g_sched_sp, g_sched_bp; /* byte offsets in Go's struct g */
	unsigned int m_curg, m_g0, m_gsignal;     /* and struct m */
	unsigned int g_labels;                    /* 0: not known */
	unsigned int label_map;                   /* it leads to a map, not to a slice */
};

struct profile_link {              /* what a frame pointer points to */
	unsigned long long caller; /* frame pointer */
	unsigned long long ret;    /* return address */
};

/* A stack: `top` words from the stack pointer on, then `links`, the first of which stands where the
 * frame pointer points to, each next one where the one before says. */
struct profile_part {
	unsigned long long pc, sp, bp;
	unsigned int top, links;
};

enum profile_runs {                       /* whose stack the first part is */
		    PROFILE_RUNS_UNKNOWN, /* g could not be read */
		    PROFILE_RUNS_GOROUTINE,
		    PROFILE_RUNS_SYSTEM, /* g0's: the second part is that of the goroutine it works
					    for */
		    PROFILE_RUNS_SIGNAL, /* a signal handler's */
};

enum { PROFILE_HERE, PROFILE_GOROUTINE, PROFILE_PARTS };

#define PROFILE_TOP 128        /* words */
#define PROFILE_LINKS 512      /* of each part, at most; there may be more */
#define PROFILE_LABELS 16      /* of a goroutine, at most */
#define PROFILE_LABEL_TEXT 128 /* bytes of a key, or of a value, at most */
#define PROFILE_KERNEL 127     /* return addresses of the kernel's, at most */
#define PROFILE_WORDS 2048     /* of all, at most; a power of two */

struct profile_sample {
	unsigned long long time_ns; /* CLOCK_MONOTONIC */
	struct process_key process; /* of the kernel's own numbers */
	unsigned int pid, tid;      /* in the tool's PID namespace */
	unsigned int kind;          /* enum profile_kind: what was known of the process */
	unsigned int runs;          /* enum profile_runs */
	unsigned int in_kernel;
	unsigned int kernel; /* words that come first: the kernel's stack, the innermost first */
	/* words that come then: of each label the lengths of its key (low half) and its value, as
	 * the program has them, and what there is room for of both, each filled up to words */
	unsigned int label_words;
	unsigned int labels;
	unsigned int labels_cut;               /* there are more, or they could not be read */
	unsigned int count;                    /* words that follow */
	unsigned long long stack_lo, stack_hi; /* of the g that runs */
	struct profile_part parts[PROFILE_PARTS];
};

enum { PROFILE_LOSS_RING, PROFILE_LOSSES };

#endif

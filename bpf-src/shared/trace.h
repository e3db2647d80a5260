/* SPDX-License-Identifier: Apache-2.0 */
/* What gotrace.bpf.c writes and gotrace reads. Fixed widths, the same on both sides.
 *
 * An event in the ring buffer: struct trace_event, the probe's record (what its expressions and its
 * format need; laid out by common/values/shape.h), then with -U and -K their frames. Everything is
 * aligned to 8 bytes. */
#ifndef TRACE_SHARED_H
#define TRACE_SHARED_H

enum trace_how {
	TRACE_ENTRY,
	TRACE_RETURNED,
	TRACE_PANICKED,
	TRACE_EXITED, /* by runtime.Goexit */
	TRACE_LEFT,   /* on a system stack, which has been reused */
	TRACE_JUMPED, /* to another function, which returns the results */
	TRACE_UNSEEN, /* found to be over, but not how it ended */
};

/* Key of map `untested`: which calls TRACE_UNTESTED has counted, by item and enum trace_how. */
#define TRACE_UNTESTED_MAX 4096

static inline unsigned long long trace_untested(unsigned int item, unsigned int how)
{
	return (unsigned long long)item << 32 | how;
}

struct trace_place {             /* a probed site; the cookie's row is its index in map `places` */
	unsigned long long addr; /* virtual address in the file */
	unsigned int item;       /* index of the selection's item */
	unsigned int plan;       /* trace_plan() */
	int frame; /* bytes from the stack pointer that identifies the call up to the one at the
		      first instruction of the function that contains the place: 0 except for
		      inlined copies; -1: not known */
	/* If the function's register arguments are lost when its stack grows: bytes from the site
	 * to where the function resumes then; else 0 */
	unsigned int restart;
	/* gccgo, if the runtime is in a library: two words describe the thread-local variable g.
	 * They are at tls_word of the file; or, if tls_delta is not 0, at the address that the word
	 * at tls_word holds, plus tls_delta. */
	unsigned long long tls_word;
	long long tls_delta;
	unsigned int table; /* that says what is read, if no generated code does: trace_step.h */
	unsigned int zero;
};

/* The number of the plan that serves a place, and that of the program which contains it; both below
 * TRACE_PLANS */
#define TRACE_PLANS (1 << 16)

static inline unsigned int trace_plan(unsigned int number, unsigned int program)
{
	return number | program << 16;
}

static inline unsigned int trace_plan_number(unsigned int plan)
{
	return plan & (TRACE_PLANS - 1);
}

static inline unsigned int trace_plan_program(unsigned int plan)
{
	return plan >> 16;
}

/* Begins a key of goargdist's map `keys`; the record follows. What is in a record that does not
 * tell values apart, as addresses of strings, is zero in it. */
struct trace_key_head {
	unsigned long long bias; /* of the file in memory, if values depend on it; else 0 */
	unsigned int item;       /* index of the selection's item */
	unsigned int how;        /* enum trace_how */
};

struct trace_event {
	unsigned long long time_ns;     /* CLOCK_MONOTONIC */
	unsigned long long latency_ns;  /* from entry; 0 at entry */
	unsigned long long goid;        /* 0: on a system stack */
	unsigned long long parent_goid; /* 0: not known */
	unsigned long long created_by;  /* address after the go statement; 0: not known */
	unsigned long long bias;        /* of the file in the process's memory */
	unsigned int tgid, tid, cpu;
	unsigned int item;
	unsigned int how;                        /* enum trace_how */
	unsigned int user_frames, kernel_frames; /* how many of the frames are filled */
	unsigned int root; /* with --follow the number of ROOT's call, from 1 on; else 0 */
	char comm[16];
};

/* states of what was to be read: bytes read, or */
#define TRACE_NIL (-1LL)     /* a nil pointer: nothing to read */
#define TRACE_FAULT (-2LL)   /* the page was not in memory, or there is none */
#define TRACE_BOUNDS (-3LL)  /* an index out of range, a division by zero */
#define TRACE_ABSENT (-4LL)  /* the function has not kept it */
#define TRACE_OTHER (-5LL)   /* an interface holds a value of another type */
#define TRACE_MANY (-6LL)    /* more labels than are looked at, and the one not among those */
#define TRACE_CONTEXT (-7LL) /* what a context or a span holds is not known, or it is too deep */
#define TRACE_NONE (-8LL)    /* a context without a trace */

enum trace_counter {                   /* of map `counters` */
		     TRACE_LOST,       /* events: the ring buffer was full */
		     TRACE_UNREADABLE, /* calls: the predicate could not read something */
		     TRACE_UNTRACKED,  /* calls: no room to wait for their return */
		     TRACE_NO_MEMORY,  /* calls: the kernel had no memory to wait for it */
		     TRACE_UNKNOWN,    /* calls: who makes them could not be read */
		     TRACE_NAMELESS,   /* calls: the same, but the event was sent without it */
		     TRACE_UNTESTED,   /* calls that did not return, so that the predicate had no
					  results */
		     TRACE_UNREPORTED, /* calls that a panic or Goexit ended: too many at once */
		     TRACE_SENT,       /* bytes since the reader was last woken */
		     /* of goargdist, calls: */
		     TRACE_KEYS_FULL,      /* the map of keys was full */
		     TRACE_KEYS_NO_MEMORY, /* the kernel had no memory for another key */
		     TRACE_ROOMS_FULL,     /* too many threads */
		     TRACE_COUNTERS,
};

#define TRACE_FRAMES 128
/* bytes of $label("key") and of keys in $ctx(), at most; a multiple of 8 */
#define TRACE_KEY_TEXT 64

/* With -U, of a gccgo program, in place of the user's frames: user_frames - 1 pieces of its stack,
 * innermost first. */
#define TRACE_STACK_PIECES 32
#define TRACE_STACK_BYTES 32768
enum trace_register {
	TRACE_PC,
	TRACE_SP,
	TRACE_BP,
	TRACE_BX,
	TRACE_R12,
	TRACE_R13,
	TRACE_R14,
	TRACE_R15,
	TRACE_REGISTERS
};
struct trace_stack {
	unsigned long long regs[TRACE_REGISTERS];
	unsigned long long library; /* bias of libgo.so */
	unsigned long long main;    /* address of main.main, as libgo.so has it; 0: not known */
	struct {
		unsigned long long addr, len;
	} pieces[TRACE_STACK_PIECES];
	char bytes[TRACE_STACK_BYTES]; /* of the pieces, each aligned to 8 */
};

#define TRACE_SAME_DEPTH 8 /* return probes of one function, inlined copies in one frame */
#define TRACE_LATER 12     /* reads of one event that are done in one loop: later.h */
#define TRACE_DYNTYPES 65536

/* How to read what an interface holds, by its dynamic type: map `dyntypes`, by type_key_of(). The
 * record of an interface's value is struct trace_dynamic, then TRACE_DYN_REFS times { s64 state;
 * char bytes[STRING_MAX rounded up to 8]; }, then the same for what an interface or pointer in it
 * leads to, and so on, for as many levels as there can be; levels that were not reached are
 * undefined. An HTTP client's refused connection takes four: url.Error, net.OpError,
 * os.SyscallError, syscall.Errno; wrapped twice on its way, it takes six. */
#define TRACE_DYN_LEVELS 6
#define TRACE_DYN_LEVELS_FEW 4         /* where there are many values */
#define TRACE_DYN_LEVELS_OF_ELEMENTS 2 /* of a slice, a map */
#define TRACE_DYN_OBJECT 96
#define TRACE_DYN_REFS 3

struct trace_dyntype {
	unsigned int size;   /* bytes of the object to copy: at most TRACE_DYN_OBJECT */
	unsigned int direct; /* the data word is the value */
	unsigned int refs;
	struct {
		unsigned int off;  /* in the object: a pointer and, 8 bytes on, a length */
		unsigned int elem; /* bytes of an element: 1 for strings */
	} ref[TRACE_DYN_REFS];
	int inner; /* offset in the object of what is read next; -1: nothing */
	/* What that is: 0, an interface with methods; TRACE_DYN_LIST, a slice of them; else a
	 * pointer, whose type's descriptor is at this address in the file. */
	unsigned long long inner_type;
};

#define TRACE_DYN_LIST 1

/* What the value of a type, which an interface holds, has in it: of map `contexts`. */
struct trace_context {
	unsigned int what; /* enum trace_context_what */
	unsigned int off;  /* in what the interface's data word points to: of that */
};

enum trace_context_what {
	TRACE_CONTEXT_ROOT,   /* nothing: context.Background(), a span of no trace */
	TRACE_CONTEXT_WITHIN, /* another context, an interface */
	TRACE_CONTEXT_VALUE,  /* the same, then a key, an `any`, and the value, another */
	TRACE_CONTEXT_SPAN,   /* no context, but a span: the 16 bytes of its trace's ID */
};

#define TRACE_CONTEXTS 1024    /* types, of all programs */
#define TRACE_CONTEXT_DEPTH 48 /* contexts that are looked through */

struct trace_dynamic {
	unsigned long long rtype; /* the key in `dyntypes` without the program; 0: nil */
	unsigned long long word;  /* the data word */
	long long state;          /* bytes of the object, or a negative state */
	/* trace_element() of a list's element; 0: what the level before leads to */
	unsigned int element;
	unsigned int more; /* is there a level after this one? */
	/* In the first level, for the kernel side alone: the rest of the list, and the number of
	 * the element read last. (Kept in registers, the verifier would follow each of their
	 * values.) */
	unsigned long long list, left;
	unsigned int last, zero;
	char object[TRACE_DYN_OBJECT];
};

/* The n-th element of a list, from 1; `levels`: how many are left, the list's own included. The
 * next element's number is one more. */
static inline unsigned int trace_element(unsigned int levels, unsigned int n)
{
	return levels << 16 | n;
}

#endif

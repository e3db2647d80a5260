/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs here in a gccgo program. Its goroutines' stacks grow by segments (GCC's -fsplit-stack)
 * and never move: no two share memory, and a call is known by its stack pointer alone. On one
 * segment deeper calls have lower addresses, but segments may be anywhere: so each segment counts
 * as a stack of its own here, known by its guard, which is at fs:0x70 while code runs on it.
 *
 *   -DSPLIT_BACKOFF=n    bytes from a segment's first usable one to its guard
 *   -DFSBASE_OFF=n       byte offset of the fs base in struct task_struct
 *   -DTLS_G=n            the runtime's g is in the thread's memory at fs:n; 0: in that of a library
 *   -DGOID_OFF=n         byte offset in struct g; 0: not known
 */
#ifndef SPLITSTACK_H
#define SPLITSTACK_H

struct split_segment { /* libgcc's generic-morestack.c: precedes the segment's memory */
	u64 prev, next;
	u64 size;
	u64 old_stack; /* where the stack arguments are on the previous segment; 0: none */
};

#define SPLIT_HEADER 56 /* bytes of the whole structure */
#define SPLIT_MODULES 4096

struct split_index { /* the ABI's tls_index of a variable: its module's DTV entry, and offset */
	u64 module, offset;
};

static inline u64 split_thread(void)
{
	char *task = (char *)bpf_get_current_task();
	u64 base = 0;

	probe_read_kernel(&base, sizeof(base), task + FSBASE_OFF);
	return base;
}

/* The stack that code runs on here, and the depth of stack pointer `sp` on it; false: cannot be
 * read. */
static inline bool goroutine_here(struct pt_regs *ctx, u64 sp, struct goroutine_key *key,
				  u64 *depth)
{
	struct split_segment seg = {};
	u64 guard = 0, low;

	if (read_user(&guard, sizeof(guard), split_thread() + 0x70))
		return false;
	low = guard - SPLIT_BACKOFF;
	/* a thread's own stack has no such header */
	read_user(&seg, sizeof(seg), low - SPLIT_HEADER);
	key->id = guard;
	/* a thread's own stack, or a signal's */
	if (probe_sp(ctx) - low - 1 >= seg.size)
		key->id |= GOROUTINE_SYSTEM | GOROUTINE_ELSEWHERE;
	*depth = -sp;
	goroutine_process(key);
	return true;
}

static inline bool goroutine_find(struct pt_regs *ctx, u64 sp, u32 kind, struct goroutine_key *who,
				  u64 *depth)
{
	return goroutine_here(ctx, sp, who, depth);
}

/* `index`: where the library's struct split_index of g is. 0: not known, or no goroutine. */
static inline u64 split_goid(u64 index_at)
{
	u64 thread = split_thread(), vector = 0, block = 0, g = 0, goid = 0;
	struct split_index index = {};

	if (!(GOID_OFF))
		return 0;
	if (TLS_G) {
		block = thread + (s64)(TLS_G);
	} else {
		read_user(&index, sizeof(index), index_at);
		if (!index.module || index.module > SPLIT_MODULES)
			return 0;
		read_user(&vector, sizeof(vector), thread + 8);
		read_user(&block, sizeof(block), vector + index.module * 16);
	}
	read_user(&g, sizeof(g), block + index.offset);
	read_user(&goid, sizeof(goid), g + GOID_OFF);
	return goid;
}

#endif

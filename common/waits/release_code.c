// SPDX-License-Identifier: Apache-2.0
#include "waits/release_code_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "elf/image.h"
#include "frames/frames.h"
#include "machine/flow.h"
#include "machine/insn.h"
#include "program/functab.h"

enum {
	LOCKED_MAX = 4,         /* locks that one way through the code has got */
	INSNS_MAX = 1 << 14,    /* of a function */
	ANSWERS_MAX = 1 << 12,  /* places asked for: no program waits at more */
	ALL_INSNS_MAX = 1 << 22 /* of all of them */
};

enum {
	VARIABLES_MAX = 4, /* that one place unlocks */
	TAKEN_BEFORE = 8,  /* instructions from where its address is taken to the call */
	HALF_BEHIND = 8,   /* and between that and the slow half of an inlined function */
};

struct answer {
	uint64_t key;
	unsigned does;
	uint64_t variables[VARIABLES_MAX];
	uint32_t variable_count;
};

struct release_code {
	const struct frames *frames;
	struct insn_decoder *dec;
	struct answer *answers;
	struct index index;
	size_t count, cap, insns;
	struct flow flow; /* of the function asked for last */
};

/* A walk through one function. A state is an instruction, and how many locks were got since. */
struct walk {
	const struct release_code *code;
	const struct flow *flow;
	const struct functab_func *fn;
	const uint8_t *bytes;
	unsigned char *seen; /* of each state */
	uint32_t *left;      /* states to go on from */
	size_t left_count;
	unsigned does;
	uint64_t only; /* the one variable that is meant; 0: any lock */
	struct answer *out;
};

struct release_code *release_code_new(const struct frames *frames)
{
	struct release_code *code = mem_zalloc(1, sizeof(*code));

	code->frames = frames;
	/* the instructions that locks are got and let go with are told on amd64 alone */
	if (image_arch(frames->img) == ARCH_AMD64)
		code->dec = insn_decoder_new(ARCH_AMD64);
	return code;
}

void release_code_free(struct release_code *code)
{
	if (!code)
		return;
	insn_decoder_free(code->dec);
	flow_free(&code->flow);
	index_free(&code->index);
	free(code->answers);
	free(code);
}

/* --- what functions do --- */

enum { LOCKS = 16, ENDS = 32 }; /* beside what is told of code: it does not return */

static unsigned does_of(const char *name)
{
	static const struct {
		const char *name;
		unsigned does;
	} known[] = {{"sync.(*Mutex).Lock", LOCKS},
		     {"sync.(*Mutex).lockSlow", LOCKS},
		     {"internal/sync.(*Mutex).Lock", LOCKS},
		     {"internal/sync.(*Mutex).lockSlow", LOCKS},
		     {"sync.(*RWMutex).Lock", LOCKS},
		     {"sync.(*RWMutex).RLock", LOCKS},
		     {"sync.(*Mutex).TryLock", LOCKS},
		     {"internal/sync.(*Mutex).TryLock", LOCKS},
		     {"sync.(*RWMutex).TryLock", LOCKS},
		     {"sync.(*RWMutex).TryRLock", LOCKS},
		     {"sync.runtime_SemacquireRWMutexR", LOCKS},
		     {"sync.runtime_SemacquireMutex", LOCKS},
		     {"sync.(*Mutex).Unlock", RELEASE_UNLOCKS},
		     {"internal/sync.(*Mutex).Unlock", RELEASE_UNLOCKS},
		     {"sync.(*RWMutex).Unlock", RELEASE_UNLOCKS},
		     {"sync.(*RWMutex).RUnlock", RELEASE_UNLOCKS},
		     {"runtime.chansend1", RELEASE_SENDS},
		     {"runtime.closechan", RELEASE_SENDS},
		     {"runtime.selectnbsend", RELEASE_SENDS},
		     {"runtime.chanrecv1", RELEASE_RECEIVES},
		     {"runtime.chanrecv2", RELEASE_RECEIVES},
		     {"runtime.selectnbrecv", RELEASE_RECEIVES},
		     {"runtime.selectnbrecv2", RELEASE_RECEIVES},
		     {"runtime.selectgo", RELEASE_SENDS | RELEASE_RECEIVES},
		     {"sync.(*WaitGroup).Done", RELEASE_DONE},
		     {"sync.(*WaitGroup).Add", RELEASE_DONE},
		     {"runtime.throw", ENDS},
		     {"runtime.gopanic", ENDS},
		     {"runtime.fatal", ENDS},
		     {"runtime.goexit1", ENDS}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name))
			return known[i].does;
	return !strncmp(name, "runtime.panic", 13) || !strncmp(name, "runtime.goPanic", 15) ||
			       !strncmp(name, "runtime.morestack", 17)
		       ? ENDS
		       : 0;
}

/* The slow halves of inlined functions, whose quick halves have counted already. */
static bool is_half(const char *name)
{
	return strstr(name, "lockSlow") || !strncmp(name, "sync.runtime_", 13);
}

static unsigned does_call(const struct walk *walk, uint64_t target, const char **name)
{
	struct functab_func fn;

	if (!target || !functab_find(walk->code->frames->tab, target, &fn) || fn.addr != target)
		return 0;
	*name = fn.name;
	return does_of(fn.name);
}

/* An instruction with a lock prefix is the one of an inlined function that gets a lock, or lets it
 * go. */
static unsigned does_inlined(const struct walk *walk, const struct insn *in)
{
	const struct functab *tab = walk->code->frames->tab;
	struct functab_inlined node;
	int32_t n = functab_node_at(tab, walk->fn, in->addr);

	for (int depth = 0; n >= 0 && depth < 8; depth++) {
		if (!functab_inlined(tab, walk->fn, n, &node))
			return 0;
		unsigned does = node.name ? does_of(node.name) & (LOCKS | RELEASE_UNLOCKS) : 0;

		if (does)
			return does;
		n = node.parent;
	}
	return 0;
}

/* The call of a slow half from there on, if it comes before anything else; FLOW_NONE: it does not.
 */
static long half_from(const struct walk *walk, long i)
{
	const struct flow *flow = walk->flow;
	const char *name = "";

	for (int n = 0; n < HALF_BEHIND && i >= 0 && (size_t)i < flow->count; n++, i++) {
		const struct insn *in = &flow->insns[i];

		if (in->kind == INSN_CALL)
			does_call(walk, in->target, &name);
		if (flow_ends_block(in) || in->kind == INSN_CALL)
			return is_half(name) ? i : FLOW_NONE;
	}
	return FLOW_NONE;
}

/* The slow half of an inlined function whose quick half has this instruction: one of the two ways
 * behind it leads there. */
static long half_of(const struct walk *walk, size_t i)
{
	const struct flow *flow = walk->flow;
	size_t at = i + 1;

	while (at < flow->count && at < i + HALF_BEHIND && flow->insns[at].kind != INSN_JUMP_IF)
		at++;
	if (at >= flow->count || flow->insns[at].kind != INSN_JUMP_IF)
		return FLOW_NONE;
	long half = half_from(walk, (long)at + 1);

	return half != FLOW_NONE ? half : half_from(walk, flow_at(flow, flow->insns[at].target));
}

/* The compiler has the instruction check a pointer, too, and calls it a part of the caller, then.
 */
static unsigned does_by_half(const struct walk *walk, size_t i)
{
	long half = half_of(walk, i);
	const char *name = "";

	if (half == FLOW_NONE)
		return 0;
	does_call(walk, walk->flow->insns[half].target, &name);
	return strstr(name, "nlockSlow") ? RELEASE_UNLOCKS : LOCKS;
}

static unsigned does_locked(const struct walk *walk, const struct insn *in)
{
	unsigned does = does_inlined(walk, in);

	return does ? does : does_by_half(walk, in - walk->flow->insns);
}

static bool has_lock_prefix(const struct walk *walk, const struct insn *in)
{
	return walk->bytes[in->addr - walk->fn->addr] == 0xf0;
}

/* The variable whose address a call is given: that of the slow half, if it is inlined. 0: none. */
static uint64_t variable_at(const struct walk *walk, size_t i)
{
	const struct insn *insns = walk->flow->insns;
	long half = has_lock_prefix(walk, &insns[i]) ? half_of(walk, i) : (long)i;

	for (long n = half - 1; n >= 0 && n >= half - TAKEN_BEFORE; n--) {
		if (insns[n].kind == INSN_CALL || flow_ends_block(&insns[n]))
			return 0;
		if (insns[n].target)
			return insns[n].target;
	}
	return 0;
}

static unsigned does_insn(const struct walk *walk, const struct insn *in)
{
	const char *name = "";
	bool calls = in->kind == INSN_CALL ||
		     (in->kind == INSN_JUMP && !flow_is_inside(walk->flow, in->target));
	unsigned does;

	if (!calls)
		return has_lock_prefix(walk, in) ? does_locked(walk, in) : 0;
	does = does_call(walk, in->target, &name);
	return is_half(name) ? 0 : does;
}

/* --- ways through a function --- */

static void go_on(struct walk *walk, long insn, uint32_t locked)
{
	if (insn < 0 || (size_t)insn >= walk->flow->count)
		return;
	uint32_t state = (uint32_t)insn * LOCKED_MAX + locked;

	if (walk->seen[state])
		return;
	walk->seen[state] = 1;
	walk->left[walk->left_count++] = state;
}

static void note_variable(struct walk *walk, size_t i)
{
	struct answer *out = walk->out;
	uint64_t addr = walk->only ? 0 : variable_at(walk, i);
	size_t n = 0;

	while (n < out->variable_count && out->variables[n] != addr)
		n++;
	if (addr && n == out->variable_count && n < VARIABLES_MAX)
		out->variables[out->variable_count++] = addr;
}

/* How many locks are held after it that were not before; a lock that was held before, and is let
 * go, is what is sought. */
static uint32_t count_locks(struct walk *walk, unsigned does, uint32_t locked)
{
	if (does & LOCKS)
		return locked < LOCKED_MAX - 1 ? locked + 1 : locked;
	if (!(does & RELEASE_UNLOCKS))
		return locked;
	if (!locked)
		walk->does |= RELEASE_UNLOCKS;
	return locked ? locked - 1 : 0;
}

static void step(struct walk *walk, uint32_t state)
{
	long i = state / LOCKED_MAX;
	const struct insn *in = &walk->flow->insns[i];
	unsigned does = does_insn(walk, in);
	bool other = walk->only && walk->only != variable_at(walk, i);
	uint32_t locked = count_locks(walk, other ? 0 : does, state % LOCKED_MAX);

	if (does & RELEASE_UNLOCKS)
		note_variable(walk, i);
	walk->does |= does & (RELEASE_SENDS | RELEASE_RECEIVES | RELEASE_DONE);
	if (in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF)
		go_on(walk, flow_at(walk->flow, in->target), locked);
	if (in->kind != INSN_JUMP && in->kind != INSN_JUMP_REG && in->kind != INSN_JUMP_MEM &&
	    in->kind != INSN_RET && in->kind != INSN_TRAP && !(does & ENDS))
		go_on(walk, i + 1, locked);
}

/* The instruction behind the call, and whether that gets a lock. */
static long begin_at(const struct walk *walk, uint64_t at, bool whole, uint32_t *locked)
{
	const struct flow *flow = walk->flow;
	const char *name;
	size_t i = 0;

	*locked = 0;
	if (whole)
		return 0;
	while (i + 1 < flow->count && flow->insns[i + 1].addr <= at)
		i++;
	if (flow->insns[i].kind == INSN_CALL && (!walk->only || walk->only == variable_at(walk, i)))
		*locked = (does_call(walk, flow->insns[i].target, &name) & LOCKS) != 0;
	return (long)i + 1;
}

static bool decode(struct release_code *code, const struct functab_func *fn)
{
	struct insn_code bytes = {image_at(code->frames->img, fn->addr, fn->end - fn->addr),
				  fn->end - fn->addr, fn->addr};

	return code->dec && bytes.bytes && code->insns < ALL_INSNS_MAX &&
	       flow_decode(&code->flow, code->dec, &bytes) == 0 && code->flow.count < INSNS_MAX;
}

static unsigned walk_from(struct walk *walk, uint64_t at, bool whole)
{
	size_t states = walk->flow->count * LOCKED_MAX;
	uint32_t locked;
	long first = begin_at(walk, at, whole, &locked);

	walk->does = 0;
	walk->seen = mem_zalloc(states + 1, 1);
	walk->left = mem_alloc((states + 1) * sizeof(*walk->left));
	go_on(walk, first, locked);
	while (walk->left_count)
		step(walk, walk->left[--walk->left_count]);
	free(walk->seen);
	free(walk->left);
	return walk->does;
}

static void look(struct release_code *code, uint64_t at, bool whole, struct answer *out)
{
	struct functab_func fn;
	uint32_t kept = 0;

	if (!functab_find(code->frames->tab, at, &fn))
		return;
	if (whole && does_of(fn.name))
		out->does = does_of(fn.name) & ~(unsigned)(LOCKS | ENDS);
	if (out->does || !decode(code, &fn))
		return;
	struct walk walk = {.code = code,
			    .flow = &code->flow,
			    .fn = &fn,
			    .bytes = image_at(code->frames->img, fn.addr, fn.end - fn.addr),
			    .out = out};

	code->insns += code->flow.count;
	out->does = walk_from(&walk, at, whole);
	for (uint32_t i = 0; i < out->variable_count; i++) {
		walk.only = out->variables[i];
		if (walk_from(&walk, at, whole) & RELEASE_UNLOCKS)
			out->variables[kept++] = walk.only;
	}
	out->variable_count = kept;
}

static const struct answer *find(struct release_code *code, uint64_t at, bool whole)
{
	uint64_t key = at << 1 | whole;
	size_t n = index_first(&code->index, index_hash(0, key));

	while (n != INDEX_NONE && code->answers[n].key != key)
		n = index_next(&code->index, n);
	if (n != INDEX_NONE)
		return &code->answers[n];
	if (code->count == ANSWERS_MAX)
		return NULL;
	struct answer answer = {.key = key};

	look(code, at, whole, &answer);
	n = index_add(&code->index, index_hash(0, key));
	code->answers = mem_grow(code->answers, code->count, &code->cap, sizeof(*code->answers));
	code->answers[code->count++] = answer;
	return &code->answers[n];
}

unsigned release_code_from(struct release_code *code, uint64_t at, bool whole)
{
	const struct answer *answer = find(code, at, whole);

	return answer ? answer->does : 0;
}

size_t release_code_variables(struct release_code *code, uint64_t at, const uint64_t **addrs)
{
	const struct answer *answer = find(code, at, false);

	*addrs = answer ? answer->variables : NULL;
	return answer ? answer->variable_count : 0;
}

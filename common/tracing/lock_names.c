// SPDX-License-Identifier: Apache-2.0
/* Names are sought when a lock is shown: until then a few words of those who wait for it are kept,
 * as debug information takes long to open. */
#include "tracing/lock_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/funcinfo.h"
#include "base/index.h"
#include "base/mem.h"
#include "elf/image.h"
#include "files/process.h"
#include "golang/funcname.h"
#include "golang/signature.h"
#include "goroutines/frame_args.h"
#include "goroutines/frames.h"
#include "program/functab.h"
#include "program/program.h"

enum {
	WORDS_MAX = 8,       /* of each lock */
	NAMED_MAX = 1 << 16, /* locks */
	DEPTH_MAX = 16,      /* of structs in structs */
	OBJECT_WORDS = 64,   /* in which pointers to locks are looked for */
};

#define STRUCT_MAX (UINT64_C(1) << 20) /* bytes of a struct with a lock */

struct word { /* what the function that has this instruction has as its first argument */
	uint64_t at, value;
	bool points; /* there is a pointer to the lock, so many bytes after it; not the lock itself
		      */
	uint64_t off;
};

struct named {
	struct process_key process;
	uint64_t addr, bias;
	struct word words[WORDS_MAX];
	size_t word_count;
	bool sought;
	char *name;
};

struct variable {
	uint64_t addr, size;
	const char *name;
};

struct lock_names {
	const struct program *prog;
	struct lock_stacks *stacks;
	struct gotypes *types;
	struct funcinfo *info; /* NULL: not asked for yet */
	struct named *all;
	size_t count, cap;
	struct index index;
	struct variable *variables; /* by address */
	size_t variable_count, variable_cap;
	bool variables_read;
	struct process_key memory_of;
	int memory; /* of that process; -1: it cannot be read */
};

struct lock_names *lock_names_new(const struct program *prog, struct lock_stacks *stacks)
{
	struct lock_names *names = mem_zalloc(1, sizeof(*names));

	names->prog = prog;
	names->stacks = stacks;
	names->memory = -1;
	return names;
}

void lock_names_free(struct lock_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		free(names->all[i].name);
	if (names->memory >= 0)
		close(names->memory);
	funcinfo_free(names->info);
	gotypes_free(names->types);
	index_free(&names->index);
	free(names->variables);
	free(names->all);
	free(names);
}

static uint64_t hash_of(const struct lock *lock)
{
	uint64_t hash = index_hash(index_hash(0, lock->process.start_ns), lock->process.tgid);

	return index_hash(index_hash(hash, lock->process.exec), lock->addr);
}

static struct named *find_named(const struct lock_names *names, const struct lock *lock)
{
	size_t n = index_first(&names->index, hash_of(lock));

	while (n != INDEX_NONE &&
	       (names->all[n].addr != lock->addr ||
		memcmp(&names->all[n].process, &lock->process, sizeof(lock->process)) != 0))
		n = index_next(&names->index, n);
	return n == INDEX_NONE ? NULL : &names->all[n];
}

static void open_memory(struct lock_names *names, const struct lock *lock)
{
	struct process *proc;

	if (!memcmp(&names->memory_of, &lock->process, sizeof(lock->process)))
		return;
	if (names->memory >= 0)
		close(names->memory);
	names->memory_of = lock->process;
	proc = process_open((pid_t)lock->pid, NULL);
	names->memory = proc ? process_memory(proc, NULL) : -1;
	process_close(proc);
}

/* Where a pointer to the lock is, behind this address; false: there is none. */
static bool find_pointer(struct lock_names *names, const struct lock *lock, uint64_t addr,
			 uint64_t *off)
{
	uint64_t object[OBJECT_WORDS];
	ssize_t len;

	open_memory(names, lock);
	if (names->memory < 0 || addr % 8 || addr > INT64_MAX)
		return false;
	len = pread(names->memory, object, sizeof(object), (off_t)addr);
	for (size_t i = 0; (ssize_t)((i + 1) * sizeof(*object)) <= len; i++) {
		*off = i * sizeof(*object);
		if (object[i] == lock->addr)
			return true;
	}
	return false;
}

static void note_word(struct lock_names *names, struct named *named, const struct lock *lock,
		      struct word word)
{
	if (named->word_count == WORDS_MAX || !word.value)
		return;
	for (size_t i = 0; i < named->word_count; i++)
		if (named->words[i].at == word.at && named->words[i].value == word.value)
			return;
	word.off = lock->addr - word.value;
	word.points = word.off >= STRUCT_MAX;
	if (!word.points)
		named->words[named->word_count++] = word;
	/* both may be: what a pointer to a lock points to can be close by */
	if (named->word_count < WORDS_MAX && find_pointer(names, lock, word.value, &word.off)) {
		word.points = true;
		named->words[named->word_count++] = word;
	}
}

void lock_names_note(struct lock_names *names, const struct lock *lock,
		     const struct lock_event *event)
{
	struct named *named = find_named(names, lock);
	const struct lock_trace *trace;

	if (!named && names->count == NAMED_MAX)
		return;
	if (!named) {
		index_add(&names->index, hash_of(lock));
		names->all = mem_grow(names->all, names->count, &names->cap, sizeof(*names->all));
		named = &names->all[names->count++];
		*named = (struct named){
			.process = lock->process, .addr = lock->addr, .bias = event->probe};
	}
	if (named->name || named->word_count == WORDS_MAX)
		return;
	trace = lock_stacks_find(names->stacks, (struct lock_stack){event->stack, event->probe});
	for (size_t i = 0; i < trace->count && trace->frames[i].number < LOCK_WORDS; i++) {
		const struct lock_frame *frame = &trace->frames[i];
		uint64_t value = event->words[frame->number];

		if (!frame->inlined)
			note_word(names, named, lock, (struct word){frame->at, value, false, 0});
	}
	named->sought = false;
}

/* --- variables --- */

static bool add_variable(const struct image_symbol *sym, void *ctx)
{
	struct lock_names *names = ctx;

	/* what the compiler has made has no name that a user knows */
	if (sym->is_func || sym->is_tls || !sym->size || !strchr(sym->name, '.') ||
	    strstr(sym->name, "..") || strchr(sym->name, ':'))
		return true;
	names->variables = mem_grow(names->variables, names->variable_count, &names->variable_cap,
				    sizeof(*names->variables));
	names->variables[names->variable_count++] =
		(struct variable){sym->addr, sym->size, sym->name};
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* "main.mu", "main.cache+0x18"; NULL: none. */
static char *variable_name(struct lock_names *names, uint64_t addr)
{
	size_t low = 0, high;

	if (!names->variables_read)
		image_each_symbol(names->prog->img, add_variable, names);
	if (!names->variables_read && names->variable_count)
		qsort(names->variables, names->variable_count, sizeof(*names->variables), by_addr);
	names->variables_read = true;
	for (high = names->variable_count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (names->variables[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	const struct variable *var = low ? &names->variables[low - 1] : NULL;

	if (!var || addr - var->addr >= var->size)
		return NULL;
	if (addr == var->addr)
		return mem_strdup(var->name);
	return mem_printf("%s+0x%" PRIx64, var->name, addr - var->addr);
}

/* --- fields --- */

struct sought {
	const char *lock; /* its type */
	bool points;      /* a pointer to it */
};

static bool is_sought(const struct gotype *type, const struct sought *sought)
{
	if (sought->points)
		type = type->kind == GOTYPE_POINTER ? type->elem : NULL;
	return type && type->name && !strcmp(type->name, sought->lock);
}

/* Writes ".field[3].mu", to where the type has a lock at this offset; false: it has none. */
static bool print_path(FILE *out, const struct gotype *type, uint64_t off,
		       const struct sought *lock, int depth)
{
	if (depth > DEPTH_MAX || off >= type->size)
		return false;
	if (off == 0 && is_sought(type, lock))
		return true;
	if (type->kind == GOTYPE_ARRAY && type->elem && type->elem->size) {
		fprintf(out, "[%" PRIu64 "]", off / type->elem->size);
		return print_path(out, type->elem, off % type->elem->size, lock, depth + 1);
	}
	if (type->kind != GOTYPE_STRUCT)
		return false;
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (off < field->off || off - field->off >= field->type->size)
			continue;
		fprintf(out, ".%s", field->name);
		return print_path(out, field->type, off - field->off, lock, depth + 1);
	}
	return false;
}

/* "main.(*Store)" of main.Store */
static void print_pointer(FILE *out, const char *name)
{
	const char *args = strchr(name, '['), *dot = NULL;

	for (const char *at = name; *at && at != args; at++)
		if (*at == '.')
			dot = at;
	if (dot)
		fprintf(out, "%.*s.(*%s)", (int)(dot - name), name, dot + 1);
	else
		fprintf(out, "(*%s)", name);
}

/* The type that the function's name tells: "pkg.T" of pkg.(*T).Method */
static const struct gotype *receiver_type(struct lock_names *names, const char *func)
{
	struct signature_names types = funcinfo_names(names->info);
	const struct gotype *type;
	struct funcname name;
	char *text;

	funcname_parse(func, &name);
	if (!name.receiver || !name.pointer || name.closure || name.generic)
		return NULL;
	text = mem_printf("%.*s.%.*s", (int)name.package_len, func, (int)name.receiver_len,
			  name.receiver);
	type = types.find(types.ctx, text);
	free(text);
	return type;
}

/* The type that the function's first parameter points to; NULL: not known, or it is no pointer. */
static const struct gotype *first_type(struct lock_names *names, uint64_t at)
{
	struct functab_func fn;
	struct gofunc sig;

	if (!names->info) {
		names->types = gotypes_new();
		names->info = funcinfo_new(names->prog, names->types);
	}
	if (!functab_find(names->prog->tab, at, &fn))
		return NULL;
	funcinfo_find(names->info, &fn, &sig);
	if (sig.source == GOFUNC_NONE || sig.source == GOFUNC_ARGINFO)
		return receiver_type(names, fn.name);
	if (!sig.param_count || sig.dictionary == 0 || sig.params[0].is_guess ||
	    sig.params[0].type->kind != GOTYPE_POINTER)
		return NULL;
	return sig.params[0].type->elem;
}

static char *field_name(struct lock_names *names, const struct lock *lock, const struct word *word)
{
	const struct program *prog = names->prog;
	struct frames frames = {.tab = prog->tab, .img = prog->img, .release = prog->release};
	struct sought sought = {lock->is_rw ? "sync.RWMutex" : "sync.Mutex", word->points};
	const struct gotype *type;
	char *text;
	size_t len;
	bool found;

	if (!frame_args_first(&frames, word->at))
		return NULL;
	type = first_type(names, word->at);
	if (!type || !type->name || type->kind != GOTYPE_STRUCT)
		return NULL;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	print_pointer(out, type->name);
	size_t before = (size_t)ftell(out);

	found = print_path(out, type, word->off, &sought, 0);
	fclose(out);
	if (found && len > before)
		return text;
	free(text);
	return NULL;
}

const char *lock_names_find(void *ctx, const struct lock *lock)
{
	struct lock_names *names = ctx;
	struct named *named = find_named(names, lock);

	if (!named || named->name || named->sought)
		return named ? named->name : NULL;
	named->sought = true;
	char *variable = variable_name(names, lock->addr - named->bias);

	if (variable && !strchr(variable, '+')) {
		named->name = variable;
		return variable;
	}
	for (size_t i = 0; i < named->word_count && !named->name; i++)
		named->name = field_name(names, lock, &named->words[i]);
	if (named->name)
		free(variable);
	else
		named->name = variable;
	return named->name;
}

// SPDX-License-Identifier: Apache-2.0
/* Which processes are sampled, and what is known of them: with processes, files and programs of
 * this test's own. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "frames/unwinder.h"
#include "kernel/bpfmap.h"
#include "program/gostack_symbols.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "sampling/sampled_internal.h"
#include "sites/goruntime.h"
#include "unit.h"

enum { TARGETS = 4, FILES = 3, PROCESSES = 4, PID = 100, WORD = 0x40 };

struct heldfile {
	int number;
};

struct process {
	const char *comm;
	int file; /* that it executes; -1: none */
	uint64_t bias;
	bool ended, ends, no_bias, no_memory,
		short_memory; /* ends: when it is asked for its file */
	const char *mapped;   /* from 0x1000 * its PID on, a page */
};

static struct file {
	int fd; /* of an inode of its own */
	int release;
	bool no_stat, not_go, by_gccgo, changes;
	struct goruntime rt;
	unsigned read; /* so often */
} files[FILES];

static struct process processes[PROCESSES];
static const struct sampled_wanted anything, one_process = {.pid = PID};
static struct held {
	int processes, files, programs, symbols, unwinders, watched;
} held;
static struct profile_target told[PROCESSES]; /* to the kernel side */
static unsigned tells;
static int memory_fd;

static pid_t pid_of(const struct process *proc)
{
	return PID + (pid_t)(proc - processes);
}

/* --- of other modules --- */

void budget_watch_resume(void)
{
	held.watched++;
}

void budget_watch_pause(void)
{
	held.watched--;
}

struct process *process_open(pid_t pid, struct errmsg *err)
{
	assert_in_range(pid, PID, PID + PROCESSES - 1);
	if (processes[pid - PID].ended) {
		errmsg_set(err, "no process %d", pid);
		return NULL;
	}
	held.processes++;
	return &processes[pid - PID];
}

void process_close(struct process *proc)
{
	held.processes -= proc != NULL;
}

bool process_runs(const struct process *proc)
{
	return !proc->ended;
}

bool process_executes(const struct process *proc, const struct heldfile *file)
{
	return proc->file == file->number;
}

bool process_is_called(const struct process *proc, const char *part, bool or_file)
{
	return or_file && strstr(proc->comm, part);
}

char *process_name(const struct process *proc)
{
	return mem_strdup(proc->comm);
}

struct heldfile *process_exe(const struct process *proc, struct errmsg *err)
{
	if (proc->file < 0 || proc->ends) {
		processes[pid_of(proc) - PID].ended = proc->ends;
		errmsg_set(err, "process %d has no executable", pid_of(proc));
		return NULL;
	}
	struct heldfile *file = mem_zalloc(1, sizeof(*file));

	file->number = proc->file;
	held.files++;
	return file;
}

/* It ends with the word that tells where g is. */
int process_memory(const struct process *proc, struct errmsg *err)
{
	int64_t off = -8 * (int64_t)pid_of(proc);
	size_t len = proc->short_memory ? 4 : sizeof(off);

	if (proc->no_memory)
		return errmsg_set(err, "not allowed");
	memory_fd = memfd_create("memory", MFD_CLOEXEC);
	assert_int_equal(pwrite(memory_fd, &off, len, (off_t)(WORD + proc->bias)), len);
	return memory_fd;
}

char *process_mapping_at(const struct process *proc, uint64_t addr, uint64_t *from, uint64_t *to)
{
	uint64_t page = UINT64_C(0x1000) * pid_of(proc);

	if (!proc->mapped || addr < page || addr >= page + 0x1000)
		return NULL;
	*from = page;
	*to = page + 0x1000;
	return mem_strdup(proc->mapped);
}

int heldfile_fd(const struct heldfile *file)
{
	return files[file->number].no_stat ? -1 : files[file->number].fd;
}

bool heldfile_is(const struct heldfile *file, const struct stat *st)
{
	struct stat own;

	assert_int_equal(fstat(files[file->number].fd, &own), 0);
	return own.st_ino == st->st_ino;
}

void heldfile_close(struct heldfile *file)
{
	held.files -= file != NULL;
	free(file);
}

int heldfile_check(const struct heldfile *file, struct errmsg *err)
{
	return files[file->number].changes ? errmsg_set(err, "it was cut off") : 0;
}

struct program *program_open(struct heldfile *file, struct errmsg *err)
{
	struct file *known = &files[file->number];

	assert_int_equal(held.watched, 1);
	known->read++;
	if (known->not_go) {
		heldfile_close(file);
		errmsg_set(err, "not Go");
		return NULL;
	}
	struct program *prog = mem_zalloc(1, sizeof(*prog));

	*prog = (struct program){.path = "/prog",
				 .file = file,
				 .img = (struct image *)known,
				 .tab = (struct functab *)&known->release,
				 .toolchain = known->by_gccgo ? &toolchain_gccgo : &toolchain_gc,
				 .release = known->release,
				 .release_told = known->release >= 0};
	held.programs++;
	return prog;
}

void program_close(struct program *prog)
{
	if (!prog)
		return;
	held.programs--;
	heldfile_close(prog->file);
	free(prog);
}

bool program_bias(const struct program *prog, const struct process *proc, uint64_t *bias)
{
	(void)prog;
	*bias = proc->bias;
	return !proc->no_bias;
}

void goruntime_read_fields(const struct program *prog, struct goruntime *out)
{
	*out = files[prog->file->number].rt;
}

struct gostack_symbols *gostack_symbols_new(const struct image *img, const struct functab *tab)
{
	assert_ptr_equal(&((const struct file *)img)->release, tab);
	held.symbols++;
	return mem_zalloc(1, 1);
}

void gostack_symbols_free(struct gostack_symbols *syms)
{
	held.symbols -= syms != NULL;
	free(syms);
}

struct unwinder *unwinder_new(const struct frames *frames)
{
	assert_non_null(frames->syms);
	held.unwinders++;
	return mem_zalloc(1, 1);
}

void unwinder_free(struct unwinder *uw)
{
	held.unwinders -= uw != NULL;
	free(uw);
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	uint32_t pid = *(const uint32_t *)key;

	assert_int_equal(fd, TARGETS);
	assert_in_range(pid, PID, PID + PROCESSES - 1);
	memcpy(&told[pid - PID], value, sizeof(*told));
	tells++;
	return 0;
}

/* --- */

static int setup(void **state)
{
	*state = NULL;
	memset(told, 0xff, sizeof(told));
	tells = 0;
	held = (struct held){0};
	for (int i = 0; i < FILES; i++)
		files[i] = (struct file){.fd = memfd_create("file", MFD_CLOEXEC),
					 .release = 24,
					 .rt = {.tls_g = -8,
						.g_m = 48,
						.g_sched_sp = 56,
						.g_gopc = 280,
						.m_curg = 192,
						.m_procid = 72}};
	for (int i = 0; i < PROCESSES; i++)
		processes[i] = (struct process){.comm = "comm"};
	return 0;
}

static int teardown(void **state)
{
	const struct held nothing = {0};

	(void)state;
	for (int i = 0; i < FILES; i++)
		close(files[i].fd);
	assert_memory_equal(&held, &nothing, sizeof(held));
	return 0;
}

static struct profile_sample sample_of(unsigned n, uint64_t start_ns, unsigned tgid, unsigned exec)
{
	return (struct profile_sample){.process = {start_ns, tgid, exec}, .pid = PID + n};
}

static const struct sampled_process *find(struct sampled *sampled, unsigned n, uint64_t start_ns)
{
	struct profile_sample sample = sample_of(n, start_ns, 1000 + n, 0);

	return sampled_find(sampled, &sample);
}

static struct profile_target usual(void)
{
	return (struct profile_target){.kind = PROFILE_GO,
				       .tls_g = -8,
				       .g_m = 48,
				       .g_sched_sp = 56,
				       .g_sched_bp = 104,
				       .m_curg = 192,
				       .m_gsignal = 80,
				       .g_labels = 344};
}

/* What the kernel side is told of process 0, before any sample of it. */
static void expect_told(const struct profile_target *want)
{
	struct errmsg err = {0};
	struct sampled *sampled = sampled_new(TARGETS, &one_process, &err);

	if (!sampled)
		fail_msg("%s", err.text);
	assert_memory_equal(&told[0], want, sizeof(*told));
	sampled_free(sampled);
}

static void test_layout(void **state)
{
	struct profile_target want = usual();

	(void)state;
	files[0].rt.m_g0 = 16;
	want.m_g0 = 16;
	expect_told(&want);
	files[0].release = 25;
	want.g_sched_bp = 96;
	expect_told(&want);
	files[0].release = 23;
	want.g_sched_bp = 104;
	want.label_map = 1;
	expect_told(&want);
	files[0].release = -1; /* it is not known where labels are */
	want.g_labels = 0;
	expect_told(&want);
	files[0].release = 0;
	want.g_labels = 344;
	expect_told(&want);
	files[0].rt.g_gopc = 0;
	want.g_labels = 0;
	expect_told(&want);
}

/* Where g is, of a program that learns it when it is loaded */
static void test_loaded_tls(void **state)
{
	struct profile_target want = usual();

	(void)state;
	processes[0].bias = 0x2000;
	files[0].rt.tls_word = WORD;
	want.tls_g = -8 * PID;
	expect_told(&want);
	assert_int_equal(fcntl(memory_fd, F_GETFD), -1);
	want.tls_g = 0;
	processes[0].short_memory = true;
	expect_told(&want);
	processes[0].no_memory = true;
	expect_told(&want);
}

static void expect_refusal(const char *why, const char *hint)
{
	struct errmsg err = {0};

	assert_null(sampled_new(TARGETS, &one_process, &err));
	assert_string_equal(err.text, why);
	assert_string_equal(err.hint, hint);
	assert_int_equal(tells, 0);
}

static void test_refused(void **state)
{
	(void)state;
	files[0].changes = true;
	expect_refusal("it was cut off", "");
	processes[0].no_bias = true;
	expect_refusal("/prog: where the process has loaded it is not known", "");
	files[0].by_gccgo = true;
	expect_refusal("\"/prog\": what gccgo has compiled keeps no frame pointers",
		       "perf record --call-graph dwarf samples it");
	files[0].not_go = true;
	expect_refusal("not Go", "");
	files[0].no_stat = true;
	expect_refusal("it executes another file", "");
	processes[0].file = -1;
	expect_refusal("process 100 has no executable", "");
	processes[0].ended = true;
	expect_refusal("no process 100", "");
}

/* The process of -p is known by its PID until the first sample tells its key. */
static void test_one(void **state)
{
	struct profile_target want = usual();

	(void)state;
	processes[0].comm = "server";
	processes[0].bias = 0x5000;
	struct sampled *sampled = sampled_new(TARGETS, &one_process, NULL);
	const struct sampled_process *first = sampled_first(sampled);

	assert_true(first->pid == PID && first->proc == &processes[0] && !first->is_shared);
	assert_string_equal(first->comm, "server");
	assert_true(first->frames.bias == 0x5000 && first->frames.release == 24);
	assert_ptr_equal(first->frames.img, first->prog->img);
	assert_ptr_equal(first->frames.tab, first->prog->tab);
	assert_ptr_equal(find(sampled, 0, 7), first);
	assert_int_equal(tells, 2);
	want.key = (struct process_key){7, 1000, 0};
	assert_memory_equal(&told[0], &want, sizeof(*told));
	assert_ptr_equal(find(sampled, 0, 7), first);
	assert_int_equal(tells, 2);
	processes[0].ended = true;
	assert_ptr_not_equal(find(sampled, 1, 8), first);
	assert_ptr_equal(first->proc, &processes[0]); /* its end is told by it */
	assert_int_equal(sampled_missed(sampled), 0);
	sampled_free(sampled);
}

/* A process of the same PID, or of the same that has executed another program, is not the first. */
static void test_not_the_first(void **state)
{

	(void)state;
	for (int how = 0; how < 3; how++) {
		processes[0].file = 0;
		processes[0].ended = false;
		struct sampled *sampled = sampled_new(TARGETS, &one_process, NULL);
		const struct sampled_process *first = sampled_first(sampled);

		processes[0].file = how == 0;
		processes[0].ended = how == 1;
		const struct sampled_process *found = find(sampled, how == 2, 9);

		assert_ptr_not_equal(found, first);
		assert_int_equal(found != NULL, how != 1);
		assert_ptr_equal(find(sampled, how == 2, 9), found);
		assert_int_equal(first->target.key.start_ns, 0);
		assert_int_equal(sampled_missed(sampled), how == 1 ? 2 : 0);
		sampled_free(sampled);
	}
}

/* Three numbers tell processes apart. */
static void test_keys(void **state)
{
	struct sampled *sampled = sampled_new(TARGETS, &anything, NULL);
	const struct sampled_process *found[4];
	const struct profile_sample samples[4] = {sample_of(0, 1, 5, 1), sample_of(0, 2, 5, 1),
						  sample_of(0, 1, 6, 1), sample_of(0, 1, 5, 2)};

	(void)state;
	for (int i = 0; i < 8; i++) {
		const struct sampled_process *one = sampled_find(sampled, &samples[i % 4]);

		if (i < 4)
			found[i] = one;
		assert_ptr_equal(found[i % 4], one);
		assert_memory_equal(&one->target.key, &samples[i % 4].process,
				    sizeof(samples->process));
		for (int j = 0; j < i && j < 4; j++)
			assert_true(j == i % 4 || found[j] != one);
	}
	assert_int_equal(tells, 4);
	assert_int_equal(files[0].read, 1);
	sampled_free(sampled);
}

/* A file is read once for all processes that have loaded it to one place. */
static void test_shared(void **state)
{
	struct sampled *sampled = sampled_new(TARGETS, &anything, NULL);
	struct profile_target want = usual();

	(void)state;
	processes[2].bias = 0x1000;
	processes[3].file = 1;
	files[1].rt.tls_g = -16;
	const struct sampled_process *first = find(sampled, 0, 1), *second = find(sampled, 1, 2);
	const struct sampled_process *third = find(sampled, 2, 3), *fourth = find(sampled, 3, 4);

	assert_true(second->is_shared && second->prog == first->prog && second->pid == PID + 1);
	assert_true(second->unwinder == first->unwinder && second->proc == &processes[1]);
	assert_memory_equal(&second->frames, &first->frames, sizeof(first->frames));
	assert_true(!first->is_shared && !third->is_shared && !fourth->is_shared);
	assert_true(third->prog != first->prog && third->frames.bias == 0x1000);
	assert_true(files[0].read == 2 && files[1].read == 1);
	want.key = (struct process_key){2, 1001, 0};
	assert_memory_equal(&told[1], &want, sizeof(*told));
	want.key = (struct process_key){4, 1003, 0};
	want.tls_g = -16;
	assert_memory_equal(&told[3], &want, sizeof(*told));
	sampled_free(sampled);
}

/* Those that are not wanted, and those that nobody can know any more */
static void test_left_out(void **state)
{
	struct heldfile one = {.number = 1};
	const struct sampled_wanted wanted = {.file = &one};
	struct sampled *sampled = sampled_new(TARGETS, &wanted, NULL);
	const struct profile_target other = {.key = {1, 1000, 0}, .kind = PROFILE_OTHER};

	(void)state;
	processes[1].file = processes[2].file = 1;
	processes[3].ended = true;
	assert_null(find(sampled, 0, 1));
	assert_memory_equal(&told[0], &other, sizeof(*told));
	assert_int_equal(held.processes, 0);
	const struct sampled_process *found = find(sampled, 1, 2);

	assert_non_null(found);
	assert_int_equal(held.processes, 1);
	for (int i = 0; i < 3; i++)
		assert_null(find(sampled, 3, 3));
	assert_int_equal(sampled_missed(sampled), 3);
	assert_null(find(sampled, 0, 1));
	assert_int_equal(sampled_missed(sampled), 3);
	processes[0].ends = true;
	assert_null(find(sampled, 0, 9));
	assert_int_equal(sampled_missed(sampled), 4);
	/* what has ended is not held when others come, but still known */
	processes[1].ended = true;
	assert_non_null(find(sampled, 2, 4));
	assert_null(found->proc);
	assert_int_equal(held.processes, 1);
	assert_ptr_equal(find(sampled, 1, 2), found);
	sampled_free(sampled);
}

static void test_gone_bad(void **state)
{
	struct sampled *sampled = sampled_new(TARGETS, &anything, NULL);
	struct profile_target want = usual();

	(void)state;
	want.kind = PROFILE_OTHER;
	want.key = (struct process_key){1, 1000, 0};
	files[0].changes = true;
	assert_null(find(sampled, 0, 1));
	assert_memory_equal(&told[0], &want, sizeof(*told));
	assert_int_equal(held.programs + held.symbols + held.unwinders + held.files, 0);
	sampled_free(sampled);
}

static void expect_place(struct sampled *sampled, const struct sampled_process *process,
			 uint64_t addr, const char *name, uint64_t from)
{
	uint64_t got = 0;

	assert_string_equal(sampled_place(sampled, process, addr, &got), name);
	assert_int_equal(got, from);
}

static void test_places(void **state)
{
	struct sampled *sampled = sampled_new(TARGETS, &anything, NULL);
	const uint64_t page = UINT64_C(0x1000) * PID;

	(void)state;
	processes[0].mapped = "libc.so.6";
	processes[1].mapped = "[vdso]";
	const struct sampled_process *first = find(sampled, 0, 1), *second = find(sampled, 1, 2);

	expect_place(sampled, first, page - 1, "?", 0);
	expect_place(sampled, first, page + 7, "[libc.so.6]", page);
	processes[0].mapped = "asked again";
	expect_place(sampled, first, page, "[libc.so.6]", page);
	expect_place(sampled, first, page + 0xfff, "[libc.so.6]", page);
	expect_place(sampled, second, page + 0x1000, "[vdso]", page + 0x1000);
	expect_place(sampled, first, page + 0x1000, "?", 0);
	expect_place(sampled, second, page + 7, "?", 0);
	processes[0].ended = true;
	assert_non_null(find(sampled, 2, 3)); /* the first one is not held any more */
	assert_null(first->proc);
	expect_place(sampled, first, page + 1, "[libc.so.6]", page);
	expect_place(sampled, first, page - 1, "?", 0);
	sampled_free(sampled);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_layout), CASE(test_loaded_tls),    CASE(test_refused),
		CASE(test_one),    CASE(test_not_the_first), CASE(test_keys),
		CASE(test_shared), CASE(test_left_out),      CASE(test_gone_bad),
		CASE(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

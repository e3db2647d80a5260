// SPDX-License-Identifier: Apache-2.0
#include "fakeg.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "bpf-src/shared/cookie.h"
#include "bpf-src/shared/states.h"
#include "files/heldfile.h"
#include "kernel/attach.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "unit.h"

/* FAKEG_PLACES of 8 bytes each, with an instruction that can be probed */
void fakeg_places(void);
/* Calls `place` with a g and a stack pointer that are not this thread's. */
void fakeg_call(uint64_t place, void *g, void *sp);
void fakeg_call_elsewhere(uint64_t place, void *g, void *sp); /* ... with another return address */
__asm__(".text\n"
	".balign 8\n"
	"fakeg_places:\n"
	".rept 24\n\tnop\n\tret\n\t.balign 8\n\t.endr\n"
	".macro call_as name\n"
	"\\name:\n"
	"\tpush %r14\n\tpush %rbx\n"
	"\tmov %rsp, %rbx\n\tmov %rsi, %r14\n\tmov %rdx, %rsp\n"
	"\tcall *%rdi\n"
	"\tmov %rbx, %rsp\n\tpop %rbx\n\tpop %r14\n\tret\n"
	".endm\n"
	"call_as fakeg_call\n"
	"call_as fakeg_call_elsewhere\n");

struct fakeg { /* as much of runtime.g as the kernel side reads */
	uint64_t lo, hi, goid, m, sched_sp;
	uint32_t status;
};

uint64_t fakeg_addr(unsigned place)
{
	return (uintptr_t)fakeg_places + 8 * place;
}

/* The file offset of what is at this address in our own memory. */
static uint64_t file_offset(uint64_t addr)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long lo, hi, off;
	uint64_t found = 0;

	while (!found && fscanf(f, "%lx-%lx %*s %lx%*[^\n]", &lo, &hi, &off) == 3)
		if (addr >= lo && addr < hi)
			found = addr - lo + off;
	fclose(f);
	return found;
}

static uint32_t status;

void fakeg_status(uint32_t value)
{
	status = value;
}

size_t fakeg_define(struct bpfprog_define *defs)
{
	const struct bpfprog_define all[] = {
		{"TGID", getpid()},
		{"G_REGISTER", 1},
		{"TLS_G", 0},
		{"FSBASE_OFF", 0},
		{"GOID_OFF", offsetof(struct fakeg, goid)},
		{"G_M", offsetof(struct fakeg, m)},
		{"G_SCHED_SP", offsetof(struct fakeg, sched_sp)},
		{"M_CURG", 0},
		{"G_GOPC", 0},
		{"G_PARENT_GOID", 0},
	};
	size_t count = sizeof(all) / sizeof(all[0]);

	for (size_t i = 0; i < count; i++)
		defs[i] = all[i];
	return count;
}

struct attach *fakeg_attach(int prog_fd, const struct fakeg_probe *probes, size_t count,
			    struct errmsg *err)
{
	struct attach_probe all[FAKEG_PLACES] = {0};

	for (size_t i = 0; i < count; i++) {
		uint64_t addr = fakeg_addr(probes[i].place);

		all[i] = (struct attach_probe){
			.off = file_offset(addr), .addr = addr, .cookie = probes[i].cookie};
	}
	struct heldfile *self = heldfile_open(NULL, "/proc/self/exe", err);
	const struct attach_way way = {attach_how(), prog_fd, -1, 0};
	struct attach *at = attach_new(&way, self, all, count, err);

	heldfile_close(self);
	return at;
}

static void hit(void (*call)(uint64_t, void *, void *), uint64_t goid, unsigned depth,
		unsigned place)
{
	static char stack[65536]; /* of all goroutines, one after another */
	char *hi = stack + sizeof(stack);
	struct fakeg g = {
		.lo = (uintptr_t)stack, .hi = (uintptr_t)hi, .goid = goid, .status = status};

	call(fakeg_addr(place), &g, hi - depth);
}

void fakeg_hit(uint64_t goid, unsigned depth, unsigned place)
{
	hit(fakeg_call, goid, depth, place);
}

void fakeg_hit_from_elsewhere(uint64_t goid, unsigned depth, unsigned place)
{
	hit(fakeg_call_elsewhere, goid, depth, place);
}

struct attach *fakeg_attach_syscalls(int prog_fd, unsigned enter, unsigned leave,
				     struct errmsg *err)
{
	const struct fakeg_probe probes[] = {
		{enter, cookie_make(0, COOKIE_CALL, 0, CHANGE_SYSCALL)},
		{leave, cookie_make(0, COOKIE_CALL, 0, CHANGE_RETURNED)},
	};

	return fakeg_attach(prog_fd, probes, 2, err);
}

void fakeg_wait_ms(unsigned ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000L};

	nanosleep(&ts, NULL);
}

static int count_entry(const void *key, const void *value, void *arg)
{
	size_t *count = arg;

	(void)key;
	(void)value;
	++*count;
	return 0;
}

size_t fakeg_entries(const struct bpfprog *prog, const char *map)
{
	int fd = bpfprog_map(prog, map);
	size_t key_size, value_size, count = 0;

	assert_int_equal(bpfmap_sizes(fd, &key_size, &value_size), 0);
	assert_int_equal(bpfmap_each(fd, key_size, value_size, count_entry, &count), 0);
	return count;
}

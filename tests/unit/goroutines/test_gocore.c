// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "elf/corefile.h"
#include "elffile.h"
#include "files/heldfile.h"
#include "goroutines/gocore.h"
#include "files/process_stop.h"
#include "sites/goruntime.h"
#include "unit.h"

/* A core file of threads that differ in their registers alone, and of one signal stack, which is
 * all in use. */
enum {
	NOTE = 12 + 8 + 336,
	THREADS_MAX = 300,
	NOTES = 0x1000,
	DATA = NOTES + ((THREADS_MAX * NOTE + 0xfff) & ~0xfff), /* file offset */
	BASE = 0x500000,                                        /* its address */
	TLS = BASE + 0x10,
	G = BASE + 0x100,
	M = BASE + 0x200,
	GSIGNAL = BASE + 0x400,
	STACK = BASE + 0x1000,
	STACK_SIZE = 256 << 10,
	UCONTEXT = STACK + STACK_SIZE - 0x400,
	SIZE = DATA + 0x1000 + STACK_SIZE,
	FIRST_TID = 1000,
	PROCID = 77,
};

static const struct goruntime layout = {.tls_g = -8, .g_m = 48, .g_stack_hi = 8, .m_procid = 64};

struct made {
	uint8_t *data;
	struct elffile *f;
	struct image *img;
	struct corefile *file;
	struct gocore *core;
};

static void put(struct made *made, uint64_t addr, uint64_t value)
{
	memcpy(made->data + DATA + (addr - BASE), &value, sizeof(value));
}

static void put_numbered(struct made *made, int i, int32_t tid, uint64_t tls)
{
	const Elf64_Nhdr note = {5, 336, NT_PRSTATUS};
	const uint64_t regs[] = {202, 0x1000 + i, 0, 0, STACK, 0, tls}; /* from orig_rax on */
	uint8_t *at = made->data + NOTES + i * NOTE;

	memcpy(at, &note, sizeof(note));
	memcpy(at + 12, "CORE", 5);
	memcpy(at + 20 + 32, &tid, sizeof(tid));
	memcpy(at + 20 + 112 + 15 * 8, regs, sizeof(regs));
}

static void put_thread(struct made *made, int i, uint64_t tls)
{
	put_numbered(made, i, FIRST_TID + i, tls);
}

static void put_memory(struct made *made)
{
	put(made, TLS - 8, G);
	put(made, G + 48, M);
	put(made, M + 64, PROCID);
	put(made, M + 72, GSIGNAL);
	put(made, GSIGNAL, STACK);
	put(made, GSIGNAL + 8, STACK + STACK_SIZE);
	put(made, UCONTEXT + 16, STACK);
	put(made, UCONTEXT + 32, STACK_SIZE);
	put(made, UCONTEXT + 144, 35);
	put(made, UCONTEXT + 160, 0x5678);
	put(made, UCONTEXT + 168, BASE + 0x600);
	put(made, BASE + 0x600, 0x050f);
}

static struct made *begin(unsigned threads)
{
	struct made *made = calloc(1, sizeof(*made));
	const Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
			       .e_type = ET_CORE,
			       .e_machine = EM_X86_64,
			       .e_phoff = sizeof(eh),
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_phnum = 2};
	const Elf64_Phdr ph[] = {
		{.p_type = PT_NOTE, .p_offset = NOTES, .p_filesz = (uint64_t)threads * NOTE},
		{.p_type = PT_LOAD,
		 .p_offset = DATA,
		 .p_vaddr = BASE,
		 .p_filesz = SIZE - DATA,
		 .p_memsz = SIZE - DATA}};

	made->data = calloc(1, SIZE);
	memcpy(made->data, &eh, sizeof(eh));
	memcpy(made->data + sizeof(eh), ph, sizeof(ph));
	put_memory(made);
	return made;
}

static void open_made(struct made *made)
{
	int fd = memfd_create("core", MFD_CLOEXEC);
	struct errmsg err = {0};
	char path[32];

	assert_int_equal(write(fd, made->data, SIZE), SIZE);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	made->file = corefile_open(heldfile_open(NULL, path, &err), &err);
	close(fd);
	made->f = elffile_new(EM_X86_64);
	made->img = elffile_open(made->f, &err);
	assert_non_null(made->file);
	made->core = gocore_new(made->file, made->img, &err);
	assert_non_null(made->core);
	gocore_find_threads(made->core, &layout);
}

static void end(struct made *made)
{
	gocore_free(made->core);
	corefile_close(made->file);
	image_close(made->img);
	elffile_free(made->f);
	free(made->data);
	free(made);
}

/* By the runtime's number, which its g tells; by the core's where there is no g. */
static void test_threads(void **state)
{
	struct made *made = begin(2);
	struct process_registers regs;

	(void)state;
	put_thread(made, 0, TLS);
	put_thread(made, 1, TLS + 0x40);
	open_made(made);
	assert_false(gocore_registers(made->core, FIRST_TID, &regs));
	assert_true(gocore_registers(made->core, FIRST_TID + 1, &regs));
	assert_int_equal(regs.pc, 0x1001);
	assert_int_equal(regs.sp, STACK);
	assert_int_equal(gocore_call(made->core, FIRST_TID + 1), 202);
	/* it is in a signal handler: where that returns to */
	assert_true(gocore_registers(made->core, PROCID, &regs));
	assert_int_equal(regs.pc, BASE + 0x600);
	assert_int_equal(regs.sp, 0x5678);
	assert_int_equal(gocore_call(made->core, PROCID), 35);
	assert_int_equal(gocore_call(made->core, 1), -1);
	end(made);
}

/* Of several that have the same g, the one with its m's number; else the first. */
static void test_cloned(void **state)
{
	struct process_registers regs;

	(void)state;
	for (int which = 0; which < 4; which++) {
		struct made *made = begin(3);

		put(made, M + 72, 0);
		for (int i = 0; i < 3; i++)
			put_numbered(made, i, i == which ? PROCID : FIRST_TID + i, TLS);
		open_made(made);
		assert_true(gocore_registers(made->core, PROCID, &regs));
		assert_int_equal(regs.pc, 0x1000 + which % 3);
		assert_false(gocore_registers(made->core, FIRST_TID + 1, &regs));
		end(made);
	}
}

/* Many threads seem to be at the far end of a large signal stack: it is not read without end. */
static void test_many_handlers(void **state)
{
	struct made *made = begin(THREADS_MAX);
	struct process_registers regs;

	(void)state;
	for (int i = 0; i < THREADS_MAX - 1; i++)
		put_thread(made, i, TLS);
	put(made, BASE + 0x80 - 8, BASE + 0x800); /* the last one has a g and an m of its own */
	put(made, BASE + 0x800 + 48, BASE + 0x900);
	put(made, BASE + 0x900 + 64, PROCID + 1);
	put(made, BASE + 0x900 + 72, GSIGNAL);
	put_thread(made, THREADS_MAX - 1, BASE + 0x80);
	open_made(made);
	assert_true(gocore_registers(made->core, PROCID + 1, &regs));
	assert_int_equal(regs.pc, 0x1000 + THREADS_MAX - 1);
	end(made);
}

/* Of memory that the core does not have, the program's file. */
static void test_memory(void **state)
{
	struct made *made = begin(0);
	uint64_t words[2];

	(void)state;
	open_made(made);
	assert_true(gocore_read(made->core, TLS - 8, words, 8));
	assert_int_equal(words[0], G);
	assert_true(gocore_read(made->core, ELFFILE_RODATA, words, 16));
	assert_int_equal(words[0], 0);
	assert_false(gocore_read(made->core, ELFFILE_DATA_END, words, 8));
	assert_false(gocore_read(made->core, BASE - 8, words, 16));
	assert_false(gocore_is_told(made->core));
	assert_int_equal(gocore_bias(made->core), 0);
	end(made);
}

/* A read over two pages, of which the core has just the second */
static void test_page_by_page(void **state)
{
	struct made *made = begin(0);
	Elf64_Phdr *ph = (Elf64_Phdr *)(made->data + sizeof(Elf64_Ehdr));
	uint64_t words[2] = {1, 1};

	(void)state;
	ph[1].p_vaddr = ELFFILE_DATA + 0x1000;
	put(made, BASE, 77);
	open_made(made);
	assert_true(gocore_read(made->core, ELFFILE_DATA + 0xff8, words, sizeof(words)));
	assert_int_equal(words[0], 0);
	assert_int_equal(words[1], 77);
	end(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),       cmocka_unit_test(test_cloned),
		cmocka_unit_test(test_many_handlers), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_page_by_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

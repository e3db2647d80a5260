// SPDX-License-Identifier: Apache-2.0
/* The test's own stack, against what libgcc's unwinder makes of it; and numbers byte by byte. */
#include <execinfo.h>
#include <link.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/errmsg.h"
#include "elf/ehframe_bytes_internal.h"
#include "elf/image.h"
#include "elf/unwind.h"
#include "files/heldfile.h"
#include "elf/ehframe_internal.h"
#include "unit.h"

enum { STACK = 16384, FRAMES = 64 };

struct taken {
	struct unwind u;
	uint8_t stack[STACK];
	struct unwind_piece pieces[2];
	void *truth[FRAMES];
	int count;
};

static int first_bias(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

static void take_registers(struct taken *t)
{
	static const int from[EHFRAME_REGS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					       REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	ucontext_t uc;

	getcontext(&uc);
	for (int i = 0; i < EHFRAME_REGS; i++)
		t->u.regs[i] = (uint64_t)uc.uc_mcontext.gregs[from[i]];
}

/* As it is while the registers are what they were: nothing above changes meanwhile. */
static void take_stack(struct taken *t)
{
	uint64_t sp = t->u.regs[AMD64_RSP];
	struct iovec to = {t->stack, STACK}, from = {.iov_len = STACK};

	memcpy(&from.iov_base, &sp, sizeof(sp));

	ssize_t len = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (len <= 0)
		skip();
	/* in two pieces, as of two pages */
	t->pieces[0] = (struct unwind_piece){sp, 64, t->stack};
	t->pieces[1] = (struct unwind_piece){sp + 64, (uint64_t)len - 64, t->stack + 64};
	t->u.pieces = t->pieces;
	t->u.piece_count = 2;
}

static __attribute__((noinline)) int take(struct taken *t)
{
	t->count = backtrace(t->truth, FRAMES);
	take_registers(t);
	take_stack(t);
	return t->count;
}

static __attribute__((noinline)) int deeper(struct taken *t, int n)
{
	volatile char room[200];

	room[n] = (char)n;
	return (n ? deeper(t, n - 1) : take(t)) + room[n];
}

static __attribute__((noinline)) int sized(struct taken *t, size_t n)
{
	volatile char *room = __builtin_alloca(n); /* so that the frame is found by rbp */

	room[0] = 1;
	return deeper(t, 5) + room[0];
}

static struct image *open_self(struct unwind_module *module)
{
	struct errmsg err = {0};
	struct heldfile *file = heldfile_open(NULL, "/proc/self/exe", &err);
	struct image *img = image_open(file, &err);

	heldfile_close(file);
	assert_non_null(img);
	*module = (struct unwind_module){.img = img};
	dl_iterate_phdr(first_bias, &module->bias);
	return img;
}

static void test_own_stack(void **state)
{
	static struct unwind_module module;
	static struct taken t;
	struct image *img = open_self(&module);
	uint64_t frames[FRAMES];
	bool complete;
	size_t count, shift = 0;

	(void)state;
	if (image_arch(img) != ARCH_AMD64)
		skip();
	assert_true(sized(&t, 100) > 0);
	t.u.modules = &module;
	t.u.module_count = 1;
	count = unwind(&t.u, frames, FRAMES, &complete);
	/* take_registers, take, deeper six times, sized, this, and what called it in a library */
	assert_true(count >= 11 && count <= (size_t)t.count + 1);
	assert_false(complete);
	/* a sanitizer's backtrace() has a frame of its own */
	while (shift < 2 && (uint64_t)t.truth[1 + shift] != frames[2])
		shift++;
	for (size_t i = 2; i < count; i++)
		assert_int_equal(frames[i], (uint64_t)t.truth[i - 1 + shift]);
	assert_null(unwind_module(&t.u, frames[count - 1]));

	/* a part of the stack is not there */
	t.u.piece_count = 1;
	assert_true(unwind(&t.u, frames, FRAMES, &complete) < count && !complete);
	assert_int_equal(unwind(&t.u, frames, 1, &complete), 1);
	image_close(img);
}

static struct ehframe_bytes bytes(const char *text, size_t len)
{
	return (struct ehframe_bytes){
		.at = (const uint8_t *)text, .end = (const uint8_t *)text + len, .addr = 0x1000};
}

static void test_numbers(void **state)
{
	struct ehframe_bytes in = bytes("\x01\x02\x03\x04\x05\x06\x07", 7);

	(void)state;
	assert_int_equal(ehframe_u8(&in), 1);
	assert_int_equal(ehframe_u16(&in), 0x302);
	assert_int_equal(ehframe_u32(&in), 0x7060504);
	assert_false(in.bad);
	assert_int_equal(ehframe_u8(&in), 0);
	assert_true(in.bad);

	in = bytes("\xe5\x8e\x26\x7f\x80\x7f\x3f", 7);
	assert_int_equal(ehframe_uleb(&in), 624485);
	assert_int_equal(ehframe_sleb(&in), -1);
	assert_int_equal(ehframe_sleb(&in), -128);
	assert_int_equal(ehframe_sleb(&in), 63);
	assert_false(in.bad);

	in = bytes("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12);
	assert_int_equal(ehframe_uleb(&in), 0);
	assert_true(in.bad);
	in = bytes("\x80", 1);
	assert_int_equal(ehframe_sleb(&in), 0);
	assert_true(in.bad);
}

static void test_addresses(void **state)
{
	struct ehframe_bytes in = bytes("\xfc\xff\xff\xff\x10\0\0\0\0\0\0\0zR\0x", 16);

	(void)state;
	assert_int_equal(ehframe_address(&in, 0x1b), 0xffc);
	assert_int_equal(ehframe_address(&in, 0x04), 0x10);
	assert_string_equal(ehframe_text(&in), "zR");
	assert_null(ehframe_text(&in)); /* no zero byte */
	assert_int_equal(ehframe_address(&in, 0x01), 0);
	assert_true(in.bad);
	in = bytes("\0\0\0\0", 4);
	assert_int_equal(ehframe_address(&in, 0x3b), 0); /* relative to what is not known */
	assert_true(in.bad);
	in = bytes("abc", 3);
	assert_true(ehframe_part(&in, 4).bad && in.bad);
}

static void test_nothing(void **state)
{
	struct unwind_module module;
	struct image *img = open_self(&module);
	struct budget work = {1000};
	struct ehframe_row row;

	(void)state;
	assert_false(ehframe_row(img, 0, &work, &row));
	assert_false(ehframe_row(img, UINT64_MAX, &work, &row));
	image_close(img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_stack),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

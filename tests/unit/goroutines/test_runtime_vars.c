// SPDX-License-Identifier: Apache-2.0
/* Where the runtime has its variables, in programs whose functions have the runtime's names, and
 * code that is made up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gofile_open.h"
#include "goroutines/memory.h"
#include "goroutines/runtime_vars.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "sites/goruntime.h"
#include "steps.h"
#include "unit.h"

enum { REASONS = ELFFILE_DATA + 0x100, TEXTS = ELFFILE_DATA + 0x600, BIAS = 0x10000 };

static struct opened o;
static struct program prog;

/* One function of this name, in which a dot after an opcode stands for the distance to the next of
 * the addresses. */
static void make(const char *name, const char *hex, const uint64_t *addrs)
{
	uint8_t code[0x40];
	size_t len = 0;

	gofile_make(&o.g, 27, EM_X86_64);
	elffile_bytes(o.g.f, GOFILE_TAB + GOFILE_NAMES + 0x30, name, strlen(name) + 1);
	elffile_u32(o.g.f, gofile_record(&o.g, 0) + 4, 0x30);
	memset(code, 0xcc, sizeof(code));
	while (*hex) {
		unsigned byte;

		if (*hex == '.') {
			uint32_t distance = (uint32_t)(*addrs++ - (o.g.starts[0] + len + 4));

			memcpy(code + len, &distance, 4);
			len += 4;
			hex++;
		} else if (*hex != ' ' && sscanf(hex, "%2x", &byte) == 1) {
			code[len++] = (uint8_t)byte;
			hex += 2;
		} else {
			hex++;
		}
	}
	elffile_bytes(o.g.f, o.g.starts[0], code, sizeof(code));
}

static void open_program(void)
{
	open_it(&o);
	prog = (struct program){
		.toolchain = &toolchain_gc, .release = 27, .img = o.img, .tab = o.tab};
}

/* --- allgs --- */

static void say_allgs(const char *name, const char *hex, const uint64_t *addrs)
{
	uint64_t addr;

	make(name, hex, addrs);
	open_program();
	if (runtime_vars_allgs(&prog, &addr))
		steps_are("%lx", addr);
	else
		steps_are("-");
	close_it(&o);
}

static void test_allgs(void **state)
{
	static const uint64_t slice[] = {0x404000, 0x404028, 0x404030, 0x404020},
			      gap[] = {0x404000, 0x404020, 0x404028, 0x404038};
	static const char loads[] = "488b05. 488b0d. 488b15. 488b1d. c3";

	(void)state;
	say_allgs("runtime.allgadd", loads, slice);
	say_allgs("runtime.allgadd", loads, gap);
	say_allgs("runtime.allgadd", "488b05. 488b0d. 488b15. 488d1d. c3", slice); /* an address */
	say_allgs("runtime.allgadX", loads, slice);
	steps_expect("404020; -; -; -; ");
}

/* --- tables of semaphores --- */

static void test_semtables(void **state)
{
	static const uint64_t at[] = {0x404008, 0x404010, 0x404014, 0x404018};
	uint64_t addrs[SEMTABLES_MAX];

	(void)state;
	make("runtime.semacquire1", "488d05. 488b0d. 488d15. 488d1d. c3", at);
	open_program();
	size_t count = runtime_vars_semtables(&prog, addrs);

	for (size_t i = 0; i < count; i++)
		steps_are("%lx", addrs[i]);
	close_it(&o);
	steps_expect("404008; 404018; ");
}

/* --- the byte that changes whenever a goroutine leaves off running --- */

static void say_seq(const char *name, const char *hex)
{
	const struct goruntime rt = {.g_waitreason = 176};

	make(name, hex, NULL);
	open_program();
	steps_are("%u", runtime_vars_tracking_seq(&prog, &rt));
	close_it(&o);
}

static void test_tracking_seq(void **state)
{
	static const char name[] = "runtime.casgstatus";

	(void)state;
	say_seq(name, "0fb688b9000000 ffc1 8888b9000000 c3");
	say_seq(name, "0fb688b8000000 ffc1 8888b8000000 c3"); /* the first */
	say_seq(name, "0fb688bf000000 ffc1 8888bf000000 c3"); /* the last */
	say_seq(name, "0fb688b7000000 ffc1 8888b7000000 c3"); /* before these */
	say_seq(name, "0fb688c0000000 ffc1 8888c0000000 c3"); /* behind them */
	say_seq(name, "0fb688b9000000 ffc1 8888ba000000 c3"); /* another is stored */
	say_seq(name, "0fb688b9000000 ffc1 8890b9000000 c3"); /* another register */
	say_seq(name, "0fb688b9000000 ffc1 888ab9000000 c3"); /* another's */
	say_seq(name, "8b88b9000000 ffc1 8988b9000000 c3");   /* no byte */
	say_seq(name, "0fb688b9000000 8888b9000000 0fb688ba000000 8888ba000000 c3"); /* two */
	say_seq("runtime.casgstatuX", "0fb688b9000000 ffc1 8888b9000000 c3");
	steps_expect("185; 184; 191; 0; 0; 0; 0; 0; 0; 0; 0; ");
}

/* --- what goroutines wait for --- */

static void put_reason(unsigned n, const char *text)
{
	uint64_t at = TEXTS + n * 80;

	elffile_u64(o.g.f, REASONS + n * 16, strlen(text) ? at : 0);
	elffile_u64(o.g.f, REASONS + n * 16 + 8, strlen(text));
	elffile_bytes(o.g.f, at, text, strlen(text));
}

#define LONG64 "................................................................"

/* Its table's address stands in the code, behind a load from there and the address of the second;
 * or it does not, and these are none. */
static void make_reasons(const char *name, const char *second, bool has_table)
{
	static const uint64_t at[] = {REASONS, REASONS + 16};

	make(name, has_table ? "488b05. 488d0d. 488d15. c3" : "488b05. 488d0d. 488b15. c3",
	     (const uint64_t[]){at[0], at[1], at[0]});
	for (unsigned i = 0; i < WAIT_REASONS; i++)
		put_reason(i > 6 ? 0 : i, "");
	put_reason(1, second);
	put_reason(2, "IO wait");
	put_reason(3, "no\ttext");
	put_reason(4, LONG64);
	put_reason(5, LONG64 ".");
}

static void say_reasons(bool found, char *reasons[WAIT_REASONS])
{
	steps_are(found ? "found" : "-");
	for (size_t i = 0; i < WAIT_REASONS; i++) {
		if (reasons[i])
			steps_are("%zu %s", i, reasons[i]);
		free(reasons[i]);
		reasons[i] = NULL;
	}
}

static bool read_moved(void *ctx, uint64_t addr, void *out, size_t len)
{
	const void *bytes = image_at(ctx, addr - BIAS, len);

	if (bytes)
		memcpy(out, bytes, len);
	return bytes;
}

static void test_reasons(void **state)
{
	static const char *const names[] = {"runtime.waitReason.String", "runtime.goroutineheader",
					    "runtime.waitReason.X"};
	char *reasons[WAIT_REASONS] = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		make_reasons(names[i], "GC assist marking", true);
		open_program();
		say_reasons(runtime_vars_wait_reasons_of(&prog, reasons), reasons);
		if (!i) {
			const struct memory mem = {read_moved, o.img};

			say_reasons(runtime_vars_wait_reasons(&prog, &mem, BIAS, reasons), reasons);
		}
		close_it(&o);
	}
	for (int i = 0; i < 2; i++) {
		make_reasons(names[0], i ? "GC assist marking" : "GC assist markinG", !i);
		open_program();
		say_reasons(runtime_vars_wait_reasons_of(&prog, reasons), reasons);
		close_it(&o);
	}
	steps_expect("found; 1 GC assist marking; 2 IO wait; 4 "
		     "................................................................; -; "
		     "found; 1 GC assist marking; 2 IO wait; 4 "
		     "................................................................; -; "
		     "-; -; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allgs),
		cmocka_unit_test(test_semtables),
		cmocka_unit_test(test_tracking_seq),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* What code goes on to release: of machine code in a small Go program. */
#include <stdio.h>
#include <string.h>

#include "frames/frames.h"
#include "gofile_open.h"
#include "waits/release_code_internal.h"

enum {
	NAME_A = 0x30, /* where there is room for names: offsets in the table of them */
	NAME_C = 0x58,
	CODE_MAX = 0x40,
	TOKENS = 32,
	VARIABLE = ELFFILE_DATA + 0x40, /* and others, 0x10 bytes further each */
	CALL = 5,
	LEA = 7,
};

#define LOCK "sync.(*Mutex).Lock"
#define UNLOCK "sync.(*Mutex).Unlock"
#define LOCK_SLOW "sync.(*Mutex).lockSlow"
#define UNLOCK_SLOW "sync.(*Mutex).unlockSlow"

static struct opened o;
static struct frames frames;
static struct release_code *code;
static uint64_t place[TOKENS]; /* of each token of main.b's code */

/* --- a program --- */

static void name_it(unsigned func, unsigned off, const char *name)
{
	elffile_bytes(o.g.f, GOFILE_TAB + GOFILE_NAMES + off, name, strlen(name) + 1);
	elffile_u32(o.g.f, gofile_record(&o.g, func) + 4, off);
}

static size_t len_of(char token)
{
	switch (token) {
	case 'A':
	case 'C':
	case 'a':
		return CALL;
	case 'L':
		return 3;
	case 'J':
	case 'I':
	case 'u':
	case 'x':
		return 2;
	default:
		return token >= '1' && token <= '9' ? LEA : 1;
	}
}

static void put_relative(uint8_t *at, uint64_t end, uint64_t target)
{
	int32_t distance = (int32_t)(target - end);

	memcpy(at, &distance, sizeof(distance));
}

/* One token at `addr`; `to`: where a jump leads. */
static void put_token(uint8_t *at, uint64_t addr, char token, uint64_t to)
{
	static const uint8_t locked[] = {0xf0, 0xff, 0x08} /* lock dec dword [rax] */,
			     trap[] = {0x0f, 0x0b}, jump[] = {0xff, 0xe0} /* jmp rax */,
			     lea[] = {0x48, 0x8d, 0x05};
	uint64_t end = addr + len_of(token);

	switch (token) {
	case 'A':
	case 'C':
	case 'a':
		*at = token == 'a' ? 0xe9 : 0xe8;
		put_relative(at + 1, end, o.g.starts[token == 'C' ? 2 : 0]);
		break;
	case 'L':
		memcpy(at, locked, sizeof(locked));
		break;
	case 'J':
	case 'I':
		at[0] = token == 'J' ? 0xeb : 0x74;
		at[1] = (uint8_t)(to - end);
		break;
	case 'u':
		memcpy(at, trap, sizeof(trap));
		break;
	case 'x':
		memcpy(at, jump, sizeof(jump));
		break;
	case '.':
	case 'r':
		*at = token == 'r' ? 0xc3 : 0x90;
		break;
	default: /* a digit: the address of that variable to rax */
		memcpy(at, lea, sizeof(lea));
		put_relative(at + 3, end, VARIABLE + 0x10 * (uint64_t)(token - '0'));
	}
}

/* main.b's code: A and C call main.a and main.c, a jumps there, L is an instruction with a lock
 * prefix, J and I jump, or may, to the token whose letter from `a` on follows, 1 to 9 take a
 * variable's address, `u` ends the program. */
static void put_code(const char *text)
{
	uint8_t bytes[CODE_MAX];
	char tokens[TOKENS], to[TOKENS];
	uint64_t addr = o.g.starts[1];
	size_t count = 0;

	for (const char *at = text; *at; at++) {
		place[count] = addr;
		addr += len_of(*at);
		tokens[count] = *at;
		to[count++] = *at == 'J' || *at == 'I' ? *++at : 'a';
	}
	assert_true(addr <= o.g.starts[2]);
	memset(bytes, 0xcc, sizeof(bytes));
	for (size_t i = 0; i < count; i++)
		put_token(bytes + (place[i] - o.g.starts[1]), place[i], tokens[i],
			  place[to[i] - 'a']);
	elffile_bytes(o.g.f, o.g.starts[1], bytes, sizeof(bytes));
}

static void begin(const char *a, const char *c, const char *text)
{
	gofile_make(&o.g, 27, EM_X86_64);
	name_it(0, NAME_A, a);
	name_it(2, NAME_C, c);
	put_code(text);
}

static void open_code(void)
{
	open_it(&o);
	frames = (struct frames){.tab = o.tab, .img = o.img, .release = 27};
	code = release_code_new(&frames);
}

static void end(void)
{
	release_code_free(code);
	close_it(&o);
}

/* --- ways --- */

static void expect_at(const char *a, const char *c, const char *text, size_t token, unsigned want)
{
	begin(a, c, text);
	open_code();
	unsigned got = release_code_from(code, place[token], false);

	if (got != want)
		fail_msg("\"%s\" from %zu, %s, %s: %u, not %u", text, token, a, c, got, want);
	assert_int_equal(release_code_from(code, place[token], false), want);
	end();
}

static void expect(const char *text, unsigned want)
{
	expect_at(UNLOCK, LOCK, text, 0, want);
}

static void test_ways(void **state)
{
	(void)state;
	expect("..Ar", RELEASE_UNLOCKS);
	expect(".CAr", 0); /* what it has got since */
	expect(".CAAr", RELEASE_UNLOCKS);
	expect("CAr", 0); /* it is about to get it */
	expect("CAAr", RELEASE_UNLOCKS);
	expect(".IdCAr", RELEASE_UNLOCKS);
	expect(".IeCAr", 0);
	expect(".JdAAr", RELEASE_UNLOCKS);
	expect(".JdAr", 0);
	expect(".IdJar", 0);
	expect("..a", RELEASE_UNLOCKS);
	expect(".uAr", 0);
	expect(".rAr", 0);
	expect(".xAr", 0);
	expect("A.r", 0); /* it is in that call already */
	expect(".CCCAAAr", 0);
	expect(".CCAAAr", RELEASE_UNLOCKS);
	expect(".CCCCAAAr", 0); /* as many as are counted */
	expect(".CCCCAAAAr", RELEASE_UNLOCKS);
	expect_at(UNLOCK, LOCK, "A..r", 2, 0);
	expect_at(UNLOCK, LOCK, "C..Ar", 1, RELEASE_UNLOCKS);
	expect_at(UNLOCK, LOCK, "A.Ja", 1, RELEASE_UNLOCKS);
	expect_at("main.a", LOCK, ".Ar", 0, 0);
}

/* Of each function that is known: what code does that goes on to call it, that calls it before it
 * unlocks once, and twice; and what it does itself. */
static void test_names(void **state)
{
	enum { LOCKS = 16, ENDS = 32 };
	static const struct {
		const char *name;
		unsigned does;
	} rows[] = {
		{LOCK, LOCKS},
		{"internal/sync.(*Mutex).Lock", LOCKS},
		{"sync.(*RWMutex).Lock", LOCKS},
		{"sync.(*RWMutex).RLock", LOCKS},
		{"sync.(*Mutex).TryLock", LOCKS},
		{"internal/sync.(*Mutex).TryLock", LOCKS},
		{"sync.(*RWMutex).TryLock", LOCKS},
		{"sync.(*RWMutex).TryRLock", LOCKS},
		{UNLOCK, RELEASE_UNLOCKS},
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
		{"runtime.goexit1", ENDS},
		{"runtime.panicIndex", ENDS},
		{"runtime.goPanicIndex", ENDS},
		{"runtime.morestack_noctxt", ENDS},
		{"runtime.panicI", ENDS},
		{"runtime.printlock", 0},
		{"main.Lock", 0},
		/* the slow halves of what is inlined */
		{LOCK_SLOW, 0},
		{"internal/sync.(*Mutex).lockSlow", 0},
		{"sync.runtime_SemacquireMutex", 0},
		{"sync.runtime_SemacquireRWMutexR", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unsigned does = rows[i].does, told = does & ~(unsigned)(LOCKS | ENDS);

		expect_at(UNLOCK, rows[i].name, ".Cr", 0, told);
		expect_at(UNLOCK, rows[i].name, ".CAr", 0,
			  does & (LOCKS | ENDS) ? 0 : told | RELEASE_UNLOCKS);
		expect_at(UNLOCK, rows[i].name, ".CAAr", 0,
			  does & ENDS ? 0 : told | RELEASE_UNLOCKS);
		/* deferred */
		begin("main.a", rows[i].name, "r");
		open_code();
		assert_int_equal(release_code_from(code, o.g.starts[2], true), told);
		end();
	}
}

/* Of a deferred function, all of its code; of no function, nothing */
static void test_whole(void **state)
{
	(void)state;
	begin(UNLOCK, LOCK, "Ar");
	open_code();
	assert_int_equal(release_code_from(code, o.g.starts[1], true), RELEASE_UNLOCKS);
	assert_int_equal(release_code_from(code, o.g.starts[1], false), 0);
	assert_int_equal(release_code_from(code, o.g.starts[3] + 0x1000, false), 0);
	end();
	begin(UNLOCK, LOCK, "CAr");
	open_code();
	assert_int_equal(release_code_from(code, o.g.starts[1], true), 0);
	end();
}

/* --- inlined functions --- */

/* gofile.h's tree: main.inl1 from byte 4 on, in it main.inl2 from 24 to 44. */
static void expect_inlined(const char *text, const char *inl1, const char *inl2, unsigned want)
{
	begin(UNLOCK, LOCK, text);
	if (inl1) {
		elffile_bytes(o.g.f, GOFILE_TAB + GOFILE_NAMES + NAME_C, inl1, strlen(inl1) + 1);
		elffile_u32(o.g.f, GOFILE_TREE + 4, NAME_C);
	}
	if (inl2) {
		elffile_bytes(o.g.f, GOFILE_TAB + GOFILE_NAMES + NAME_C, inl2, strlen(inl2) + 1);
		elffile_u32(o.g.f, GOFILE_TREE + 16 + 4, NAME_C);
	}
	open_code();
	unsigned got = release_code_from(code, place[0], false);

	if (got != want)
		fail_msg("\"%s\", %s, %s: %u, not %u", text, inl1, inl2, got, want);
	end();
}

static void test_inlined(void **state)
{
#define TWENTY "...................."
	(void)state;
	expect_inlined("....Lr", UNLOCK, NULL, RELEASE_UNLOCKS);
	expect_inlined("....Lr", NULL, NULL, 0);
	expect_inlined("....Lr", "runtime.chansend1", NULL, 0);
	expect_inlined("..L...r", UNLOCK, NULL, 0); /* before it */
	expect_inlined("....LAr", LOCK, NULL, 0);
	expect_inlined("....LAAr", LOCK, NULL, RELEASE_UNLOCKS);
	expect_inlined("....L" TWENTY "Lr", UNLOCK, NULL, RELEASE_UNLOCKS);
	expect_inlined("...." TWENTY "Lr", UNLOCK, NULL, RELEASE_UNLOCKS); /* it has inl2 */
	expect_inlined("...." TWENTY "Lr", NULL, UNLOCK, RELEASE_UNLOCKS);
	expect_inlined("....Lr", NULL, UNLOCK, 0);
}

/* By the slow half that the instruction may lead to */
static void test_halves(void **state)
{
#define SIX "......"
	(void)state;
	expect_at(UNLOCK_SLOW, LOCK, "LIdrAr", 0, 0);
	expect_at(UNLOCK_SLOW, LOCK, ".LIerAr", 0, RELEASE_UNLOCKS);
	expect_at(UNLOCK_SLOW, LOCK, ".LIfArr", 0, RELEASE_UNLOCKS); /* behind the jump */
	expect_at(LOCK_SLOW, UNLOCK, ".LIeCrAr", 0, RELEASE_UNLOCKS);
	expect_at(LOCK_SLOW, UNLOCK, ".LIfCrAr", 0, 0);
	expect_at("main.a", LOCK, ".LIerAr", 0, 0);
	expect_at(UNLOCK_SLOW, LOCK, ".L." SIX "IlrAr", 0, RELEASE_UNLOCKS);
	expect_at(UNLOCK_SLOW, LOCK, ".L.." SIX "ImrAr", 0, 0);
	expect_at(UNLOCK_SLOW, LOCK, ".LIer." SIX "Ar", 0, RELEASE_UNLOCKS);
	expect_at(UNLOCK_SLOW, LOCK, ".LIer.." SIX "Ar", 0, 0);
	expect_at(UNLOCK_SLOW, LOCK, ".LIerCAr", 0, 0); /* another call before it */
	expect_at(UNLOCK_SLOW, LOCK, ".LIer", 0, 0);
	expect_at(UNLOCK_SLOW, LOCK, ".Lr", 0, 0);
}

/* --- variables --- */

/* `want`: digits of the variables that are unlocked */
static void expect_variables_at(const char *a, const char *c, const char *text, size_t token,
				const char *want)
{
	const uint64_t *addrs;
	char got[16] = "";

	begin(a, c, text);
	open_code();
	size_t count = release_code_variables(code, place[token], &addrs);

	for (size_t i = 0; i < count; i++)
		got[i] = (char)('0' + (addrs[i] - VARIABLE) / 0x10);
	if (strcmp(got, want) != 0)
		fail_msg("\"%s\" from %zu: \"%s\", not \"%s\"", text, token, got, want);
	end();
}

static void expect_variables(const char *a, const char *c, const char *text, const char *want)
{
	expect_variables_at(a, c, text, 0, want);
}

static void test_variables(void **state)
{
	(void)state;
	expect_variables(UNLOCK, LOCK, "..Ar", "");
	expect_variables(UNLOCK, LOCK, ".1Ar", "1");
	expect_variables(UNLOCK, LOCK, ".1A2Ar", "12");
	expect_variables(UNLOCK, LOCK, ".1A1Ar", "1");
	expect_variables(UNLOCK, LOCK, ".12Ar", "2");
	expect_variables(UNLOCK, LOCK, ".1C1Ar", "");
	expect_variables(UNLOCK, LOCK, ".1C2Ar", "2");
	expect_variables(UNLOCK, LOCK, "C1Ar", "1"); /* of which lock, is not known */
	expect_variables(UNLOCK, LOCK, ".1CAr", ""); /* another call has it */
	expect_variables(UNLOCK, LOCK, ".1JdAr", "");
	/* it is about to get it, or another */
	expect_variables_at(UNLOCK, LOCK, "1C1Ar", 1, "");
	expect_variables_at(UNLOCK, LOCK, "1C1A1Ar", 1, "1");
	expect_variables_at(UNLOCK, LOCK, "2C1Ar", 1, "1");
	expect_variables(UNLOCK, LOCK, ".1.......Ar", "1");
	expect_variables(UNLOCK, LOCK, ".1........Ar", "");
	expect_variables(UNLOCK, LOCK, "1A2A3A4A5A", "1234"); /* no more than four */
	/* where it is inlined: what its slow half is given */
	expect_variables(UNLOCK_SLOW, LOCK, ".LIer1Ar", "1");
	expect_variables(UNLOCK_SLOW, LOCK, ".1LIfrAr", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),   cmocka_unit_test(test_names),
		cmocka_unit_test(test_whole),  cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_halves), cmocka_unit_test(test_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "probespec/probespec.h"
#include "probespec_dump.h"
#include "unit.h"

static void check_dump(const char *probe, const char *expected)
{
	struct probespec spec;
	struct errmsg err = {0};

	if (probespec_parse(probe, false, &spec, &err))
		fail_msg("%s\n%s", probe, err.text);
	char *found = probespec_dump(&spec);

	if (strcmp(found, expected))
		fail_msg("%s\n%s\ninstead of\n%s", probe, found, expected);
	free(found);
	probespec_free(&spec);
}

static const struct {
	const char *probe, *expected;
} heads[] = {
	{"main.add", "p main.add"},
	{"  main.add\t\n", "p main.add"},
	{"app:main.add", "p app:main.add"},
	{"p:app:main.add", "p app:main.add"},
	{"r:app:main.add", "r app:main.add"},
	{"r:main.add", "r main.add"},
	{"r::main.add", "r :main.add"},
	{"p::main.add", "p :main.add"},
	{":main.add", "p :main.add"},
	{"./a,v:main.add", "p ./a,v:main.add"},
	{"./a:b/prog:main.*", "p ./a:b/prog:main.*"},
	{"main.(*Store).Get", "p main.(*Store).Get"},
	{"/opt/my\\ app:main.(*Store).*", "p /opt/my app:main.(*Store).*"},
	{"main.(*Sto*", "p main.(*Sto*"},
	{"main.(*Sto* (x)", "p main.(*Sto* if=x"},
	{"main.(*T)*", "p main.(*T)*"},
	{"*(*T).Do", "p *(*T).Do"},
	{"main.(*T).func1.(*U).f", "p main.(*T).func1.(*U).f"},
	{"main.(*T[...]).Do", "p main.(*T[...]).Do"},
	{"main.(*T[go.shape.struct { X int }]).Do (x)",
	 "p main.(*T[go.shape.struct { X int }]).Do if=x"},
	{"main.Map[go.shape.struct { X int }] \"x\"",
	 "p main.Map[go.shape.struct { X int }] \"x\""},
	{"main.Map[go.shape.struct { X int \"json:\\\"]\\\"\" }]",
	 "p main.Map[go.shape.struct { X int \"json:\\\"]\\\"\" }]"},
	{"main.Map[map[string]int](x int)", "p main.Map[map[string]int] sig=(x int)"},
	{"net/http.(*conn).serve.func1", "p net/http.(*conn).serve.func1"},
	{"app:type:.eq.main.T", "p app:type:.eq.main.T"},
	{"/usr/bin/etcd:go.etcd.io/etcd/server/v3/etcdserver.(*EtcdServer).Put",
	 "p /usr/bin/etcd:go.etcd.io/etcd/server/v3/etcdserver.(*EtcdServer).Put"},
	{"main.gr\xc3\xb6\xc3\x9f"
	 "e",
	 "p main.gr\xc3\xb6\xc3\x9f"
	 "e"},
	{"main.(*T).Get-fm", "p main.(*T).Get-fm"},
	{"main.glob..func1", "p main.glob..func1"},
	{"main.add\"x\"", "p main.add \"x\""},
	{"main.add (x)\"x\"", "p main.add if=x \"x\""},
	{"main.add(x int)\"x\"", "p main.add sig=(x int) \"x\""},
};

static void test_heads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		check_dump(heads[i].probe, heads[i].expected);
}

static const struct {
	const char *probe, *expected;
} signatures[] = {
	{"f()", "p f sig=()"},
	{"f(x int, y string)", "p f sig=(x int, y string)"},
	{"f(x, y int)", "p f sig=(x, y int)"},
	{"f(int)", "p f sig=(int)"},
	{"f(T)", "p f sig=(T)"},
	{"f(a ...interface{})", "p f sig=(a ...interface{})"},
	{"f(first int, others ...[]int)", "p f sig=(first int, others ...[]int)"},
	{"main.(*T).Get(key string)", "p main.(*T).Get sig=(key string)"},
	{"f(x int) int", "p f sig=(x int) int"},
	{"f(x int) *main.T (x > 1)", "p f sig=(x int) *main.T if=(> x 1)"},
	{"f(x int)int(x > 1)", "p f sig=(x int)int if=(> x 1)"},
	{"f(x int) []string \"x\"", "p f sig=(x int) []string \"x\""},
	{"f(x int) [4]map[string][]int", "p f sig=(x int) [4]map[string][]int"},
	{"f(x int) T", "p f sig=(x int) T"},
	{"f(x int) net/http.Header", "p f sig=(x int) net/http.Header"},
	{"f(x int) github.com/a-b/c.v2/d.T \"\"", "p f sig=(x int) github.com/a-b/c.v2/d.T \"\""},
	{"f(x int) main.Map[string, int] (x)", "p f sig=(x int) main.Map[string, int] if=x"},
	{"f(x int) func(int) (string, error) (x)",
	 "p f sig=(x int) func(int) (string, error) if=x"},
	{"f(x int) func(int) (x > 1)", "p f sig=(x int) func(int) if=(> x 1)"},
	{"f(x int) func() (err)", "p f sig=(x int) func() if=err"},
	{"f(x int) func() int (x)", "p f sig=(x int) func() int if=x"},
	{"f(x int) struct{ a int; b string } (x)",
	 "p f sig=(x int) struct{ a int; b string } if=x"},
	{"f(x int) interface{ Get() } (x)", "p f sig=(x int) interface{ Get() } if=x"},
	{"f(x int) (n int, err error)", "p f sig=(x int) (n int, err error)"},
	{"f(x int) (n, m int) (n)", "p f sig=(x int) (n, m int) if=n"},
	{"f(x int) (error)", "p f sig=(x int) (error)"},
	{"f(x int) (err)", "p f sig=(x int) if=err"},
	{"f(x int) (*p)", "p f sig=(x int) if=(deref p)"},
	{"f(x int) (*main.T)", "p f sig=(x int) (*main.T)"},
	{"f(x int) (int, *main.T, []byte) (x)", "p f sig=(x int) (int, *main.T, []byte) if=x"},
	{"f(x int) (a - b)", "p f sig=(x int) if=(- a b)"},
	{"f(x int) (a.x-b.y)", "p f sig=(x int) if=(- (. a x) (. b y))"},
	{"f(x int) (a.x/b)", "p f sig=(x int) if=(/ (. a x) b)"},
	{"f(x int) (len(x) > 1)", "p f sig=(x int) if=(> (len x) 1)"},
	{"f(x int) (x.ok == true)", "p f sig=(x int) if=(== (. x ok) true)"},
	{"f(x int) () (x.ok)", "p f sig=(x int) () if=(. x ok)"},
	{"f(x int)(x > 1) \"%d\",x", "p f sig=(x int) if=(> x 1) \"%d\" x"},
	{"f(c chan<- int, d <-chan int, e chan (<-chan int)) <-chan struct{} (x)",
	 "p f sig=(c chan<- int, d <-chan int, e chan (<-chan int)) <-chan struct{} if=x"},
	{"f(g func(a, b int) (c bool)) (func(int) int, chan error)",
	 "p f sig=(g func(a, b int) (c bool)) (func(int) int, chan error)"},
	{"f(x struct { s string \"tag:\\\")\\\"\" }) (x.s)",
	 "p f sig=(x struct { s string \"tag:\\\")\\\"\" }) (x.s)"},
};

static void test_signatures(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
		check_dump(signatures[i].probe, signatures[i].expected);
}

/* Each as a predicate of a return probe. */
static const struct {
	const char *expr, *expected;
} expressions[] = {
	{"1", "1"},
	{"0x1F", "31"},
	{"0o17", "15"},
	{"017", "15"},
	{"0b1_01", "5"},
	{"1_000", "1000"},
	{"0_7", "7"},
	{"10ms", "10000000"},
	{"1.5s", "1500000000"},
	{"0.5us", "500"},
	{"0s", "0"},
	{"2\u00b5s", "2000"},
	{"1m30s", "90000000000"},
	{"4KB", "4000"},
	{"4KiB", "4096"},
	{"x - 10ms", "(- x 10000000)"},
	{"x[1ns].s", "(. ([] x 1) s)"},
	{"0x_f", "15"},
	{"0", "0"},
	{"18446744073709551615", "18446744073709551615"},
	{"'a'", "97"},
	{"'\\n'", "10"},
	{"'\\''", "39"},
	{"'\\0'", "0"},
	{"'\\xff'", "255"},
	{"'\\u00e9'", "233"},
	{"'\xe4\xb8\x96'", "19990"},
	{"\"\"", "\"\""},
	{"\"a\\tb\\\"\\\\\"", "\"a\\x09b\\x22\\\""},
	{"\"\\x41\\101\\u00e9\\U0001F600\\e\\?\"", "\"AA\xc3\xa9\xf0\x9f\x98\x80\\x1b?\""},
	{"\"a\\0b\"", "\"a\\x00b\""},
	{"true", "true"},
	{"false", "false"},
	{"nil", "nil"},
	{"NULL", "nil"},
	{"x", "x"},
	{"x1_y", "x1_y"},
	{"gr\xc3\xb6\xc3\x9f"
	 "e",
	 "gr\xc3\xb6\xc3\x9f"
	 "e"},
	{"~r0", "~r0"},
	{"~b12", "~b12"},
	{"~r", "(~ r)"},
	{"~r0x", "(~ r0x)"},
	{"~(r0)", "(~ r0)"},
	{"goarg1", "P1:goarg1"},
	{"arg12", "P12:arg12"},
	{"goret2", "R2:goret2"},
	{"retval", "R1:retval"},
	{"goarg", "goarg"},
	{"goarg1x", "goarg1x"},
	{"argument", "argument"},
	{"$goid", "$goid"},
	{"$pid", "$pid"},
	{"$tid", "$tid"},
	{"$cpu", "$cpu"},
	{"$comm", "$comm"},
	{"$latency", "$latency"},
	{"$func", "$func"},
	{"$parent_goid", "$parent_goid"},
	{"$label(\"a b\\n\")", "$label:\"a b\\x0a\""},
	{"$traceid == \"\"", "(== $traceid \"\")"},
	{"len($traceid (r.ctx))", "(len {$traceid of:(. r ctx)})"},
	{"$ctx(\"main.k\")", "$ctx:\"main.k\""},
	{"$ctx(\"main.k\", 5).(*main.T).a", "(. (.() {$ctx:\"main.k\" key:5} *main.T) a)"},
	{"$ctx( r.ctx, \"main.k\", -5 )", "{$ctx:\"main.k\" of:(. r ctx) key:(- 5)}"},
	{"$ctx(x, \"k\", \"a\" )", "{$ctx:\"k\" of:x key:\"a\"}"},
	{"len($label( \"k\" )) > 1", "(> (len $label:\"k\") 1)"},
	{"$running + $runnable + $blocked + $syscall + $unknown",
	 "(+ (+ (+ (+ $running $runnable) $blocked) $syscall) $unknown)"},
	{"req.URL.Path", "(. (. req URL) Path)"},
	{"x.goarg1", "(. x goarg1)"},
	{"x.len", "(. x len)"},
	{"x.nil", "(. x nil)"},
	{"a[0]", "([] a 0)"},
	{"a[i+1][2].b", "(. ([] ([] a (+ i 1)) 2) b)"},
	{"a[i+1:n][2]", "([] ([:] a (+ i 1) n) 2)"},
	{"a[:n] == a[n:] || a[:]", "(|| (== ([:] a _ n) ([:] a n _)) ([:] a _ _))"},
	{"after", "after"},
	{"x.( *net/http.Request ).Method == \"a\"",
	 "(== (. (.() x *net/http.Request) Method) \"a\")"},
	{"*a.(main.Map[string, int])[1] . (error)",
	 "(deref (.() ([] (.() a main.Map[string, int]) 1) error))"},
	{"*p", "(deref p)"},
	{"**p", "(deref (deref p))"},
	{"*p.x", "(deref (. p x))"},
	{"(*p).x", "(. (deref p) x)"},
	{"len(x)", "(len x)"},
	{"len (x.y) + 1", "(+ (len (. x y)) 1)"},
	{"cap(x)", "(cap x)"},
	{"since(x.at)", "(since (. x at))"},
	{"len", "len"},
	{"STRCMP(\"GET\", req.Method)", "(STRCMP \"GET\" (. req Method))"},
	{"!hasprefix(req.Method, \"G\") && n", "(&& (! (hasprefix \"G\" (. req Method))) n)"},
	{"hasprefix", "hasprefix"},
	{"!STRCMP(\"a\\n\",x) && y", "(&& (! (STRCMP \"a\\x0a\" x)) y)"},
	{"-1", "(- 1)"},
	{"--1", "(- (- 1))"},
	{"!~-x", "(! (~ (- x)))"},
	{"a - b - c", "(- (- a b) c)"},
	{"a - (b - c)", "(- a (- b c))"},
	{"a * b + c * d", "(+ (* a b) (* c d))"},
	{"a + b * c % d / e", "(+ a (/ (% (* b c) d) e))"},
	{"a << 1 + b", "(<< a (+ 1 b))"},
	{"a < b == c > d", "(== (< a b) (> c d))"},
	{"a <= b != c >= d", "(!= (<= a b) (>= c d))"},
	{"a & 1 == 0", "(& a (== 1 0))"},
	{"a | b ^ c & d", "(| a (^ b (& c d)))"},
	{"a || b && c | d", "(|| a (&& b (| c d)))"},
	{"a && b || c && d", "(|| (&& a b) (&& c d))"},
	{"a >> 2 << 3", "(<< (>> a 2) 3)"},
	{"a * *p", "(* a (deref p))"},
	{"!a == b", "(== (! a) b)"},
	{"$err != nil", "(!= $err nil)"},
	{"req.Method==\"GET\"", "(== (. req Method) \"GET\")"},
	{"((x))", "x"},
};

static void test_expressions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expressions) / sizeof(expressions[0]); i++) {
		char *probe = mem_printf("r:f (%s)", expressions[i].expr);
		char *expected = mem_printf("r f if=%s", expressions[i].expected);

		check_dump(probe, expected);
		free(probe);
		free(expected);
	}
}

static const struct {
	const char *probe, *expected;
} formats[] = {
	{"f \"\"", "p f \"\""},
	{"f \"%d %d\", goarg1, goarg2", "p f \"%d %d\" P1:goarg1; P2:goarg2"},
	{"f \"%d %d\" goarg1, goarg2", "p f \"%d %d\" P1:goarg1; P2:goarg2"},
	{"f \"%d\" -x", "p f \"%d\" (- x)"},
	{"f \"%d\" *p, (x)", "p f \"%d\" (deref p); x"},
	{"f \"%d\" 7", "p f \"%d\" 7"},
	{"f \"%d\" $goid", "p f \"%d\" $goid"},
	{"f \"%d\",x", "p f \"%d\" x"},
	{"f \"%d\" , x", "p f \"%d\" x"},
	{"f \"%v\", goargs", "p f \"%v\" PARAMS"},
	{"r:f \"%v %v\", goargs ,gorets ", "r f \"%v %v\" PARAMS; RESULTS"},
	{"f (x > 1) \"a\\nb\\0c\", x + 1, len(y)",
	 "p f if=(> x 1) \"a\\x0ab\\x00c\" (+ x 1); (len y)"},
	{"f (x == \") \\\" (\") \"(\"", "p f if=(== x \") \\x22 (\") \"(\""},
	{"f \"%d\",\n\tx", "p f \"%d\" x"},
	{"r:app:main.(*Store).Get (err != nil) \"%s: %v after %d ns\", key, err, $latency",
	 "r app:main.(*Store).Get if=(!= err nil) \"%s: %v after %d ns\" key; err; "
	 "$latency"},
};

static void test_formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		check_dump(formats[i].probe, formats[i].expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

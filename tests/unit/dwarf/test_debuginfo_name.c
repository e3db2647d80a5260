// SPDX-License-Identifier: Apache-2.0
/* Names of types as debug information has them, and as Go prints them. */
#include "dwarf/debuginfo_internal.h"
#include "golang/gotype.h"
#include "steps.h"
#include "unit.h"

static struct debuginfo_package packages[] = {
	{.path = "a/b.c", .name = "bc"},
	{.path = "a/much", .name = "much-longer-than-its-path"},
	{.path = "gopkg.in/yaml.v2", .name = "yaml"},
	{.path = "plain", .name = "other"},
};

static const char *const names[] = {
	"int",
	"net/http.Request",
	"*net/http.Request",
	"map[string]net/http.Header",
	"map[net/url.URL]a/b.c.T",
	"gopkg.in/yaml%2ev2.Node",
	"gopkg.in/yaml.v2.Node",
	"gopkg.in/other.v2.Node",
	"a/b.c.T",
	"a/b.T",
	"a/much.T",
	"plain.T",
	"example.com/mod/v2.T",
	"example.com/v12.T",
	"example.com/v.T",
	"example.com/v2x.T",
	"v2.T",
	"example.com/go%2dx.T",
	"main.T\302\2671",
	"main.T\302\267",
	"T\302\2672",
	"\302\2672",
	"main.T12",
	"go.shape.int",
	"go.shape.int_0",
	"go.shape.int_12",
	"go.shape._1",
	"go.shape.a_",
	"go.shape.net/http.Request_3",
	"go.shape",
	"[]go.shape.string_0",
	"main.P[net/http.Request]",
	"main.P[go.shape.int_0,[]net/http.T].x",
	"main.P[main.Q[int],a/b.R] net/http.T",
	"struct { net/http.a int; net/http.B string }",
	"struct { a/b.T }",
	"struct { a/b.T; x c/d.U \"tag a/b.T\" }",
	"struct { a/b.T; c/d.U \"tag\" }",
	"struct { c/d.U `tag`; a/b.T }",
	"struct { x a/b.T `a/b.T \\` a/b` }",
	"struct {}",
	"func(net/http.Request, ...a/b.T) (net/url.URL, error)",
	"chan<- a/b.T",
	"<-chan a/b.T",
	"interface { a/b.m(); M() a/b.T }",
	"noalg.map.bucket[string]a/b.T",
	"noalg",
	"mapped[a/b.T]",
	"map",
	"map[a/b.T]",
	"-a.b/c.T",
	".a/b.T",
	"\"a/b.T",
	"\"a\\\"/b.T\" c/d.T",
	"[4]a/b.T",
	"a/b.\u00e9T",
	"{ a/b.x int}",
	"{ a/b.x }",
	"",
};

static void test_names(void **state)
{
	struct debuginfo dbg = {.types = gotypes_new(),
				.packages = packages,
				.package_count = sizeof(packages) / sizeof(*packages)};

	(void)state;
	debuginfo_sort_packages(&dbg);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		steps_are("%s", debuginfo_short_name(&dbg, names[i]));
	steps_expect("int; http.Request; *http.Request; map[string]http.Header; "
		     "map[url.URL]bc.T; yaml.Node; yaml.Node; other.v2.Node; bc.T; b.T; "
		     "much.T; other.T; mod.T; example.com.T; v.T; v2x.T; v2.T; go.T; "
		     "main.T; main.T·; T; ·2; main.T12; int; int; int; _1; a_; "
		     "http.Request; go.shape; []string; main.P[net/http.Request]; "
		     "main.P[go.shape.int_0,[]net/http.T].x; main.P[main.Q[int],a/b.R] "
		     "http.T; struct { a int; B string }; struct { b.T }; struct { b.T; x "
		     "d.U \"tag a/b.T\" }; struct { b.T; d.U \"tag\" }; struct { d.U `tag`; b.T }; "
		     "struct { x b.T `a/b.T \\` a/b` }; struct {}; "
		     "func(http.Request, ...b.T) (url.URL, error); chan<- b.T; <-chan b.T; "
		     "interface { b.m(); M() b.T }; map.bucket[string]b.T; noalg; "
		     "mapped[a/b.T]; map; map[b.T]; -c.T; .b.T; \"a/b.T; \"a\\\"/b.T\" d.T; "
		     "[4]b.T; b.éT; { x int}; { b.x }; ; ");
	dbg.package_count = 0;
	debuginfo_sort_packages(&dbg);
	steps_are("%s", debuginfo_short_name(&dbg, "gopkg.in/yaml.v2.Node"));
	steps_expect("yaml.v2.Node; ");
	gotypes_free(dbg.types);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "golang/gotype.h"
#include "golang/stdlib.h"
#include "unit.h"

static void test_text(void **state)
{
	struct gotypes *memory = gotypes_new();

	(void)state;
	assert_string_equal(stdlib_text(memory, "os.Open", 19), "(name string) (*os.File, error)");
	assert_string_equal(stdlib_text(memory, "os.FileMode", 15), "uint32");
	assert_null(stdlib_text(memory, "os.FileMod", 19));
	assert_null(stdlib_text(memory, "os.FileModes", 19));
	assert_null(stdlib_text(memory, "", 19));
	assert_null(stdlib_text(memory, "\xff", 19));
	assert_null(stdlib_text(memory, "os.Open", 14));
	/* as two releases have it */
	assert_string_equal(stdlib_text(memory, "net/url.encoding", 25), "int");
	assert_string_equal(stdlib_text(memory, "net/url.encoding", 26), "uint8");
	/* in a file that a build constraint may leave out */
	assert_string_equal(stdlib_text(memory, "net/http.(*http2Framer).WritePing", 26),
			    "(f *net/http.http2Framer, ack bool, data [8]byte) error");
	assert_null(stdlib_text(memory, "net/http.(*http2Framer).WritePing", 27));
	assert_string_equal(stdlib_text(memory, "net/http/internal/http2.(*Framer).WritePing", 27),
			    "(f *net/http/internal/http2.Framer, ack bool, data [8]byte) error");
	gotypes_free(memory);
}

static void test_forwarder(void **state)
{
	struct gotypes *memory = gotypes_new();
	struct stdlib_forwarder found;

	(void)state;
	assert_true(stdlib_forwarder(memory, "fmt.Println", "fmt.Fprintln", 22, &found));
	assert_string_equal(found.signature, "(a ...any) (n int, err error)");
	assert_string_equal(found.passes, "1=");
	assert_false(stdlib_forwarder(memory, "fmt.Println", "fmt.Fprint", 22, &found));
	assert_false(stdlib_forwarder(memory, "fmt.Println", "fmt.Fprintln", 14, &found));
	gotypes_free(memory);
}

/* Each row is found where its releases begin. */
static void check_all(const struct embedded_file *table)
{
	struct gotypes *memory = gotypes_new();
	unsigned rows = 0;

	for (const char *at = table->text; *at; at = strchr(at, '\n') + 1) {
		char line[2048], name[256], second[1024], third[256];
		struct stdlib_forwarder found;

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		if (*line == '#')
			continue;
		assert_int_equal(
			sscanf(line, "%255[^\t]\t%1023[^\t]\t%255[^\t]", name, second, third), 3);
		const char *releases = strrchr(line, '\t') + 1;
		int from = (int)strtol(releases, NULL, 10);

		if (!strcmp(third, releases))
			assert_string_equal(stdlib_text(memory, name, from), second);
		else
			assert_true(stdlib_forwarder(memory, name, third, from, &found));
		rows++;
	}
	assert_true(rows > 500);
	gotypes_free(memory);
}

static void test_all(void **state)
{
	(void)state;
	check_all(embedded_stdlib_signatures);
	check_all(embedded_stdlib_forwarders);
}

static void test_type(void **state)
{
	struct gotypes *memory = gotypes_new();
	struct stdlib_types types = {NULL, memory, 19};
	const struct gotype *type = stdlib_type(&types, "os.FileMode");

	(void)state;
	assert_non_null(type);
	assert_string_equal(type->name, "os.FileMode");
	assert_int_equal(type->kind, GOTYPE_UINT);
	assert_int_equal(type->size, 4);
	assert_true(type->defined);
	assert_null(stdlib_type(&types, "os.Mode"));
	/* a struct that is passed as it is, of parts that are types of others */
	type = stdlib_type(&types, "net/http.http2FrameHeader");
	assert_non_null(type);
	assert_int_equal(type->kind, GOTYPE_STRUCT);
	assert_int_equal(type->size, 12);
	assert_int_equal(type->field_count, 5);
	assert_string_equal(type->fields[4].name, "StreamID");
	assert_int_equal(type->fields[4].off, 8);
	gotypes_free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_forwarder),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

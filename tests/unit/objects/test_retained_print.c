// SPDX-License-Identifier: Apache-2.0
/* What keeps objects alive, as text and as JSON: chains that are made up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elffile.h"
#include "gostacks/goprocesses.h"
#include "objects/object_step_internal.h"
#include "objects/object_walk_internal.h"
#include "objects/retained_internal.h"
#include "program/program.h"
#include "unit.h"

enum { CHAINS = 40, NODE = OBJECT_FIRST, LEAF, SHOWN = 20 };

static struct elffile *file;
static struct program prog = {.release = 27};
static struct object_kind kinds[] = {{.name = "main.node"}, {.name = "main.leaf\x1b"}};
static struct object_walk walk;
static struct retained_chain chains[CHAINS];
static struct retained retained;
static char its_name[] = "ser\nver";
static const struct goprocesses_one one = {.pid = 181, .name = its_name};
static uint64_t first_addr; /* of the program's file */

/* in place of fields of types */
void object_step_print(FILE *out, const struct object_kind *kind, uint64_t step)
{
	if (step)
		fprintf(out, ".%c%d\n", kind->name[5], (int)step);
}

static int begin(void **state)
{
	struct errmsg err;
	size_t count;

	(void)state;
	file = elffile_new(EM_X86_64);
	prog.img = elffile_open(file, &err);
	assert_non_null(prog.img);
	first_addr = image_segments(prog.img, &count)[0].addr;
	walk = (struct object_walk){.prog = &prog, .kinds = {.all = kinds, .count = 2}};
	memset(chains, 0, sizeof(chains));
	retained = (struct retained){.chains = {.all = chains, .count = 1}};
	return 0;
}

static int end(void **state)
{
	(void)state;
	image_close(prog.img);
	elffile_free(file);
	return 0;
}

static struct retained_chain *add(uint32_t before, uint16_t kind, uint64_t step)
{
	struct retained_chain *chain = &chains[retained.chains.count++];

	chain->before = before;
	chain->depth = chains[before].depth + 1;
	chain->object.kind = kind;
	chain->step = step;
	return chain;
}

static uint32_t add_root(struct retained_root root)
{
	chains[retained.chains.count] = (struct retained_chain){.root = root};
	return retained.chains.count++;
}

static void sought(struct retained_chain *chain, uint64_t objects, uint64_t bytes, uint64_t kept,
		   uint64_t kept_bytes)
{
	chain->objects = objects;
	chain->bytes = bytes;
	chain->kept = kept;
	chain->kept_bytes = kept_bytes;
	chain->example = 0xc000 + bytes;
}

static char *print(const struct objects_look *look, size_t shown)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(retained_print(out, look, &one, &walk, &retained), shown);
	fclose(out);
	return text;
}

static void expect(const struct objects_look *look, size_t shown, const char *want)
{
	char *text = print(look, shown);

	assert_string_equal(text, want);
	free(text);
}

/* A variable -> node -> leaf, of a goroutine -> several, a variable without a name -> string */
static void make_ways(void)
{
	uint32_t root =
		add_root((struct retained_root){RETAINED_VARIABLE, 0x500, "main.cache\n", 0});

	add(root, NODE, 7)->repeated = true;
	sought(add(root + 1, LEAF, 2), 3, 96, 4, 128);
	root = add_root((struct retained_root){RETAINED_STACK, 0x600, "main.main", 12});
	chains[root].several = true;
	add(root, NODE, 0)->cut = true;
	struct retained_chain *unknown = add(root + 1, OBJECT_UNKNOWN, 0);

	unknown->object.size = 64;
	unknown->object.pointers = true;
	sought(add(root + 2, OBJECT_SEVERAL, 5), 1, 48, 1, 4096);
	root = add_root((struct retained_root){RETAINED_VARIABLE, first_addr + 0x500, NULL, 0});
	sought(add(root, OBJECT_STRING, 0), 2, 80, 2, 128);
	root = add_root((struct retained_root){RETAINED_STACK, 0x700, NULL, 13});
	sought(add(root, OBJECT_TINY, 0), 1, 16, 1, 16);
}

static void test_text(void **state)
{
	const struct objects_look look = {0}, second = {.has_printed = true};

	(void)state;
	make_ways();
	sought(&retained.unreached, 5, 500, 7, 0);
	sought(&retained.others, 6, 600, 6, 20);
	expect(&look, 6,
	       "181 ser\\nver (go1.27): 1340 bytes in 18 objects\n"
	       "without them, 4388 bytes in 21 objects would be garbage\n"
	       "    RETAINED        BYTES     OBJECTS EXAMPLE, AND WHAT KEEPS THEM\n"
	       "        4096           48           1 0xc030\n"
	       "        goroutine 12 and others, main.main\n"
	       "        main.node ...\n"
	       "        ? 64 bytes, with pointers\n"
	       "        ? pointers of several types lead to it\n"
	       "         128           96           3 0xc060\n"
	       "        variable main.cache\\n\n"
	       "        main.node .n2\\n (more than one)\n"
	       "        main.leaf\\x1b\n"
	       "         128           80           2 0xc050\n"
	       "        variable ser\\nver+0x500\n"
	       "        bytes of strings\n"
	       "          20          600           6 0xc258\n"
	       "        others: there are too many ways to them\n"
	       "          16           16           1 0xc010\n"
	       "        goroutine 13, in a frame that is not known\n"
	       "        blocks of 16 bytes, shared by small objects\n"
	       "           -          500           5 0xc1f4\n"
	       "        nothing that was found: garbage, until it is swept\n");
	retained = (struct retained){.chains = {.all = chains, .count = 1}};
	expect(&second, 0,
	       "\n181 ser\\nver (go1.27): 0 bytes in 0 objects\n"
	       "without them, 0 bytes in 0 objects would be garbage\n"
	       "    RETAINED        BYTES     OBJECTS EXAMPLE, AND WHAT KEEPS THEM\n");
}

#define ROW "{\"type\":\"retained\",\"pid\":181,"

static void test_json(void **state)
{
	const struct objects_look look = {.json = true, .has_printed = true};

	(void)state;
	make_ways();
	sought(&retained.unreached, 5, 500, 7, 0);
	sought(&retained.others, 6, 600, 6, 20);
	expect(&look, 6,
	       ROW "\"objects\":1,\"bytes\":48,\"retained_objects\":1,\"retained_bytes\":4096,"
		   "\"example\":49200,\"root\":\"stack\",\"goid\":12,\"others\":true,"
		   "\"func\":\"main.main\",\"path\":["
		   "{\"what\":\"type\",\"go_type\":\"main.node\",\"field\":null,\"cut\":true},"
		   "{\"what\":\"unknown\",\"go_type\":null,\"size\":64,\"pointers\":true,"
		   "\"field\":null},{\"what\":\"several\",\"go_type\":null}]}\n" ROW
		   "\"objects\":3,\"bytes\":96,\"retained_objects\":4,\"retained_bytes\":128,"
		   "\"example\":49248,\"root\":\"variable\",\"name\":\"main.cache\\n\","
		   "\"offset\":1280,\"path\":[{\"what\":\"type\",\"go_type\":\"main.node\","
		   "\"field\":\".n2\\n\",\"repeated\":true},"
		   "{\"what\":\"type\",\"go_type\":\"main.leaf\\u001b\"}]}\n" ROW
		   "\"objects\":2,\"bytes\":80,\"retained_objects\":2,\"retained_bytes\":128,"
		   "\"example\":49232,\"root\":\"variable\",\"name\":null,\"offset\":1280,"
		   "\"path\":[{\"what\":\"strings\",\"go_type\":null}]}\n" ROW
		   "\"objects\":6,\"bytes\":600,\"retained_objects\":6,\"retained_bytes\":20,"
		   "\"example\":49752,\"root\":\"others\"}\n" ROW
		   "\"objects\":1,\"bytes\":16,\"retained_objects\":1,\"retained_bytes\":16,"
		   "\"example\":49168,\"root\":\"stack\",\"goid\":13,\"others\":false,"
		   "\"func\":null,\"path\":[{\"what\":\"tiny\",\"go_type\":null}]}\n" ROW
		   "\"objects\":5,\"bytes\":500,\"retained_objects\":7,\"retained_bytes\":0,"
		   "\"example\":49652,\"root\":\"none\"}\n");
}

static void test_specials(void **state)
{
	const struct objects_look look = {0}, json = {.json = true};
	const enum retained_how hows[] = {RETAINED_FINALIZER, RETAINED_CLEANUP,
					  RETAINED_WEAK_POINTER};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		uint32_t root = add_root((struct retained_root){.how = hows[i]});

		sought(add(root, LEAF, 0), 1, 48, 1, 300 - i);
	}
	expect(&look, 3,
	       "181 ser\\nver (go1.27): 144 bytes in 3 objects\n"
	       "without them, 897 bytes in 3 objects would be garbage\n"
	       "    RETAINED        BYTES     OBJECTS EXAMPLE, AND WHAT KEEPS THEM\n"
	       "         300           48           1 0xc030\n"
	       "        finalizer\n"
	       "        main.leaf\\x1b\n"
	       "         299           48           1 0xc030\n"
	       "        cleanup\n"
	       "        main.leaf\\x1b\n"
	       "         298           48           1 0xc030\n"
	       "        weak pointer\n"
	       "        main.leaf\\x1b\n");
	char *text = print(&json, 3);

	assert_non_null(strstr(text, "\"root\":\"finalizer\",\"path\":[{"));
	assert_non_null(strstr(text, "\"root\":\"cleanup\",\"path\":[{"));
	assert_non_null(strstr(text, "\"root\":\"weak pointer\",\"path\":[{"));
	free(text);
}

/* As text, not all of them; garbage always */
static void test_many(void **state)
{
	const struct objects_look look = {0};
	uint32_t root = add_root((struct retained_root){RETAINED_VARIABLE, 0x500, "main.v", 0});

	(void)state;
	for (size_t i = 0; i < SHOWN + 2; i++)
		sought(add(root, LEAF, 0), 1, 100 + i, 1, 1000 - i);
	char *text = print(&look, SHOWN + 2);
	const char *rest = "and 241 bytes in 2 objects in other ways: -j has all\n";
	size_t lines = 0;

	for (const char *at = text; (at = strstr(at, "variable main.v\n")); at++)
		lines++;
	assert_int_equal(lines, SHOWN);
	assert_string_equal(text + strlen(text) - strlen(rest), rest);
	assert_null(strstr(text, " 120 "));
	free(text);
	sought(&retained.unreached, 1, 7, 0, 0);
	text = print(&look, SHOWN + 3);
	assert_non_null(
		strstr(text, "           -            7           1 0xc007\n        nothing"));
	assert_string_equal(text + strlen(text) - strlen(rest), rest);
	free(text);
}

static void expect_said(const char *want)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	retained_say(out, &walk, &retained);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void test_said(void **state)
{
	(void)state;
	expect_said("");
	retained.every_word = true;
	expect_said("goheap: which of its variables have pointers is not known: what looks like "
		    "one counts\n");
	retained.every_word = false;
	retained.chains.full = true;
	expect_said("goheap: there are too many ways to objects: some are not told apart\n");
	retained.chains.full = false;
	walk.gave_up = true;
	expect_said("goheap: not all pointers were followed: there are too many\n");
	walk.gave_up = false;
	walk.kinds.full = true;
	expect_said("goheap: there are too many types: some are unknown\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, begin, end),
		cmocka_unit_test_setup_teardown(test_json, begin, end),
		cmocka_unit_test_setup_teardown(test_many, begin, end),
		cmocka_unit_test_setup_teardown(test_specials, begin, end),
		cmocka_unit_test_setup_teardown(test_said, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* A parameter's words as a type, from what a table of arguments says: ( and ) for an aggregate, a
 * digit for a value of so many bytes at the next multiple of them, ? for one whose place is not
 * told, . for what is left out. */
#include <stdio.h>
#include <stdlib.h>

#include "abi/arginfo.h"
#include "abi/argtable_internal.h"
#include "steps.h"
#include "unit.h"

enum { NO_FLOAT = -1 };

static void parse(const char *text, struct arginfo *out)
{
	int16_t off = 0;

	*out = (struct arginfo){0};
	for (; *text; text++) {
		struct arginfo_item *item = &out->items[out->count++];
		uint8_t size = (uint8_t)(*text - '0');

		if (*text == '(')
			*item = (struct arginfo_item){.kind = ARGINFO_OPEN};
		else if (*text == ')')
			*item = (struct arginfo_item){.kind = ARGINFO_CLOSE};
		else if (*text == '.')
			*item = (struct arginfo_item){.kind = ARGINFO_MORE};
		else if (*text == '?')
			*item = (struct arginfo_item){.kind = ARGINFO_VALUE, .off = -1};
		else {
			off = (int16_t)((off + size - 1) / size * size);
			*item = (struct arginfo_item){ARGINFO_VALUE, size, off};
			off = (int16_t)(off + size);
		}
	}
}

static void print(FILE *out, const struct gotype *type)
{
	if (type->kind != GOTYPE_STRUCT && type->kind != GOTYPE_PAIR) {
		fprintf(out, "%lu/%u", type->size, type->align);
		return;
	}
	fprintf(out, "%s%lu/%u{", type->kind == GOTYPE_PAIR ? "pair " : "", type->size,
		type->align);
	for (size_t i = 0; i < type->field_count; i++) {
		fprintf(out, "%s%lu: ", i ? ", " : "", type->fields[i].off);
		print(out, type->fields[i].type);
	}
	fputc('}', out);
}

/* With a value in a floating-point register at this place: saved there by the function, or found
 * to be. */
static void say(const char *text, int saved, int found)
{
	struct evidence evidence = {.usual = ABI_REGISTERS};
	struct arginfo info;
	struct argtable table = {.info = &info, .evidence = &evidence, .memory = gotypes_new()};
	char *said;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	parse(text, &info);
	if (saved != NO_FLOAT) {
		evidence.spills.items[0] = (struct spill){ABI_INT, 0, 0, 8};
		evidence.spills.items[1] = (struct spill){ABI_FLOAT, 0, (uint32_t)saved, 8};
		evidence.spills.count = 2;
	}
	if (found != NO_FLOAT) {
		table.places.items[0] = 0;
		table.places.pieces[0] = (struct abi_piece){.where = ABI_INT};
		table.places.items[1] = (uint32_t)found; /* an item's number */
		table.places.pieces[1] = (struct abi_piece){.where = ABI_FLOAT};
		table.places.count = 2;
	}

	const struct gotype *type = argtable_words(&table, 0, info.count);

	if (type)
		print(out, type);
	fclose(out);
	steps_are("%s %s", text, type ? said : "-");
	free(said);
	gotypes_free(table.memory);
}

static void test_words(void **state)
{
	static const char *const rows[] = {"8",
					   "(8)",
					   "(88)",
					   "(44)",
					   "(888)",
					   "((88)8)",
					   "(8(88))",
					   "((8)8)",
					   "(84)",
					   "(48)",
					   "(1(88))",
					   "(8())",
					   "(()8)",
					   "(())",
					   "()",
					   "(8.)",
					   "(.)",
					   "(8.(8))",
					   "((.)8)",
					   "(8?)",
					   "?",
					   "(8(?))",
					   ")",
					   "(8))",
					   "((8)(8)(8))",
					   "((((((((8))))))))",
					   "(((((((((8)))))))))",
					   "(((((((((8))))))))(8))",
					   "(1(2(4(8))))",
					   "(8(88)(88))",
					   "8(88)",
					   "(88)8"};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say(rows[i], NO_FLOAT, NO_FLOAT);
	steps_expect("8 -; (8) 8/1{0: 8/8}; (88) pair 16/1{0: 8/8, 8: 8/8}; (44) 8/1{0: "
		     "4/4, 4: 4/4}; (888) 24/1{0: 8/8, 8: 8/8, 16: 8/8}; ((88)8) 24/1{0: "
		     "pair 16/1{0: 8/8, 8: 8/8}, 16: 8/8}; (8(88)) 24/1{0: 8/8, 8: pair "
		     "16/1{0: 8/8, 8: 8/8}}; ((8)8) 16/1{0: 8/1{0: 8/8}, 8: 8/8}; (84) "
		     "12/1{0: 8/8, 8: 4/4}; (48) 16/1{0: 4/4, 8: 8/8}; (1(88)) 24/1{0: 1/1, "
		     "8: pair 16/1{0: 8/8, 8: 8/8}}; (8()) 8/1{0: 8/8, 8: 0/1{}}; (()8) "
		     "8/1{0: 0/1{}, 0: 8/8}; (()) 0/1{0: 0/1{}}; () 0/1{}; (8.) 8/1{0: 8/8, "
		     "8: 0/0}; (.) 0/1{0: 0/0}; (8.(8)) 16/1{0: 8/8, 8: 0/0, 8: 8/1{0: "
		     "8/8}}; ((.)8) 8/1{0: 0/1{0: 0/0}, 0: 8/8}; (8?) -; ? -; (8(?)) -; ) "
		     "-; (8)) -; ((8)(8)(8)) 24/1{0: 8/1{0: 8/8}, 8: 8/1{0: 8/8}, 16: "
		     "8/1{0: 8/8}}; ((((((((8)))))))) 8/1{0: 8/1{0: 8/1{0: 8/1{0: 8/1{0: "
		     "8/1{0: 8/1{0: 8/1{0: 8/8}}}}}}}}; (((((((((8))))))))) -; "
		     "(((((((((8))))))))(8)) -; (1(2(4(8)))) 16/1{0: 1/1, 2: 14/1{0: 2/2, "
		     "2: 12/1{0: 4/4, 4: 8/1{0: 8/8}}}}; (8(88)(88)) 40/1{0: 8/8, 8: pair "
		     "16/1{0: 8/8, 8: 8/8}, 24: pair 16/1{0: 8/8, 8: 8/8}}; 8(88) pair "
		     "16/1{0: 8/8, 8: 8/8}; (88)8 pair 16/1{0: 8/8, 8: 8/8}; ");
}

/* Which of two pairs has it? (88)(88): their words are at 0, 8, 16 and 24, items 2, 3, 6 and 7. */
static void test_floats(void **state)
{
	static const int values[] = {2, 3, 6, 7};

	(void)state;
	for (int at = 0; at <= 32; at += 8)
		say("((88)(88))", at, NO_FLOAT);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		say("((88)(88))", NO_FLOAT, values[i]);
	steps_expect("((88)(88)) 32/1{0: 16/1{0: 8/8, 8: 8/8}, 16: pair 16/1{0: 8/8, 8: "
		     "8/8}}; ((88)(88)) 32/1{0: 16/1{0: 8/8, 8: 8/8}, 16: pair 16/1{0: 8/8, "
		     "8: 8/8}}; ((88)(88)) 32/1{0: pair 16/1{0: 8/8, 8: 8/8}, 16: 16/1{0: "
		     "8/8, 8: 8/8}}; ((88)(88)) 32/1{0: pair 16/1{0: 8/8, 8: 8/8}, 16: "
		     "16/1{0: 8/8, 8: 8/8}}; ((88)(88)) 32/1{0: pair 16/1{0: 8/8, 8: 8/8}, "
		     "16: pair 16/1{0: 8/8, 8: 8/8}}; ((88)(88)) 32/1{0: 16/1{0: 8/8, 8: "
		     "8/8}, 16: pair 16/1{0: 8/8, 8: 8/8}}; ((88)(88)) 32/1{0: 16/1{0: 8/8, "
		     "8: 8/8}, 16: pair 16/1{0: 8/8, 8: 8/8}}; ((88)(88)) 32/1{0: pair "
		     "16/1{0: 8/8, 8: 8/8}, 16: 16/1{0: 8/8, 8: 8/8}}; ((88)(88)) 32/1{0: "
		     "pair 16/1{0: 8/8, 8: 8/8}, 16: 16/1{0: 8/8, 8: 8/8}}; ");
}

/* --- which types they fit --- */

/* A digit is an integer of so many bytes, s a string, e an interface, l a slice, c a complex128,
 * An an array of n of what follows, and in brackets stands a struct. */
static const struct gotype *type_of(struct gotypes *memory, const char **text)
{
	static const struct {
		char letter;
		enum gotype_kind kind;
		uint64_t size;
	} kinds[] = {{'s', GOTYPE_STRING, 16}, {'e', GOTYPE_INTERFACE, 16},
		     {'l', GOTYPE_SLICE, 24},  {'c', GOTYPE_COMPLEX, 16},
		     {'A', GOTYPE_ARRAY, 0},   {'(', GOTYPE_STRUCT, 0}};
	char letter = *(*text)++;
	struct gotype *type = gotypes_add(memory, GOTYPE_INT, "");

	type->size = (uint64_t)(letter - '0');
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].letter == letter) {
			type->kind = kinds[i].kind;
			type->size = kinds[i].size;
		}
	if (letter == 'A') {
		type->count = (uint64_t)(*(*text)++ - '0');
		type->elem = type_of(memory, text);
	}
	if (letter == '(') {
		type->fields = gotypes_alloc(memory, 8, sizeof(*type->fields));
		while (**text != ')')
			type->fields[type->field_count++].type = type_of(memory, text);
		++*text;
	}
	return type;
}

/* A row for each list of items: 1 where it is the type in that column */
static void test_fits(void **state)
{
	static const char *const types[] = {"8",         "4",           "s",
					    "e",         "l",           "c",
					    "(8)",       "(88)",        "(888)",
					    "(s)",       "(8s)",        "(s8)",
					    "A18",       "A28",         "A38",
					    "A2s",       "A08",         "()",
					    "((((8))))", "(((((8)))))", "((((((8))))))",
					    "(((A18)))", "(((s)))",     "((((s))))"};
	static const char *const items[] = {
		"8",         "4",           "?",           "(8)",     "(88)",       "(888)",
		"(8888)",    "()",          "(.)",         "(8.)",    "(88.)",      "(8?)",
		"((88))",    "(8(88))",     "((88)8)",     "((88).)", "((88)(88))", "((((8))))",
		"((((.))))", "(((((.)))))", "(((((8)))))", "(((8)))", "((((88))))", "(((88)))"};

	(void)state;
	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
		char row[sizeof(types) / sizeof(*types) + 1] = "";
		struct arginfo info;

		parse(items[i], &info);
		for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++) {
			struct gotypes *memory = gotypes_new();
			const char *text = types[k];

			row[k] = arginfo_fits(&info, 0, type_of(memory, &text)) ? '1' : '0';
			gotypes_free(memory);
		}
		steps_are("%s %s", items[i], row);
	}
	steps_expect("8 100000000000000000000000; 4 010000000000000000000000; ? "
		     "110000000000000000000000; (8) 000000100000100000000000; (88) "
		     "001101010000010000000000; (888) 000010001000001000000000; (8888) "
		     "000000000000000000000000; () 000000000000000011000000; (.) "
		     "001111111111111100111111; (8.) 001111011010011000000000; (88.) "
		     "000010001000001000000000; (8?) 001101010000010000000000; ((88)) "
		     "000000000100000000000000; (8(88)) 000000000010000000000000; ((88)8) "
		     "000000000001000000000000; ((88).) 000000000001000100000000; "
		     "((88)(88)) 000000000000000100000000; ((((8)))) "
		     "000000000000000000100100; ((((.)))) 000000000000000000111111; "
		     "(((((.))))) 000000000000000000011001; (((((8))))) "
		     "000000000000000000000000; (((8))) 000000000000000000000000; "
		     "((((88)))) 000000000000000000000010; (((88))) "
		     "000000000000000000000000; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

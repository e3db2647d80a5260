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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_floats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Texts as tracebacks print labels: each character by itself, and which texts need no quotes. */
#include <stdio.h>
#include <string.h>

#include "golang/quoted.h"
#include "printed.h"
#include "unit.h"

static void test_characters(void **state)
{
	(void)state;
	printed_begin();
	for (unsigned c = 0; c < 256; c++) {
		char text = (char)c;

		quoted_print(stdout, &text, 1);
		fputs(c % 16 == 15 ? "\n" : " ", stdout);
	}
	printed_expect(
		"\"\\x00\" \"\\x01\" \"\\x02\" \"\\x03\" \"\\x04\" \"\\x05\" \"\\x06\" \"\\x07\" "
		"\"\\x08\" \"\\t\" \"\\n\" \"\\x0b\" \"\\x0c\" \"\\r\" \"\\x0e\" \"\\x0f\"\n"
		"\"\\x10\" \"\\x11\" \"\\x12\" \"\\x13\" \"\\x14\" \"\\x15\" \"\\x16\" \"\\x17\" "
		"\"\\x18\" \"\\x19\" \"\\x1a\" \"\\x1b\" \"\\x1c\" \"\\x1d\" \"\\x1e\" \"\\x1f\"\n"
		"\" \" \"!\" \"\\\"\" \"#\" \"$\" \"%\" \"&\" \"'\" \"(\" \")\" \"*\" \"+\" \",\" "
		"\"-\" . /\n"
		"0 1 2 3 4 5 6 7 8 9 \":\" \";\" \"<\" \"=\" \">\" \"?\"\n"
		"\"@\" A B C D E F G H I J K L M N O\n"
		"P Q R S T U V W X Y Z \"[\" \"\\\\\" \"]\" \"^\" _\n"
		"\"`\" a b c d e f g h i j k l m n o\n"
		"p q r s t u v w x y z \"{\" \"|\" \"}\" \"~\" \"\\u007f\"\n"
		"\"\\x80\" \"\\x81\" \"\\x82\" \"\\x83\" \"\\x84\" \"\\x85\" \"\\x86\" \"\\x87\" "
		"\"\\x88\" \"\\x89\" \"\\x8a\" \"\\x8b\" \"\\x8c\" \"\\x8d\" \"\\x8e\" \"\\x8f\"\n"
		"\"\\x90\" \"\\x91\" \"\\x92\" \"\\x93\" \"\\x94\" \"\\x95\" \"\\x96\" \"\\x97\" "
		"\"\\x98\" \"\\x99\" \"\\x9a\" \"\\x9b\" \"\\x9c\" \"\\x9d\" \"\\x9e\" \"\\x9f\"\n"
		"\"\\xa0\" \"\\xa1\" \"\\xa2\" \"\\xa3\" \"\\xa4\" \"\\xa5\" \"\\xa6\" \"\\xa7\" "
		"\"\\xa8\" \"\\xa9\" \"\\xaa\" \"\\xab\" \"\\xac\" \"\\xad\" \"\\xae\" \"\\xaf\"\n"
		"\"\\xb0\" \"\\xb1\" \"\\xb2\" \"\\xb3\" \"\\xb4\" \"\\xb5\" \"\\xb6\" \"\\xb7\" "
		"\"\\xb8\" \"\\xb9\" \"\\xba\" \"\\xbb\" \"\\xbc\" \"\\xbd\" \"\\xbe\" \"\\xbf\"\n"
		"\"\\xc0\" \"\\xc1\" \"\\xc2\" \"\\xc3\" \"\\xc4\" \"\\xc5\" \"\\xc6\" \"\\xc7\" "
		"\"\\xc8\" \"\\xc9\" \"\\xca\" \"\\xcb\" \"\\xcc\" \"\\xcd\" \"\\xce\" \"\\xcf\"\n"
		"\"\\xd0\" \"\\xd1\" \"\\xd2\" \"\\xd3\" \"\\xd4\" \"\\xd5\" \"\\xd6\" \"\\xd7\" "
		"\"\\xd8\" \"\\xd9\" \"\\xda\" \"\\xdb\" \"\\xdc\" \"\\xdd\" \"\\xde\" \"\\xdf\"\n"
		"\"\\xe0\" \"\\xe1\" \"\\xe2\" \"\\xe3\" \"\\xe4\" \"\\xe5\" \"\\xe6\" \"\\xe7\" "
		"\"\\xe8\" \"\\xe9\" \"\\xea\" \"\\xeb\" \"\\xec\" \"\\xed\" \"\\xee\" \"\\xef\"\n"
		"\"\\xf0\" \"\\xf1\" \"\\xf2\" \"\\xf3\" \"\\xf4\" \"\\xf5\" \"\\xf6\" \"\\xf7\" "
		"\"\\xf8\" \"\\xf9\" \"\\xfa\" \"\\xfb\" \"\\xfc\" \"\\xfd\" \"\\xfe\" "
		"\"\\xff\"\n");
}

static void test_texts(void **state)
{
	static const char *const texts[] = {
		"",           "a.b/c_D9",   "two words", "\u00e9", "\xc2\x80",  "\uffff",
		"\U00010000", "\U0010ffff", "a\xff\xfe", "\xc3",   "tab\there", "q\"\\",
	};

	(void)state;
	printed_begin();
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		quoted_print(stdout, texts[i], strlen(texts[i]));
		putchar('\n');
	}
	quoted_print(stdout, "cut here", 3);
	printed_expect("\n"
		       "a.b/c_D9\n"
		       "\"two words\"\n"
		       "\"\\u00e9\"\n"
		       "\"\\u0080\"\n"
		       "\"\\uffff\"\n"
		       "\"\\U00010000\"\n"
		       "\"\\U0010ffff\"\n"
		       "\"a\\xff\\xfe\"\n"
		       "\"\\xc3\"\n"
		       "\"tab\\there\"\n"
		       "\"q\\\"\\\\\"\n"
		       "cut");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tables whose keys or values have many fields.
 *
 * libbcc makes functions that print and scan each table's key and value, field by field, and an
 * element of an array is a field: for a value of thousands of them that takes longer than all the
 * rest of compiling, and nobody calls these functions. libbcc looks for the table by its name in
 * the compiled module, and makes none for a table that it does not find. So the compiled name is
 * another one; in C, and by what libbcc's functions of tables say, the name stays.
 */
#ifndef NO_TEXT

/* before the definition of the table `name` */
#define NO_TEXT(name)                                                                              \
	struct name##_table_t;                                                                     \
	extern struct name##_table_t name __asm__("table." #name)

#endif

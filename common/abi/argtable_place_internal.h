/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `argtable`: where parameters are passed if the function saves none of them. All
 * ways to pass values of these sizes at these offsets by Go's rules are tried: each value of four
 * or eight bytes may be a floating-point number, each aggregate may hold an array, which is passed
 * on the stack. What the code reads must be a parameter. If one way is left, it is the right one;
 * if several are, the plainest is taken as a guess: integers in their order. */
#ifndef ARGTABLE_PLACE_INTERNAL_H
#define ARGTABLE_PLACE_INTERNAL_H

#include "abi/abi.h"

struct arginfo;
struct argreads;

enum { ARGTABLE_VALUES = 12 }; /* the compiler tells of ten */

struct argtable_places {
	size_t items[ARGTABLE_VALUES]; /* indices of the values among the table's items */
	struct abi_piece pieces[ARGTABLE_VALUES];
	uint8_t how[ARGTABLE_VALUES]; /* enum goparam_place: UNPLACED, GUESSED, READ */
	size_t count;
};

struct argtable_asked {
	const struct arginfo *info;
	const struct argreads *reads;
	enum arch arch;
	int32_t args;    /* functab_args_size(); negative: not known */
	unsigned hidden; /* words passed in integer registers before the first item */
};

void argtable_place(const struct argtable_asked *asked, struct argtable_places *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A selection as gofuncs shows it:
 *   main.add
 *       at       0x47b0a0 file offset 0x7b0a0, 96 bytes, /src/x.go:12
 *       args     a int (rax), b int (rbx)
 *       results  ~r0 int (rax)
 *       types    debug information
 *       entry    0x47b0ae after-check, emulated
 *       return   0x47b0f0 ret, stepped
 *       inlined  0x47b1c2 in main.main, /src/x.go:33
 */
#ifndef FUNCLIST_H
#define FUNCLIST_H

#include <stdbool.h>
#include <stdio.h>

struct selection;

enum funclist_style { FUNCLIST_NAMES, FUNCLIST_DETAILS, FUNCLIST_JSON };

/* One entry for each row, sorted by name. Rows without a function (all their copies are inlined)
 * are left out when `functions_only`. Returns how many functions and copies are missing, as the
 * list was longer than that of a program of this size is. */
size_t funclist_print(FILE *out, const struct selection *sel, enum funclist_style style,
		      bool functions_only);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room elf uses of corefile. */
#ifndef COREFILE_INTERNAL_H
#define COREFILE_INTERNAL_H

#include "elf/corefile.h"

/* A value that the kernel gave the program (AT_...: getauxval(3)); false: it has none such. */
bool corefile_auxv(const struct corefile *core, uint64_t type, uint64_t *value);
/* Where mapping `number` of a file began, and at which offset of the file; false: there are fewer.
 */
bool corefile_mapping(const struct corefile *core, size_t number, uint64_t *addr, uint64_t *off);

#endif

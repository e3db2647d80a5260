/* SPDX-License-Identifier: Apache-2.0 */
/* gc's descriptors. They refer to each other, and to names, by offsets. Format: Go's
 * src/internal/abi/type.go, src/reflect/type.go. */
#ifndef TYPEDESC_GC_H
#define TYPEDESC_GC_H

#include "program/typedesc.h"

extern const struct typedesc_dialect typedesc_gc;

/* the name at an offset from the module's types; false: malformed, or none */
bool typedesc_name(const struct typedesc_module *mod, int32_t off, struct typedesc_text *out);
/* Two bytes of the name of the descriptor at `addr`: flags, and where its length begins; NULL: none
 */
const uint8_t *typedesc_name_bytes(const struct typedesc_module *mod, uint64_t addr);
/* the address that an offset of a type stands for; 0: none */
uint64_t typedesc_resolve(const struct typedesc_module *mod, int32_t off);

/* i32 and u64 `index` of an array */
int32_t typedesc_i32(const uint8_t *array, size_t index);
uint64_t typedesc_u64(const uint8_t *array, size_t index);

#endif

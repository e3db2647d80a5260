/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzzer offers: libFuzzer's entry point, and inputs that mutator.c may start from. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct image;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Opens the input as a file's content, and calls walk if it is an image. Returns 0. */
int fuzz_image_file(const uint8_t *data, size_t size, void (*walk)(const struct image *img));

/* From now on this file, which has the given bytes, changes between reads; fd -1: none does. */
void fuzz_change(int fd, const uint8_t *data, size_t size);

/* Seed `index` as memory that the caller frees; NULL when there are no more. A fuzzer may leave
 * it undefined: then it starts from random bytes. */
uint8_t *fuzz_seed(unsigned index, size_t *size) __attribute__((weak));

#endif

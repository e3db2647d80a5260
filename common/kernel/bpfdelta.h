/* SPDX-License-Identifier: Apache-2.0 */
/* A BPF hash of counts that only grow: what each has grown by since it was read last. */
#ifndef BPFDELTA_H
#define BPFDELTA_H

#include <stdint.h>

struct bpfdelta;

/* `fd`: of a hash whose values are u64. Never NULL; caller frees. */
struct bpfdelta *bpfdelta_new(int fd);
void bpfdelta_free(struct bpfdelta *delta); /* NULL is all right */

/* Calls fn (NULL: nobody) for each key whose count has grown, and by how much. 0, or -1 with errno.
 */
int bpfdelta_each(struct bpfdelta *delta, void (*fn)(void *ctx, const void *key, uint64_t more),
		  void *ctx);

#endif

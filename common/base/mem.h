/* SPDX-License-Identifier: Apache-2.0 */
/* Memory allocation that never fails: if memory runs out, it ends the program. This is handled
 * nowhere else. */
#ifndef MEM_H
#define MEM_H

#include <stdarg.h>
#include <stddef.h>

/* All of these return memory that the caller frees with free(); none returns NULL.
 * When memory is exhausted they print one line on stderr and exit with status 1. */
void *mem_alloc(size_t size);                /* not cleared */
void *mem_zalloc(size_t count, size_t size); /* cleared; count * size may not overflow */
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Room in `items` (NULL at first) for one more than `count` items of `size` bytes; *cap is kept
 * by this function alone and starts at 0. Returns the array, moved or not. */
void *mem_grow(void *items, size_t count, size_t *cap, size_t size);

#endif

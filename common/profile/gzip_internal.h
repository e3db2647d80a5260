/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GZIP_INTERNAL_H
#define GZIP_INTERNAL_H

#include <stddef.h>

/* The same compressed, as gzip(1) does (RFC 1952): malloc'd, of *out_len bytes. NULL: zlib refuses.
 */
void *gzip(const void *bytes, size_t len, size_t *out_len);

#endif

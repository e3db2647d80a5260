/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room sites uses of goruntime. */
#ifndef GORUNTIME_INTERNAL_H
#define GORUNTIME_INTERNAL_H

#include "sites/goruntime.h"

/* The same as goruntime_read() for a gccgo program or libgo.so, as far as the runtime is in the
 * file itself. */
void goruntime_read_gccgo(const struct program *prog, struct site_finder *finder,
			  struct goruntime *out);
/* tls_g or tls_word, g_m and m_curg from runtime.systemstack; fields not found stay as they are. */
bool goruntime_parse_systemstack(const struct insn_code *code, struct goruntime *out);
/* g_goid from runtime.goroutineheader, which prints it first of all numbers: `is_print` tells the
 * functions that print one. */
bool goruntime_parse_header(const struct insn_code *code, bool in_register,
			    bool (*is_print)(uint64_t addr, void *ctx), void *ctx, uint32_t *goid);
/* The same two from arm64 code. g_m, m_g0 and m_curg, and g_goid. */
bool goruntime_parse_systemstack_arm64(const struct insn_code *code, struct goruntime *out);
bool goruntime_parse_header_arm64(const struct insn_code *code, bool in_register,
				  bool (*is_print)(uint64_t addr, void *ctx), void *ctx,
				  uint32_t *goid);
/* g_goid from gccgo's runtime.goroutineheader: the first field of g that it passes on. */
bool goruntime_parse_gccgo(const struct insn_code *code, uint32_t *goid);
/* g_gopc and g_parent_goid from runtime.newproc1; needs g_goid. false: both stay as they are. */
bool goruntime_parse_newproc(const struct insn_code *code, struct goruntime *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where variables of Go's runtime are, by the code that uses them, so that no symbols are
 * needed. Addresses are with load bias 0. */
#ifndef RUNTIME_VARS_H
#define RUNTIME_VARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct goruntime;
struct insn_code;
struct memory;
struct program;

enum { WAIT_REASONS = 64 }; /* more than any release has */

/* runtime.allgs, the slice of all goroutines; false: not found */
bool runtime_vars_allgs(const struct program *prog, uint64_t *addr);

/* Where struct g has trackingSeq, a byte, by the code of runtime.casgstatus, which counts there how
 * often the goroutine has left off running (from Go 1.17 on; modulo 256); 0: not found. */
uint32_t runtime_vars_tracking_seq(const struct program *prog, const struct goruntime *rt);

/* Where runtime.semtable may be: one of the addresses that runtime.semacquire1 takes. Returns how
 * many there are. */
enum { SEMTABLES_MAX = 16 };
size_t runtime_vars_semtables(const struct program *prog, uint64_t addrs[SEMTABLES_MAX]);

/* The texts of runtime.waitReasonStrings, NULL where there is none; false: not found. The caller
 * frees the texts. */
bool runtime_vars_wait_reasons(const struct program *prog, const struct memory *mem, uint64_t bias,
			       char *reasons[WAIT_REASONS]);
/* the same, as they stand in the program's file */
bool runtime_vars_wait_reasons_of(const struct program *prog, char *reasons[WAIT_REASONS]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures and types of Go's standard library, which programs do not tell once they are stripped.
 * The list is common/golang/signatures.txt, made from Go's sources by tests/forwarders/table. */
#ifndef GOLIBRARY_H
#define GOLIBRARY_H

struct gotypes;

/* "(name string) (*os.File, error)" of "os.Open", a method's receiver first; "uint32" of
 * "os.FileMode"; in Go 1.MINOR. Memory of `memory`. NULL: not known. */
const char *golibrary_text(struct gotypes *memory, const char *name, int minor);

#endif

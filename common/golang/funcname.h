/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the name of a function apart: "net/http.(*Server).Serve", "main.Stack[int].Push",
 * "main.Map[go.shape.int,go.shape.string].func1". Format: Go's src/cmd/compile, types/sym.go and
 * ir/func.go. */
#ifndef FUNCNAME_H
#define FUNCNAME_H

#include <stdbool.h>
#include <stddef.h>

struct funcname {
	size_t package_len;   /* "net/http": its length; 0: the name has no package */
	const char *receiver; /* where the receiver's type stands, "Server", "Stack[int]"; NULL */
	size_t receiver_len;
	bool pointer; /* the receiver is a pointer to that type */
	bool closure; /* a function literal, a wrapper of go or defer, a method value, or made for a
		       * type by the compiler */
	bool generic; /* has type arguments */
	bool shapes;  /* these are shapes, so that a dictionary is passed: not to a closure, which
		       * has it captured */
};

/* "main.T.M" may be either: a method M of T, or (where M looks like func1) a closure in T, for
 * which it is taken. */
void funcname_parse(const char *name, struct funcname *out);

/* As Go's own tracebacks print it since there are type arguments: main.Map[...], to be freed. Of
 * generic methods of generic types main.(*T[...]).M[...]. Src/runtime/traceback.go,
 * funcNamePiecesForPrint. */
char *funcname_short(const char *name);

/* The name without its package's path: "http.(*Server).Serve" of "net/http.(*Server).Serve"; of a
 * path that ends in a version "raft/v3.Campaign". Points into `name`. */
const char *funcname_without_path(const char *name);

/* Is a goroutine that begins with this function the runtime's own? Src/runtime/traceback.go,
 * isSystemGoroutine, as newproc1 asks it. */
bool funcname_begins_system(const char *name);

/* Go's linker writes bytes that it cannot have in a path as %2e (cmd/internal/objabi's
 * PathToPrefix): the one that is written so at name[at], of a name that ends at `end`; -1: none. */
int funcname_escaped_byte(const char *name, size_t at, size_t end);

#endif

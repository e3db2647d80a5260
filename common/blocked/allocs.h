/* SPDX-License-Identifier: Apache-2.0 */
/* All of goallocs but its examples. */
#ifndef ALLOCS_TOOL_H
#define ALLOCS_TOOL_H

/* Runs to the end and returns the exit status. */
int allocs_main(const char *examples, int argc, char **argv);

#endif

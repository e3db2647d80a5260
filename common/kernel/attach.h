/* SPDX-License-Identifier: Apache-2.0 */
/* Many uprobes of one BPF program, told apart by cookie: one uprobe_multi link where the kernel
 * has it (6.6), perf events with cookies (5.15), else perf events with a stub of a
 * program each. */
#ifndef ATTACH_H
#define ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/attach_probe.h"

struct attach;
struct errmsg;
struct heldfile;

/* The best way this kernel offers; GOTOOLS_ATTACH=multi|perf|stub in the environment chooses a
 * lesser one, for tests. */
enum attach_how attach_how(void);
/* May a program that is attached wait for pages of the user's memory? GOTOOLS_SLEEPABLE=no: no. */
bool attach_sleepable(void);
int attach_prog_type(enum attach_how how); /* expected_attach_type to load the program with */

/* Attaches to the file that is held, in the order given (returns before entries, so that no call is
 * seen to begin whose end cannot be seen). Probes that the kernel refuses are left out and marked;
 * NULL and *err when nothing can be attached at all (no privileges, ...). `way->pid` 0: to every
 * process of the file, those that start later too; else to this one alone: others have no
 * breakpoints, but those that it forks. attach_trial.h says whether the kernel does that well. */
struct attach *attach_new(const struct attach_way *way, struct heldfile *file,
			  struct attach_probe *probes, size_t count, struct errmsg *err);
void attach_free(struct attach *at); /* detaches: no handler runs any more when it returns */

#endif

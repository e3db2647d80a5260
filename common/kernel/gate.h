/* SPDX-License-Identifier: Apache-2.0 */
/* A BPF program that does nothing until it is opened, and from then on calls another one (a tail
 * call). Probes are attached to it while the other program is still being compiled, and all of
 * them begin, and end, at the same instant. */
#ifndef GATE_H
#define GATE_H

struct gate;

/* For programs of type kprobe with this expected_attach_type. NULL if the kernel cannot do this.
 * The caller frees it after everything attached to it. */
struct gate *gate_new(int expected_attach_type);
void gate_free(struct gate *gate); /* closes it; NULL is all right */

int gate_prog(const struct gate *gate); /* the program to attach; fd owned by the gate */
/* From now on a hit runs the program prog_fd. 0, or -1 with errno. */
int gate_open(struct gate *gate, int prog_fd);
void gate_shut(struct gate *gate); /* from now on hits do nothing again */

#endif

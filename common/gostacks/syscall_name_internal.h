/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSCALL_NAME_INTERNAL_H
#define SYSCALL_NAME_INTERNAL_H

/* The x86-64 system calls in which programs wait, and others that take long; NULL: none of them. */
const char *syscall_name(int number);

#endif

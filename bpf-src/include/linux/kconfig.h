/* SPDX-License-Identifier: Apache-2.0 */
/* The least that libbcc's own headers ask of a kernel tree. libbcc includes this file first. */
#define CONFIG_BPF_SYSCALL 1
#define CONFIG_64BIT 1

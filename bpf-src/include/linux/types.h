/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's names for types of a fixed width (all supported machines are LP64). */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

typedef signed char __s8, s8;
typedef unsigned char __u8, u8, uint8_t;
typedef short __s16, s16;
typedef unsigned short __u16, u16, uint16_t;
typedef int __s32, s32;
typedef unsigned int __u32, u32, uint32_t;
typedef long long __s64, s64;
typedef unsigned long long __u64, u64, uint64_t;
typedef __u16 __le16, __be16, __sum16;
typedef __u32 __le32, __be32, __wsum;
typedef __u64 __le64, __be64;
typedef unsigned long size_t, uintptr_t;
typedef int pid_t;
typedef _Bool bool;

#define true 1
#define false 0
#define NULL ((void *)0)
#define __aligned_u64 __u64 __attribute__((aligned(8)))

#endif

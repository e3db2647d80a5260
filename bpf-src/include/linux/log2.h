/* SPDX-License-Identifier: Apache-2.0 */
#define roundup_pow_of_two(n) (1UL << (64 - __builtin_clzl((n)-1)))

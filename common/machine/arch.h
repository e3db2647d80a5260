/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_H
#define ARCH_H

enum arch { ARCH_AMD64, ARCH_ARM64 };

#endif

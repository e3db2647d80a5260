/* SPDX-License-Identifier: Apache-2.0 */
/* The registers as the kernel's side has them, which the C library names otherwise */
#include "bpf-src/include/uapi/linux/ptrace.h"

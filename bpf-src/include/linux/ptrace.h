/* SPDX-License-Identifier: Apache-2.0 */
#include <uapi/linux/ptrace.h>

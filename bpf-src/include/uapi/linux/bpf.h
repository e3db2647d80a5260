/* SPDX-License-Identifier: Apache-2.0 */
#include <bcc/bpf.h>

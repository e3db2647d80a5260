/* SPDX-License-Identifier: Apache-2.0 */
/* Asked for by libbcc's headers; what it would hold is in their own <bcc/bpf.h>. */

/* SPDX-License-Identifier: Apache-2.0 */
/* Asked for by libbcc's headers; nothing of it is used. */

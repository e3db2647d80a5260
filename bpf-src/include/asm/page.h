/* SPDX-License-Identifier: Apache-2.0 */
#define PAGE_SIZE 4096

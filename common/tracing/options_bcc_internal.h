/* SPDX-License-Identifier: Apache-2.0 */
/* Options of bcc's tools that their counterparts here lack. */
#ifndef OPTIONS_BCC_INTERNAL_H
#define OPTIONS_BCC_INTERNAL_H

/* A hint at what the tool ("gotrace" and so on) has in place of bcc's option; NULL: none. */
const char *options_bcc_hint(const char *tool, int letter);

#endif

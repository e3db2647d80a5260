/* SPDX-License-Identifier: Apache-2.0 */
/* Options that bcc's tools have, and the tools of the same name here have not. */
#ifndef OPTIONS_BCC_H
#define OPTIONS_BCC_H

/* What there is in place of one, of "gotrace" and so on; NULL: nothing to say. */
const char *options_bcc_hint(const char *tool, int letter);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a program was built with: the lines "build KEY=VALUE" of `go version -m`. */
#ifndef BUILDSETTINGS_H
#define BUILDSETTINGS_H

struct image;

/* The value of the first line with this key, as it stands there; malloc'd. NULL: there is none. */
char *buildsettings_value(const struct image *img, const char *key);

#endif

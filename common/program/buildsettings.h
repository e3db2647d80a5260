/* SPDX-License-Identifier: Apache-2.0 */
/* What a program was built with: the lines of `go version -m`. */
#ifndef BUILDSETTINGS_H
#define BUILDSETTINGS_H

struct image;

/* The value of the first line "build KEY=VALUE" with this key, as it stands there; malloc'd. NULL:
 * there is none. */
char *buildsettings_value(const struct image *img, const char *key);

/* The import path of the program's module, as "go.etcd.io/etcd"; of a program built without modules
 * that of its main package. malloc'd. NULL: not told. */
char *buildsettings_module(const struct image *img);

#endif

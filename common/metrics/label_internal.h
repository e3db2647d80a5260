/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of metrics, from names that whoever built a program has chosen. */
#ifndef LABEL_INTERNAL_H
#define LABEL_INTERNAL_H

/* func="main.main",binary="/usr/bin/app", malloc'd */
char *label_pair(const char *func, const char *binary);

#endif

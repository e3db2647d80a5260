/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as the column FUNC shows them: etcdserver.(*EtcdServer).Put for
 * go.etcd.io/etcd/etcdserver.(*EtcdServer).Put, unless another traced function is called so, too.
 */
#ifndef TRACEPRINT_NAMES_INTERNAL_H
#define TRACEPRINT_NAMES_INTERNAL_H

#include <stdbool.h>

struct selection;

/* An array with a name for each of the selection's rows, which it points into; caller frees.
 * `full`: whole names. */
const char **traceprint_names(const struct selection *sel, bool full);

#endif

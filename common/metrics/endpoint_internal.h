/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room metrics uses of endpoint. */
#ifndef ENDPOINT_INTERNAL_H
#define ENDPOINT_INTERNAL_H

#include "metrics/endpoint.h"

void endpoint_text(const struct endpoint *endpoint, char text[ENDPOINT_TEXT]); /* "[::1]:9435" */
unsigned endpoint_port(const struct endpoint *endpoint);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of values and formats: one capture, made anew for each test, and comparisons
 * of a value's text with what is expected. */
#ifndef VALUE_EXPECT_H
#define VALUE_EXPECT_H

#include "capture.h"

extern struct capture capture;

int expect_setup(void **state); /* strings of at most 40 bytes, nothing followed */
int expect_teardown(void **state);
void expect_with(const struct shape_limits *limits); /* from now on */

const struct gotype *basic(const char *name);
const struct gotype *pointer(const struct gotype *elem);
const struct gotype *slice(const struct gotype *elem);

char *expect_text_of(const struct shape *shape, enum value_style style); /* caller frees */
void expect_shape(const struct shape *shape, enum value_style style, const char *expected);
void expect(const struct gotype *type, const void *value, enum value_style style,
	    const char *expected);
void expect_json(const struct gotype *type, const void *value, const char *expected);

#endif

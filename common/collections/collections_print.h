/* SPDX-License-Identifier: Apache-2.0 */
/* Collections and stops of the world, as lines and as JSON. */
#ifndef COLLECTIONS_PRINT_H
#define COLLECTIONS_PRINT_H

#include <stdbool.h>

struct collection;
struct json;
struct stacks;
struct stop;

struct collections_view {
	const struct stacks *stacks;
	bool timestamp; /* the lines begin with the time of day */
	/* of JSON objects: adds the time; NULL: none */
	void (*time)(struct json *json);
};

void collections_print_head(const struct collections_view *view);
void collections_print(const struct collections_view *view, const struct collection *collection);
void collections_print_stop(const struct collections_view *view, const struct stop *stop);
void collections_json(const struct collections_view *view, const struct collection *collection);
void collections_json_stop(const struct collections_view *view, const struct stop *stop);

#endif

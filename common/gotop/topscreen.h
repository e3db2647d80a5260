/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal that is gotop's until it is closed: rows, one of them chosen, or a text in their
 * place. */
#ifndef TOPSCREEN_H
#define TOPSCREEN_H

#include <stddef.h>
#include <stdint.h>

struct errmsg;
struct toptable;
struct toptext;

enum topscreen_key { /* others are characters; -1: none was typed */
		     TOPSCREEN_UP = 0x1000,
		     TOPSCREEN_DOWN,
		     TOPSCREEN_PAGE_UP,
		     TOPSCREEN_PAGE_DOWN,
		     TOPSCREEN_HOME,
		     TOPSCREEN_END,
		     TOPSCREEN_LEFT,
		     TOPSCREEN_RIGHT,
		     TOPSCREEN_ENTER,
		     TOPSCREEN_BACKSPACE,
		     TOPSCREEN_ESCAPE,
		     TOPSCREEN_RESIZE
};

/* -1 with *err: stdin or stdout is no terminal, or one that is not known. */
int topscreen_open(struct errmsg *err);
void topscreen_close(void);  /* the terminal is as it was; not opened: nothing */
int topscreen_key(void);     /* what was typed; waits for nothing */
size_t topscreen_page(void); /* how many rows it shows */

/* `first`: which row is on top; `chosen`: which is marked. `below`: in the last line. Both are of
 * table->shown. */
void topscreen_rows(const struct toptable *table, size_t first, size_t chosen, const char *below);
/* From the line `first` on, without as many bytes of each line. */
void topscreen_text(const char *title, const struct toptext *text, size_t first, size_t column);

#endif

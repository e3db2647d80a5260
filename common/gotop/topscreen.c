// SPDX-License-Identifier: Apache-2.0
#include "gotop/topscreen.h"

#include <curses.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/signals.h"
#include "gotop/toptable_internal.h"
#include "gotop/toptext.h"

enum { ROWS_ABOVE = 3, ROWS_BELOW = 1, ESCAPE_MS = 25, KEY_CONTROL_L = 12, KEY_DELETE = 127 };
enum { ESCAPE = 27 };

/* Global: a signal's handler is passed nothing. */
static struct {
	SCREEN *screen;
	pid_t owner; /* those that are forked to read processes leave it alone */
	struct termios before;
	char leave[64]; /* what shows the lines again that were there before */
} terminal;

/* A second signal ends the tool at once. Async-signal-safe. */
static void leave_at_once(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
	if (write(STDOUT_FILENO, terminal.leave, strlen(terminal.leave)) < 0)
		return;
}

void topscreen_close(void)
{
	if (!terminal.screen || terminal.owner != getpid())
		return;
	endwin();
	delscreen(terminal.screen);
	terminal.screen = NULL;
}

static const char *capability(const char *name)
{
	static char known[32]; /* tigetstr() takes a char * of older days */

	snprintf(known, sizeof(known), "%s", name);
	const char *found = tigetstr(known);

	/* -1: it is no text */
	return found && (intptr_t)found != -1 ? found : "";
}

int topscreen_open(struct errmsg *err)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &terminal.before)) {
		errmsg_set(err, "stdin and stdout are not a terminal");
		errmsg_hint(err, "gostat prints the same as lines: 'gostat --all'");
		return -1;
	}
	setlocale(LC_CTYPE, ""); /* names may have letters of any language */
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen) {
		const char *name = getenv("TERM");

		return errmsg_set(err, "the terminal \"%s\" is not known: see TERM in terminfo(5)",
				  name ? name : "");
	}
	snprintf(terminal.leave, sizeof(terminal.leave), "%s%s", capability("rmcup"),
		 capability("cnorm"));
	terminal.owner = getpid();
	signals_at_end(leave_at_once);
	atexit(topscreen_close);
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	return 0;
}

int topscreen_key(void)
{
	static const struct {
		int of, is;
	} keys[] = {
		{KEY_UP, TOPSCREEN_UP},
		{KEY_DOWN, TOPSCREEN_DOWN},
		{KEY_PPAGE, TOPSCREEN_PAGE_UP},
		{KEY_NPAGE, TOPSCREEN_PAGE_DOWN},
		{KEY_HOME, TOPSCREEN_HOME},
		{KEY_END, TOPSCREEN_END},
		{KEY_LEFT, TOPSCREEN_LEFT},
		{KEY_RIGHT, TOPSCREEN_RIGHT},
		{KEY_ENTER, TOPSCREEN_ENTER},
		{'\r', TOPSCREEN_ENTER},
		{'\n', TOPSCREEN_ENTER},
		{KEY_BACKSPACE, TOPSCREEN_BACKSPACE},
		{KEY_DELETE, TOPSCREEN_BACKSPACE},
		{'\b', TOPSCREEN_BACKSPACE},
		{ESCAPE, TOPSCREEN_ESCAPE},
		{KEY_RESIZE, TOPSCREEN_RESIZE},
	};
	int key = getch();

	if (key == ERR)
		return -1;
	if (key == KEY_CONTROL_L)
		clearok(stdscr, TRUE);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].of == key)
			return keys[i].is;
	return key;
}

size_t topscreen_page(void)
{
	int rows = getmaxy(stdscr) - ROWS_ABOVE - ROWS_BELOW;

	return rows > 0 ? rows : 1;
}

/* --- drawing --- */

static void draw_line(int y, attr_t how, const char *text)
{
	mvaddnstr(y, 0, text, getmaxx(stdscr));
	mvchgat(y, 0, -1, how, 0, NULL);
}

static void draw_title(const char *text)
{
	char clock[CLOCK_TEXT], line[256];

	clock_text(clock);
	snprintf(line, sizeof(line), "gotop %s  %s", clock, text);
	draw_line(0, A_BOLD, line);
}

void topscreen_rows(const struct toptable *table, size_t first, size_t chosen, const char *below)
{
	char *title = toptable_title(table), *head = toptable_head();
	size_t page = topscreen_page();

	erase();
	draw_title(title);
	draw_line(1, A_NORMAL, "Enter goroutines  h heap  < > sort  r reverse  / filter  q quit");
	draw_line(2, A_REVERSE, head);
	for (size_t i = first; i < table->shown_count && i - first < page; i++) {
		char *line = toptable_line(table->shown[i]);

		draw_line((int)(ROWS_ABOVE + i - first), i == chosen ? A_REVERSE : A_NORMAL, line);
		free(line);
	}
	draw_line(getmaxy(stdscr) - 1, A_NORMAL, below);
	refresh();
	free(title);
	free(head);
}

void topscreen_text(const char *title, const struct toptext *text, size_t first, size_t column)
{
	size_t page = topscreen_page();
	char where[96];

	erase();
	draw_title(title);
	draw_line(1, A_NORMAL, "arrows, PgUp, PgDn, Home, End scroll  r read again  q back");
	for (size_t i = first; i < text->count && i - first < page; i++)
		draw_line((int)(ROWS_ABOVE + i - first), A_NORMAL,
			  text->lines[i] + strnlen(text->lines[i], column));
	snprintf(where, sizeof(where), "line %zu of %zu", first + 1, text->count);
	draw_line(getmaxy(stdscr) - 1, A_REVERSE, where);
	refresh();
}

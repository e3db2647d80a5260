// SPDX-License-Identifier: Apache-2.0
#include "base/column_internal.h"

#include <locale.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/utf8.h"

enum { SCREEN_DEFAULT = 80 };

/* Output is UTF-8 whatever the user's locale is. 0: the system has no such locale. */
static locale_t utf8_locale(void)
{
	static locale_t locale;
	static int asked;

	if (!asked)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	asked = 1;
	return locale;
}

/* Columns of one character: one if the locale does not know it. */
static unsigned width_of(uint32_t character)
{
	int width = wcwidth((wchar_t)character);

	return width < 0 ? 1 : width;
}

unsigned column_width(const char *text)
{
	size_t len = strlen(text), n;
	locale_t locale = utf8_locale(), before;
	unsigned width = 0;
	uint32_t c;

	before = locale ? uselocale(locale) : (locale_t)0;
	for (size_t i = 0; i < len; i += n) {
		n = utf8_decode(text + i, len - i, &c);
		width += n > 1 && locale ? width_of(c) : 1;
		n += !n;
	}
	if (locale)
		uselocale(before);
	return width;
}

unsigned column_screen(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return SCREEN_DEFAULT;
	return size.ws_col;
}

unsigned column_fit(unsigned width, unsigned bound, const char *text)
{
	unsigned own = column_width(text);

	return own > width && own <= bound ? own : width;
}

void column_print(FILE *out, const char *text, unsigned width)
{
	unsigned own = column_width(text);

	fprintf(out, "%s%*s", text, own < width ? (int)(width - own) : 0, "");
}

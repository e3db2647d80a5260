// SPDX-License-Identifier: Apache-2.0
/* time.Duration and time.Time; the latter's layout is that of Go's src/time/time.go since 1.9. */
#include <inttypes.h>
#include <string.h>

#include "value_parts.h"

enum { NS_PER_US = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000, SECONDS_PER_DAY = 86400 };

/* ".5" of 500 of 1000; nothing of 0 */
static void print_fraction(FILE *out, uint64_t part, uint64_t whole)
{
	if (!part)
		return;
	putc('.', out);
	while (part) {
		whole /= 10;
		putc((int)('0' + part / whole), out);
		part %= whole;
	}
}

static void print_unit(FILE *out, uint64_t ns, uint64_t unit, const char *name)
{
	fprintf(out, "%" PRIu64, ns / unit);
	print_fraction(out, ns % unit, unit);
	fputs(name, out);
}

void value_print_duration(FILE *out, int64_t ns)
{
	uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	uint64_t seconds = n / NS_PER_S;

	if (ns < 0)
		putc('-', out);
	if (!n) {
		fputs("0s", out);
	} else if (n < NS_PER_US) {
		print_unit(out, n, 1, "ns");
	} else if (n < NS_PER_MS) {
		print_unit(out, n, NS_PER_US, "\u00b5s");
	} else if (n < NS_PER_S) {
		print_unit(out, n, NS_PER_MS, "ms");
	} else {
		if (seconds >= 3600)
			fprintf(out, "%" PRIu64 "h", seconds / 3600);
		if (seconds >= 60)
			fprintf(out, "%" PRIu64 "m", seconds / 60 % 60);
		print_unit(out, n % (60ull * NS_PER_S), NS_PER_S, "s");
	}
}

bool value_is_duration(const struct gotype *type)
{
	return type->kind == GOTYPE_INT && type->size == 8 && !strcmp(type->name, "time.Duration");
}

static int64_t floor_div(int64_t n, int64_t by)
{
	return n / by - (n % by < 0);
}

struct date {
	int64_t year;
	unsigned month, day;
};

/* The proleptic Gregorian calendar: days are counted from 0000-03-01, so that leap days end a
 * year, and in cycles of 400 years. */
static struct date date_of(int64_t days)
{
	enum { CYCLE = 146097, CENTURY = 36524, FOUR_YEARS = 1460, YEAR = 365 };
	int64_t cycle = floor_div(days, CYCLE);
	unsigned day = (unsigned)(days - cycle * CYCLE);
	unsigned year = (day - day / FOUR_YEARS + day / CENTURY - day / (CYCLE - 1)) / YEAR;
	unsigned of_year = day - (YEAR * year + year / 4 - year / 100);
	unsigned month = (5 * of_year + 2) / 153; /* 0 is March */
	struct date date = {.day = of_year - (153 * month + 2) / 5 + 1};

	date.month = month < 10 ? month + 3 : month - 9;
	date.year = cycle * 400 + year + (date.month <= 2);
	return date;
}

static void print_rfc3339(FILE *out, int64_t seconds, unsigned ns) /* since 0001-01-01 */
{
	enum { DAYS_BEFORE_YEAR_1 = 306 }; /* since 0000-03-01 */
	int64_t days = floor_div(seconds, SECONDS_PER_DAY);
	unsigned of_day = (unsigned)(seconds - days * SECONDS_PER_DAY);
	struct date date = date_of(days + DAYS_BEFORE_YEAR_1);

	fprintf(out, "%04" PRId64 "-%02u-%02uT%02u:%02u:%02u", date.year, date.month, date.day,
		of_day / 3600, of_day / 60 % 60, of_day % 60);
	print_fraction(out, ns, NS_PER_S);
	putc('Z', out);
}

static bool is_time(const struct gotype *type)
{
	return type->kind == GOTYPE_STRUCT && type->size == 24 && !strcmp(type->name, "time.Time");
}

bool value_print_time(FILE *out, const struct value_source *source, const struct value_at *at)
{
	const uint64_t has_monotonic = 1ull << 63, ns_mask = (1u << 30) - 1;
	const int64_t wall_epoch = 59453308800; /* 1885-01-01, in seconds since 0001-01-01 */
	uint64_t wall, ext;

	if (!is_time(at->type) || value_read_word(source, at, 0, &wall) != VALUE_GOT ||
	    value_read_word(source, at, 8, &ext) != VALUE_GOT)
		return false;
	int64_t seconds =
		wall & has_monotonic ? wall_epoch + (int64_t)(wall << 1 >> 31) : (int64_t)ext;

	if ((wall & ns_mask) >= NS_PER_S) /* no time: something else stands there */
		return false;
	print_rfc3339(out, seconds, (unsigned)(wall & ns_mask));
	return true;
}

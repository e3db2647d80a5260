// SPDX-License-Identifier: Apache-2.0
/* time.Duration and time.Time; the latter's layout is that of Go's src/time/time.go since 1.9. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "values/value_known_internal.h"
#include "values/value_internal.h"
#include "values/value_read_internal.h"

enum { NS_PER_US = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000, SECONDS_PER_DAY = 86400 };

/* ".5" for 500 of 1000; nothing for 0 */
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

/* By the proleptic Gregorian calendar: `days` are since 0000-03-01, so that a leap day is the last
 * of its year; cycles have 400 years. */
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

static bool is_time(const struct gotype *type)
{
	return type->kind == GOTYPE_STRUCT && type->size == 24 && !strcmp(type->name, "time.Time");
}

struct moment {
	int64_t seconds; /* since 0001-01-01, UTC */
	unsigned ns;
	bool has_monotonic;
	int64_t monotonic_ns;
};

static bool read_moment(const struct value_source *source, const struct value_at *at,
			struct moment *out)
{
	const uint64_t has_monotonic = 1ull << 63, ns_mask = (1u << 30) - 1;
	const int64_t wall_epoch = 59453308800; /* 1885-01-01, in seconds since 0001-01-01 */
	uint64_t wall, ext;

	if (!is_time(at->type) || value_read_word(source, at, 0, &wall) != VALUE_GOT ||
	    value_read_word(source, at, 8, &ext) != VALUE_GOT)
		return false;
	*out = (struct moment){.seconds = (int64_t)ext, .ns = (unsigned)(wall & ns_mask)};
	if (wall & has_monotonic) {
		out->seconds = wall_epoch + (int64_t)(wall << 1 >> 31);
		out->has_monotonic = true;
		out->monotonic_ns = (int64_t)ext;
	}
	return out->ns < NS_PER_S; /* else the bytes are no time.Time */
}

static void print_date(FILE *out, const struct moment *moment, char between)
{
	enum { DAYS_BEFORE_YEAR_1 = 306 }; /* since 0000-03-01 */
	int64_t days = floor_div(moment->seconds, SECONDS_PER_DAY);
	unsigned of_day = (unsigned)(moment->seconds - days * SECONDS_PER_DAY);
	struct date date = date_of(days + DAYS_BEFORE_YEAR_1);

	fprintf(out, date.year < 0 ? "%05" PRId64 : "%04" PRId64, date.year);
	fprintf(out, "-%02u-%02u%c%02u:%02u:%02u", date.month, date.day, between, of_day / 3600,
		of_day / 60 % 60, of_day % 60);
	print_fraction(out, moment->ns, NS_PER_S);
}

bool value_print_rfc3339(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct moment moment;

	if (!read_moment(source, at, &moment))
		return false;
	print_date(out, &moment, 'T');
	putc('Z', out);
	return true;
}

struct zone {
	struct value_bytes name;
	int64_t offset; /* seconds to the east */
};

/* The zone of the time's location (Go's src/time/zoneinfo.go), if the location was read, and its
 * cached zone, which is for the present, covers the time. */
static bool read_zone(const struct value_source *source, const struct value_at *at,
		      int64_t unix_seconds, struct zone *out)
{
	struct value_pointee location, zone;
	struct value_at field;
	int64_t start, end;

	return value_field(at, "loc", &field) && field.type->kind == GOTYPE_POINTER &&
	       value_read_pointee(source, &field, &location) == VALUE_GOT &&
	       value_known_number(source, &location.at, "cacheStart", &start) &&
	       value_known_number(source, &location.at, "cacheEnd", &end) &&
	       start <= unix_seconds && unix_seconds < end &&
	       value_field(&location.at, "cacheZone", &field) &&
	       field.type->kind == GOTYPE_POINTER &&
	       value_read_pointee(source, &field, &zone) == VALUE_GOT &&
	       value_known_whole(source, &zone.at, "name", &out->name) &&
	       value_known_number(source, &zone.at, "offset", &out->offset) &&
	       out->offset > -SECONDS_PER_DAY && out->offset < SECONDS_PER_DAY;
}

static void print_monotonic(FILE *out, int64_t ns)
{
	uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	fprintf(out, " m=%c%" PRIu64 ".%09" PRIu64, ns < 0 ? '-' : '+', n / NS_PER_S, n % NS_PER_S);
}

/* an offset in seconds, as "+0130" */
static void print_offset(FILE *out, int64_t offset)
{
	int minutes = (int)((offset < 0 ? -offset : offset) / 60);

	fprintf(out, "%c%02d%02d", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

bool value_print_time(FILE *out, const struct value_source *source, const struct value_at *at)
{
	const int64_t unix_epoch = 62135596800; /* 1970-01-01, in seconds since 0001-01-01 */
	struct zone zone = {.offset = 0};
	struct moment moment;
	int64_t unix_seconds;

	if (!read_moment(source, at, &moment))
		return false;
	/* the seconds may be any number that was read: sums must not overflow */
	bool has_zone = !__builtin_sub_overflow(moment.seconds, unix_epoch, &unix_seconds) &&
			read_zone(source, at, unix_seconds, &zone);

	if (!has_zone)
		zone.offset = 0;
	if (__builtin_add_overflow(moment.seconds, zone.offset, &moment.seconds))
		zone.offset = 0;
	print_date(out, &moment, ' ');
	putc(' ', out);
	print_offset(out, zone.offset);
	putc(' ', out);
	if (!has_zone)
		fputs("UTC", out);
	else if (zone.name.len)
		escape_write(out, (const char *)zone.name.bytes, zone.name.len);
	else
		print_offset(out, zone.offset);
	if (moment.has_monotonic)
		print_monotonic(out, moment.monotonic_ns);
	return true;
}

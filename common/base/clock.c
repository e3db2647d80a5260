// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_to_unix_ns(void)
{
	uint64_t before = clock_ns(), unix_ns = read_ns(CLOCK_REALTIME);

	return unix_ns - (before + (clock_ns() - before) / 2);
}

void clock_text(char text[CLOCK_TEXT])
{
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(text, CLOCK_TEXT, "%H:%M:%S", &local);
}

// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void clock_text(char text[CLOCK_TEXT])
{
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(text, CLOCK_TEXT, "%H:%M:%S", &local);
}

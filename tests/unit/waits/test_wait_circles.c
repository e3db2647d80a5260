// SPDX-License-Identifier: Apache-2.0
/* Who waits for whom in a circle: cases that are written out, and thousands that are drawn, against
 * what wait_circles_internal.h says, worked out the long way round. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goroutines/snapshot.h"
#include "waits/wait_circles_internal.h"
#include "waits/wait_holders_internal.h"
#include "waits/wait_targets_internal.h"

enum { MOST = 12, CANDIDATES = 64, DRAWN = 4000, GUESSES = 8, TIMER_WAIT = 0, CHANNEL_WAIT = 1 };

static struct goroutine all[MOST];
static struct wait waits[] = {{.kind = WAIT_TIMER}, {.kind = WAIT_CHANNEL}};
static struct snapshot snap = {.all = all, .waits = {.all = waits, .count = 2}};
static struct wait_target target[MOST];
static uint32_t of[MOST];
static struct wait_targets targets = {.all = target, .of = of};
static struct wait_candidate candidate[CANDIDATES];
static size_t first[MOST + 1];
static struct wait_candidates candidates = {.all = candidate, .first = first};
static const struct wait_holders_source source = {.snap = &snap, .targets = &targets};

static void set_goroutine(size_t i, uint32_t waits_for, bool sleeps)
{
	all[i] = (struct goroutine){.goid = i + 1,
				    .wait_count = sleeps || waits_for != WAIT_NO_TARGET,
				    .waits = sleeps ? TIMER_WAIT : CHANNEL_WAIT};
	of[i] = waits_for;
}

/* By target, as they are added */
static void set_firsts(void)
{
	size_t at = 0;

	for (size_t i = 0; i <= targets.count; i++) {
		while (at < candidates.count && candidate[at].target < i)
			at++;
		first[i] = at;
	}
}

static void find(char *out)
{
	struct wait_circle_step steps[MOST];

	*out = '\0';
	wait_circles_find(&source, &candidates, steps);
	for (size_t i = 0; i < snap.count; i++)
		if (steps[i].next != WAIT_NOBODY)
			out += sprintf(out, "%zu>%u%s ", i, steps[i].next,
				       steps[i].how == CIRCLE_PERHAPS ? "?" : "");
}

/* --- written out --- */

/* `kinds`: of targets: M, R (RWMutex), W (WaitGroup), C. `who`: for each goroutine, the number of
 * the target it waits for, `-` for none, `z` if it sleeps. `may`: `0:1r`: target 0 may be released
 * by goroutine 1, which releases it by its code, p: has its pointer, d: defers that. */
static void expect(const char *kinds, const char *who, const char *may, const char *want)
{
	static const char letters[] = "MRWC", hows[] = "prd";
	static const uint8_t kind[] = {WAIT_MUTEX, WAIT_RWMUTEX, WAIT_WAITGROUP, WAIT_CHANNEL};
	char got[256];

	targets.count = strlen(kinds);
	for (size_t i = 0; i < targets.count; i++)
		target[i] = (struct wait_target){.addr = 64 * i,
						 .kind = kind[strchr(letters, kinds[i]) - letters]};
	snap.count = strlen(who);
	for (size_t i = 0; i < snap.count; i++)
		set_goroutine(
			i, who[i] == '-' || who[i] == 'z' ? WAIT_NO_TARGET : (uint32_t)who[i] - '0',
			who[i] == 'z');
	candidates.count = 0;
	for (; *may; may += strcspn(may, " "), may += *may == ' ')
		candidate[candidates.count++] =
			(struct wait_candidate){(uint32_t)may[0] - '0', (uint32_t)may[2] - '0',
						strchr(hows, may[3]) - hows};
	set_firsts();
	find(got);
	assert_string_equal(got, want);
}

static void test_locks(void **state)
{
	(void)state;
	expect("MM", "01", "0:1r 1:0d", "0>1 1>0 ");
	expect("MM", "01", "0:1p 1:0p", "0>1 1>0 "); /* nobody else has the pointers */
	expect("MM", "01", "0:1r", "");
	expect("MM", "0-", "0:1r 1:0r", "");
	/* others only keep the pointer; others may unlock it as well */
	expect("MM", "01-", "0:1r 0:2p 1:0r", "0>1 1>0 ");
	expect("MM", "01-", "0:1p 0:2p 1:0r", "");
	expect("MM", "01z", "0:1p 0:2p 1:0r", "0>1? 1>0 ");
	expect("MM", "01z", "0:1p 0:2r 1:0r", "");
	expect("MM", "011", "0:1r 0:2r 1:0r", "0>1? 1>0 "); /* one who waits for the circle */
	expect("MM", "01-", "0:1r 0:2r 1:0r", "");
	expect("RM", "01-", "0:1r 0:2r 1:0r", "0>1 1>0 "); /* readers: all are waited for */
	expect("RM", "01-", "0:2r 1:0r", "");
	expect("RM", "01", "0:1p 1:0r", "0>1 1>0 ");
	expect("RM", "01z", "0:1p 0:2p 1:0r", "0>1? 1>0 ");
	expect("RM", "01-", "0:1p 0:2r 1:0r", "");
	expect("MMM", "0120", "0:1r 1:2r 2:0r", "0>1 1>2 2>0 ");
	expect("M", "0", "0:0r", "0>0 ");
}

static void test_others(void **state)
{
	(void)state;
	expect("WM", "01", "0:1d 1:0r", "0>1 1>0 ");
	expect("WM", "01", "0:1p 1:0r", "");
	expect("WM", "01-", "0:1d 0:2d 1:0r", "0>1 1>0 ");
	expect("CM", "01", "0:1r 1:0r", "0>1 1>0 ");
	expect("CM", "01", "0:1p 1:0r", "");
	expect("CM", "01-", "0:1r 0:2p 1:0r", ""); /* a channel is served by whoever comes first */
	expect("CM", "01z", "0:1r 0:2p 1:0r", "0>1? 1>0 ");
	expect("CM", "01z", "0:1r 0:2r 1:0r", "");
	expect("CM", "011", "0:1r 0:2r 1:0r", "0>1 1>0 ");
}

/* As many guesses, and one more */
static void test_guesses(void **state)
{
	char may[128], *at = may;

	(void)state;
	for (int i = 0; i < GUESSES - 1; i++)
		at += sprintf(at, "0:%dp ", i + 1);
	sprintf(at, "0:%dp 1:0r", GUESSES);
	expect("MM", "011111111", may, "0>1? 1>0 ");
	sprintf(at, "0:%dp 0:%dp 1:0r", GUESSES, GUESSES + 1);
	expect("MM", "0111111111", may, "");
}

/* --- drawn --- */

struct worked_out {
	bool stuck[MOST], reaches[MOST][MOST];
	uint32_t next[MOST];
};

static size_t count(const struct worked_out *w, uint32_t t, bool strong, bool stuck)
{
	size_t n = 0;

	for (size_t i = first[t]; i < first[t + 1]; i++)
		n += (!strong || candidate[i].how != CANDIDATE_POINTS) &&
		     (!stuck || w->stuck[candidate[i].goroutine]);
	return n;
}

/* Can somebody go on who may release it, and does not only sleep with its pointer? */
static bool has_others(const struct worked_out *w, uint32_t t)
{
	for (size_t i = first[t]; i < first[t + 1]; i++) {
		uint32_t who = candidate[i].goroutine;

		if (!w->stuck[who] && (candidate[i].how != CANDIDATE_POINTS ||
				       !all[who].wait_count || all[who].waits != TIMER_WAIT))
			return true;
	}
	return false;
}

static bool stays(const struct worked_out *w, uint32_t t)
{
	size_t strong = count(w, t, true, false), strong_in = count(w, t, true, true);

	if (target[t].kind == WAIT_WAITGROUP)
		return strong_in;
	if (target[t].kind == WAIT_CHANNEL)
		return strong_in && !has_others(w, t);
	if (!strong)
		return count(w, t, false, true) && !has_others(w, t) &&
		       count(w, t, false, false) <= GUESSES;
	return target[t].kind == WAIT_MUTEX ? strong_in == strong : strong_in;
}

static bool is_waited_for(const struct worked_out *w, const struct wait_candidate *one)
{
	return w->stuck[one->goroutine] &&
	       (one->how != CANDIDATE_POINTS || !count(w, one->target, true, false));
}

static void work_out_stuck(struct worked_out *w)
{
	bool again = true;

	for (size_t i = 0; i < snap.count; i++)
		w->stuck[i] = of[i] != WAIT_NO_TARGET;
	while (again) {
		again = false;
		for (size_t i = 0; i < snap.count; i++)
			if (w->stuck[i] && !stays(w, of[i])) {
				w->stuck[i] = false;
				again = true;
			}
	}
}

static void work_out_reaches(struct worked_out *w)
{
	for (size_t i = 0; i < snap.count; i++)
		for (size_t k = 0; w->stuck[i] && k < candidates.count; k++)
			if (candidate[k].target == of[i] && is_waited_for(w, &candidate[k]))
				w->reaches[i][candidate[k].goroutine] = true;
	for (size_t k = 0; k < snap.count; k++)
		for (size_t i = 0; i < snap.count; i++)
			for (size_t j = 0; j < snap.count; j++)
				w->reaches[i][j] |= w->reaches[i][k] && w->reaches[k][j];
}

static bool is_sure(uint32_t t)
{
	struct worked_out any = {0};
	size_t strong = count(&any, t, true, false), every = first[t + 1] - first[t];

	if (every == 1)
		return true;
	if (target[t].kind == WAIT_MUTEX)
		return strong == 1;
	return target[t].kind == WAIT_CHANNEL ? strong == every : strong;
}

static void work_out(char *out)
{
	struct worked_out w = {0};

	*out = '\0';
	work_out_stuck(&w);
	work_out_reaches(&w);
	for (size_t i = 0; i < snap.count; i++) {
		w.next[i] = WAIT_NOBODY;
		for (size_t k = 0; w.stuck[i] && k < candidates.count; k++) {
			uint32_t who = candidate[k].goroutine;

			if (candidate[k].target == of[i] && is_waited_for(&w, &candidate[k]) &&
			    w.next[i] == WAIT_NOBODY &&
			    (who == i || (w.reaches[i][who] && w.reaches[who][i])))
				w.next[i] = who;
		}
	}
	for (uint32_t i = 0; i < snap.count; i++) {
		uint32_t at = w.next[i];

		for (size_t k = 0; k < snap.count && at != WAIT_NOBODY && at != i; k++)
			at = w.next[at];
		if (at == i)
			out += sprintf(out, "%u>%u%s ", i, w.next[i], is_sure(of[i]) ? "" : "?");
	}
}

static unsigned below(unsigned n)
{
	return (unsigned)random() % n;
}

/* Few who may release a target, as where there are many, somebody can go on. */
static void draw(void)
{
	static const uint8_t kinds[] = {WAIT_MUTEX, WAIT_RWMUTEX, WAIT_WAITGROUP, WAIT_CHANNEL};

	snap.count = 2 + below(5);
	targets.count = 1 + below(4);
	candidates.count = 0;
	for (size_t i = 0; i < snap.count; i++)
		set_goroutine(i, below(5) ? below(targets.count) : WAIT_NO_TARGET, false);
	for (size_t i = 0; i < snap.count; i++)
		if (of[i] == WAIT_NO_TARGET)
			set_goroutine(i, WAIT_NO_TARGET, below(2));
	for (uint32_t t = 0; t < targets.count; t++) {
		target[t] = (struct wait_target){.addr = 64 * t, .kind = kinds[below(4)]};
		for (uint32_t i = 0; i < snap.count; i++)
			if (below(snap.count) < 2)
				candidate[candidates.count++] =
					(struct wait_candidate){t, i, below(3)};
	}
	set_firsts();
}

static void test_drawn(void **state)
{
	char got[256], want[256];
	size_t with_circles = 0;

	(void)state;
	srandom(1);
	for (int i = 0; i < DRAWN; i++) {
		draw();
		find(got);
		work_out(want);
		assert_string_equal(got, want);
		with_circles += *want != '\0';
	}
	assert_true(with_circles > DRAWN / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_guesses),
		cmocka_unit_test(test_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

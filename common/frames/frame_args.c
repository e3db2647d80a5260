// SPDX-License-Identifier: Apache-2.0
#include "frames/frame_args_internal.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "abi/arginfo.h"
#include "elf/image.h"
#include "golang/release.h"
#include "frames/frame_maps.h"
#include "frames/frames.h"
#include "program/functab.h"

enum {
	FUNCDATA_ARG_LIVE = 6,
	PCDATA_ARG_LIVE = 3,
	WORDS = 10, /* before Go 1.17, so many words are printed */
	NO_START = 0xff,
	LIVE_MAX = 256 / 8, /* bytes: there are no more values than that */
};

static uint16_t size_of_words(const struct frames *frames, const struct functab_func *fn)
{
	int32_t bytes;

	if (!functab_args_size(frames->tab, fn, &bytes))
		return 0;
	return bytes < 0 || bytes > WORDS * 8 ? WORDS * 8 : bytes;
}

uint16_t frame_args_size(const struct frames *frames, const struct functab_func *fn)
{
	struct arginfo info;
	uint16_t size = 0;

	if (frames->release < RELEASE_ARGINFO)
		return size_of_words(frames, fn);
	if (!arginfo_read(frames->img, frames->tab, fn, &info))
		return 0;
	for (size_t i = 0; i < info.count; i++) {
		const struct arginfo_item *item = &info.items[i];

		if (item->kind == ARGINFO_VALUE && item->off >= 0 && item->off + item->size > size)
			size = item->off + item->size;
	}
	return size;
}

/* --- before there were tables --- */

static void print_words(FILE *out, const struct frames *frames, const struct functab_func *fn,
			const uint8_t *bytes, size_t len)
{
	int32_t size;
	uint64_t value;

	if (!functab_args_size(frames->tab, fn, &size))
		return;
	for (size_t at = 0; at + 8 <= len; at += 8) {
		memcpy(&value, bytes + at, sizeof(value));
		fprintf(out, "%s0x%" PRIx64, at ? ", " : "", value);
	}
	if (size < 0 || size / 8 > WORDS)
		fputs(", ...", out);
}

/* --- by tables --- */

/* Which of the places that registers are saved to have been written to, at one address. */
struct liveness {
	uint8_t start;       /* places before this one always hold their value */
	const uint8_t *bits; /* NULL: all do */
	size_t len;
};

static bool note_index(uint64_t from, uint64_t to, int32_t value, void *ctx)
{
	uint64_t *found = ctx; /* the address, and the value there */

	if (found[0] >= from && found[0] < to)
		found[1] = value > 0 ? value : 0;
	return found[0] >= to;
}

static struct liveness find_liveness(const struct frames *frames, const struct functab_func *fn,
				     uint64_t addr)
{
	struct liveness live = {.start = NO_START};
	uint64_t table = functab_funcdata(frames->tab, fn, FUNCDATA_ARG_LIVE);
	const uint8_t *start = table ? image_at(frames->img, table, 1) : NULL;
	uint64_t found[2] = {addr, 0};

	if (!start)
		return live;
	live.start = *start;
	if (!functab_pcdata(frames->tab, fn, PCDATA_ARG_LIVE, note_index, found) || !found[1])
		return live;
	uint64_t left = image_left(frames->img, table + found[1]);

	live.len = left < LIVE_MAX ? left : LIVE_MAX;
	live.bits = image_at(frames->img, table + found[1], live.len);
	return live;
}

static bool is_live(const struct liveness *live, int16_t off, unsigned slot)
{
	return !live->bits || off < live->start || slot / 8 >= live->len ||
	       live->bits[slot / 8] >> slot % 8 & 1;
}

struct printing {
	FILE *out;
	struct liveness live;
	const uint8_t *bytes;
	size_t len;
	unsigned slot;
	bool first; /* in its aggregate */
};

static void print_value(struct printing *p, const struct arginfo_item *item)
{
	uint64_t value = 0;

	if (item->off < 0) {
		fputc('_', p->out);
		return;
	}
	bool is_there = item->size <= sizeof(value) && (size_t)item->off + item->size <= p->len;

	if (is_there) {
		memcpy(&value, p->bytes + item->off, item->size);
		fprintf(p->out, "0x%" PRIx64 "%s", value,
			is_live(&p->live, item->off, p->slot) ? "" : "?");
	} else {
		fputc('_', p->out);
	}
	p->slot += item->off >= p->live.start;
}

static void print_item(struct printing *p, const struct arginfo_item *item)
{
	if (item->kind != ARGINFO_CLOSE && !p->first)
		fputs(", ", p->out);
	p->first = item->kind == ARGINFO_OPEN;
	switch (item->kind) {
	case ARGINFO_OPEN:
		fputc('{', p->out);
		break;
	case ARGINFO_CLOSE:
		fputc('}', p->out);
		break;
	case ARGINFO_MORE:
		fputs("...", p->out);
		break;
	default:
		print_value(p, item);
		break;
	}
}

void frame_args_print(FILE *out, const struct frames *frames, uint64_t addr, const uint8_t *bytes,
		      size_t len)
{
	struct functab_func fn;
	struct arginfo info;

	if (!functab_find(frames->tab, addr, &fn))
		return;
	if (frames->release < RELEASE_ARGINFO) {
		print_words(out, frames, &fn, bytes, len);
		return;
	}
	if (!arginfo_read(frames->img, frames->tab, &fn, &info))
		return;
	struct printing p = {.out = out,
			     .live = find_liveness(frames, &fn, addr),
			     .bytes = bytes,
			     .len = len,
			     .first = true};

	for (size_t i = 0; i < info.count; i++)
		print_item(&p, &info.items[i]);
}

bool frame_args_first(const struct frames *frames, uint64_t addr)
{
	struct functab_func fn;
	struct arginfo info;
	int32_t bytes;

	if (!functab_find(frames->tab, addr, &fn))
		return false;
	if (frames->release < RELEASE_ARGINFO)
		return functab_args_size(frames->tab, &fn, &bytes) && bytes >= 8;
	/* tables of functions with type arguments leave out the first parameter */
	if (frames->release < RELEASE_ARG_LIVE || strchr(fn.name, '[') ||
	    !arginfo_read(frames->img, frames->tab, &fn, &info) || !info.count)
		return false;
	struct liveness live = find_liveness(frames, &fn, addr);
	const struct arginfo_item *first = &info.items[0];

	return first->kind == ARGINFO_VALUE && first->size == 8 && first->off == 0 &&
	       is_live(&live, first->off, 0);
}

bool frame_args_points(const struct frames *frames, uint64_t addr, uint32_t off)
{
	struct frame_maps maps;

	frame_maps_at(frames, addr, &maps);
	return off % 8 == 0 && frame_maps_bit(&maps.args, off / 8);
}

// SPDX-License-Identifier: Apache-2.0
/* Arbitrary formats with arbitrary arguments, printed of records in which anything may stand:
 * nothing of those may reach a terminal as it is, nor be printed without end.
 *
 * The input: how (below), how many arguments, which ones (a byte each), the format up to a NUL, the
 * record. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "machine/arch.h"
#include "fuzz.h"
#include "genprobe.h"
#include "gotrace/traceplan_internal.h"
#include "gotrace/traceprint_event_internal.h"
#include "values/format.h"

enum { AT_RETURN = 1, ON_STACK = 2, SEVERAL = 4, ENDED = 8, NO_FORMAT = 16 };
enum { ARGS_MAX = 8, PRINTED_MAX = 8 << 20, RTYPE_STEP = 64 };

static const char signature[] =
	"(s string, b []byte, t *main.T, d main.Deep, e error, a any, f float64, i int8, u uint64, "
	"l []main.Box, g [2]string, c complex128) (n int, err error)";
static const char *const exprs[] = {
	"s",      "b",     "t",      "*t",    "d",      "e",        "a",      "f",     "i",
	"u",      "l",     "g",      "c",     "goargs", "d.m",      "d.list", "d.err", "d.fn",
	"t.next", "t.one", "t.name", "s[i]",  "len(b)", "$goid",    "$comm",  "$func", "$latency",
	"n",      "err",   "gorets", "1 + i", "i == 3", "\"x\"",    "goarg3", "t.a",   "b[u]",
	"d.box",  "g[1]",  "cap(b)", "!i",    "u / u",  "l[0].T.a", "d.box.n"};

struct reader {
	const uint8_t *data;
	size_t size;
};

static uint8_t next(struct reader *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* as a literal that the parser of PROBEs takes */
static void write_format(FILE *out, struct reader *in)
{
	fputs(" \"", out);
	for (uint8_t byte; (byte = next(in));)
		if (byte < ' ' || byte > '~' || byte == '"' || byte == '\\')
			fprintf(out, "\\x%02x", byte);
		else
			fputc(byte, out);
	fputc('"', out);
}

static char *make_probe(unsigned how, struct reader *in)
{
	uint8_t chosen[ARGS_MAX];
	size_t size, count = next(in) % ARGS_MAX;
	char *probe = NULL;
	FILE *out = open_memstream(&probe, &size);

	for (size_t i = 0; i < count; i++)
		chosen[i] = next(in);
	fprintf(out, "%smain.f%s", how & AT_RETURN ? "r:" : "", signature);
	if (!(how & NO_FORMAT))
		write_format(out, in);
	for (size_t i = 0; i < count && !(how & NO_FORMAT); i++)
		fprintf(out, ", %s", exprs[chosen[i] % (sizeof(exprs) / sizeof(exprs[0]))]);
	fclose(out);
	return probe;
}

/* what interfaces may hold: anything that the signature has */
static const struct gotype *find_type(void *ctx, uint64_t rtype, bool *direct)
{
	const struct genprobe *gp = ctx;
	const struct gotype *type = gp->fn.params[rtype / RTYPE_STEP % gp->fn.param_count].type;

	*direct = type->kind == GOTYPE_POINTER;
	return rtype % 8 ? NULL : type;
}

static const char *find_func(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr % 2 ? NULL : "main.\x1b[2J";
}

/* but for the format's own characters, which are the user's */
static void check_printed(const char *text, size_t len, bool own)
{
	if (len > PRINTED_MAX)
		abort();
	for (size_t i = 0; i < len && !own; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			abort();
}

static void print_json(FILE *out, const struct format_arg *args, size_t count,
		       const struct value_source *source)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	json_key(&json, "values");
	json_array(&json);
	for (size_t i = 0; i < count; i++) {
		if (args[i].kind == FORMAT_SHAPE)
			value_json(&json, args[i].shape, source);
		for (size_t n = 0; args[i].kind == FORMAT_LIST && n < args[i].list_count; n++)
			if (args[i].list[n].shape)
				value_json(&json, args[i].list[n].shape, source);
	}
	json_array_end(&json);
	json_object_end(&json);
}

static bool has_control(const struct probespec *spec)
{
	for (size_t i = 0; spec->format && i < spec->format_len; i++)
		if ((unsigned char)spec->format[i] < ' ' || spec->format[i] == 0x7f)
			return true;
	return false;
}

static void print(struct genprobe *gp, const struct traceprint_event *event)
{
	const struct value_source source = {.record = event->record,
					    .len = event->record_len,
					    .limits = {.string_max = 80, .record_max = 16384},
					    .type = find_type,
					    .func = find_func,
					    .ctx = gp};
	struct format_arg *args = traceprint_args(event);
	size_t count = gp->plan.arg_count, len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	if (gp->format)
		format_print(out, gp->format, args, count, &source);
	for (size_t i = 0; !gp->format && i < count; i++)
		if (args[i].kind == FORMAT_LIST)
			format_print_list(out, args[i].list, args[i].list_count, &source, VALUE_GO);
	fflush(out);
	check_printed(text, len, has_control(&gp->spec));
	rewind(out);
	print_json(out, args, count, &source);
	fclose(out);
	check_printed(text, len - 1, false);
	free(text);
	traceprint_free_args(args, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader in = {data, size};
	unsigned how = next(&in);
	const struct genprobe_how as = {.arch = ARCH_AMD64,
					.convention = how & ON_STACK ? ABI_STACK : ABI_REGISTERS,
					.several = how & SEVERAL};
	struct trace_event head = {.how = how & ENDED ? TRACE_PANICKED : how & AT_RETURN};
	char *probe = make_probe(how, &in);
	struct genprobe gp;
	struct errmsg err = {0};

	if (!genprobe_make(&gp, probe, &as, &err)) {
		const struct traceplan_item item = {.args = gp.plan.args,
						    .arg_count = gp.plan.arg_count};
		/* a copy, so that reading beyond it is found */
		uint8_t *record = mem_alloc(in.size + 1);
		const struct traceprint_event event = {.head = &head,
						       .item = &item,
						       .func = "main.f",
						       .comm = "f",
						       .record = record,
						       .record_len = in.size};

		memcpy(record, in.data, in.size);
		print(&gp, &event);
		free(record);
	} else if (!err.text[0]) {
		abort();
	}
	genprobe_free(&gp);
	free(probe);
	return 0;
}

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	static const char *const seeds[] = {
		"\x00\x01\x0d%v",
		"\x01\x05\x01\x03\x05\x09\x1c%x|%+v|%v|%5d|%v\n",
		"\x02\x04\x2b\x12\x13\x14%-10.3s|%+v|%v|%q",
		"\x03\x07\x16\x17\x18\x19\x1a\x1b\x1d%d%o%s%s%08d%x%v",
		"\x10\x00",
		"\x11\x00",
		"\x04\x03\x04\x06\x0f%v %#v %+v",
	};
	enum { RECORD = 4096 };

	if (index >= sizeof(seeds) / sizeof(seeds[0]))
		return NULL;
	/* the numbers before the format are never 0 but for the first */
	size_t len = 2 + strlen(seeds[index] + 2) + 1;
	uint8_t *seed = mem_zalloc(1, len + RECORD);

	memcpy(seed, seeds[index], len);
	for (size_t i = 0; i < RECORD; i += 8)
		seed[len + i] = i % 3 ? 8 : 64;
	*size = len + RECORD;
	return seed;
}

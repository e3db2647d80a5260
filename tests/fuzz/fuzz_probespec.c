// SPDX-License-Identifier: Apache-2.0
/* Arbitrary text as a PROBE: whatever is taken must be well-formed, and whatever is refused must
 * say where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "fuzz.h"
#include "probespec/probespec.h"

/* What is said of trees in expr.h; answers how many parts there are. */
static unsigned check_expr(const struct expr *expr, unsigned length)
{
	static const char children[] = {
		[EXPR_FIELD] = 1,  [EXPR_INDEX] = 2, [EXPR_DEREF] = 1,  [EXPR_LEN] = 1,
		[EXPR_CAP] = 1,    [EXPR_UNARY] = 1, [EXPR_BINARY] = 2, [EXPR_STRCMP] = 1,
		[EXPR_PREFIX] = 1, [EXPR_SLICE] = 2, [EXPR_AFTER] = 1,  [EXPR_ASSERT] = 1,
		[EXPR_SINCE] = 1,
	};
	/* any bound may be missing; a context's own */
	bool is_slice = expr->kind == EXPR_SLICE;
	bool is_context = expr->kind == EXPR_CTX || expr->kind == EXPR_TRACEID;

	if (expr->kind > EXPR_PREFIX || !expr->col || expr->col > length)
		abort();
	if ((!is_context && !!expr->a != (children[expr->kind] > 0)) ||
	    (!is_slice && expr->kind != EXPR_CTX && !!expr->b != (children[expr->kind] > 1)) ||
	    (!is_slice && expr->c))
		abort();
	if (expr->text && expr->text[expr->len])
		abort();
	if ((expr->kind == EXPR_NAME || expr->kind == EXPR_FIELD) &&
	    strlen(expr->text) != expr->len)
		abort();
	return 1 + (expr->a ? check_expr(expr->a, length) : 0) +
	       (expr->b ? check_expr(expr->b, length) : 0) +
	       (expr->c ? check_expr(expr->c, length) : 0);
}

static void check_bounded(const struct expr *expr, unsigned length)
{
	if (check_expr(expr, length) > PROBESPEC_EXPR_MAX)
		abort();
}

static void check_spec(const char *text, const struct probespec *spec)
{
	size_t length = strlen(text), target = strlen(spec->target);

	/* what is escaped stands there in other words */
	if (!target ||
	    (!strstr(text, "\\ ") && strncmp(text + spec->target_col - 1, spec->target, target)))
		abort();
	if (spec->signature &&
	    strncmp(text + spec->signature_col - 1, spec->signature, strlen(spec->signature)))
		abort();
	if (spec->predicate)
		check_bounded(spec->predicate, length);
	if (!spec->format && spec->arg_count)
		abort();
	for (size_t i = 0; spec->format && i <= spec->format_len; i++)
		if (!spec->format_cols[i] || spec->format_cols[i] > length)
			abort();
	for (size_t i = 0; i < spec->arg_count; i++) {
		check_bounded(spec->args[i], length);
		if (!strstr(text, spec->arg_texts[i]))
			abort();
	}
}

static void parse(const char *text, bool regex)
{
	struct probespec spec;
	struct errmsg err = {0};
	unsigned col;

	if (!probespec_parse(text, regex, &spec, &err)) {
		check_spec(text, &spec);
		probespec_free(&spec);
	} else if (strncmp(err.text, "col ", 4) != 0) { /* of other tools: refused as a whole */
		if (!*err.text || !*err.hint)
			abort();
	} else if (sscanf(err.text, "col %u: ", &col) != 1 || !col || col > strlen(text) + 1) {
		abort();
	}
}

/* goargdist's: each EXPR has its verb. */
static void parse_values(const char *text, bool regex)
{
	struct probespec spec;
	struct errmsg err = {0};
	size_t verbs = 0;

	if (probespec_parse_values(text, regex, &spec, &err)) {
		if (!*err.text)
			abort();
		return;
	}
	for (const char *at = spec.format; (at = strstr(at, " = %v")); at++)
		verbs++;
	if (verbs < spec.arg_count || strlen(spec.format) != spec.format_len)
		abort();
	for (size_t i = 0; i < spec.arg_count; i++)
		check_bounded(spec.args[i], strlen(text));
	probespec_free(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	parse(text, false);
	parse(text, true);
	parse_values(text, false);
	parse_values(text, true);
	free(text);
	return 0;
}

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	static const char *const seeds[] = {
		"r:app:main.(*Store).Get (err != nil) \"%s: %v after %d ns\", key, err, $latency",
		"p:./app:main.Map[go.shape.struct { X int }](x, y int, a ...any) (n int, err "
		"error) "
		"(x > 1) \"%d\\n\\u00e9\\x41\", *x.y[1], len(z)",
		"f(c chan<- func(int) (string, error), m map[string][4]*main.T) func() (func()) "
		"(x) \"\"",
		"main.(*Sto* (!STRCMP(\"a\\tb\", x.y) && hasprefix(z, \"c\") && goarg1 << 2 | 0x1f "
		">= 'a' + ~r0 - ~(-1))",
		"r:app:main.Put(k main.Key) error (goret2 != nil) k.Name, len(s) % 3, $err",
		"r:app:main.f(int x):int,int:$retval,$entry(x):x==1#label",
		"main.f ($traceid == \"\" && $traceid(r.ctx) != \"a\") \"%s\", $label(\"k\")",
		"main.f \"%v %v\", $ctx(\"main.k\", -5).(*main.T).a, $ctx(x.ctx, \"string\", "
		"\"b\")",
		"r::f \"%v %v %v\", goargs, gorets, retval , $parent_goid",
		"f (a.(*main.T).b != nil) \"%v\", x.( main.Map[string, int] ).y",
		"f (((((a[b[c[d[1_0]]]]))))) \"%%\", 0b11, 0o17, 017, nil, true, cap(x)",
	};

	if (index >= sizeof(seeds) / sizeof(seeds[0]))
		return NULL;
	*size = strlen(seeds[index]);
	return (uint8_t *)strdup(seeds[index]);
}

// SPDX-License-Identifier: Apache-2.0
/* What a context.Context has under a key: contexts stand one within the other, and one of each kind
 * says what it adds (Go's src/context/context.go). User space tells by map `contexts` where the
 * next one stands in the values of a type. Contexts never change, and the function that is called
 * with one keeps it alive. */
BPF_F_TABLE("hash", u64, struct trace_context, contexts, TRACE_CONTEXTS, BPF_F_NO_PREALLOC);

struct go_interface {
	u64 type, data; /* type: an itab, or of an `any` the type itself */
};

/* A constant in generated code. */
struct context_key {
	u64 rtype;    /* of the key: its descriptor's address in the file */
	bool any;     /* is its value no matter? Else it is `text`: the key's bytes, */
	bool is_text; /* or those of the string that it is */
	struct text_key text;
};

/* What is known of the type that an interface holds; NULL: nothing. `type`: its descriptor's
 * address, 0 for a nil interface. */
static inline struct trace_context *context_holds(u64 type, struct hit *hit)
{
	u64 key = type_key_of(type - hit->bias, hit->program);

	return contexts.lookup(&key);
}

/* Is the `any` at `at` the key? */
static inline bool is_context_key(s64 *failed, u64 at, const struct context_key *key,
				  struct hit *hit)
{
	u64 data;

	if (read_word(failed, 8, at) - hit->bias != key->rtype)
		return false;
	if (key->any)
		return true;
	data = read_word(failed, 8, at + 8);
	if (!key->is_text)
		return has_bytes(failed, data, &key->text);
	if (read_word(failed, 8, data + 8) != key->text.len)
		return false;
	return has_bytes(failed, read_word(failed, 8, data), &key->text);
}

/* The value under the key, as an `any`; {0, 0}: there is none. (What is read is forgotten at each
 * step: else the verifier walks the next ones once for each way through the ones before.) */
static inline struct go_interface context_value(s64 *bad, struct hit *hit, u64 itab, u64 data,
						const struct context_key *key)
{
	struct go_interface found = {};
	struct trace_context *holds;
	u64 at, noise = hit->sp, value = 0;
	u32 what = TRACE_CONTEXT_SPAN, i;
	s64 failed = 0, no_itab;

#pragma clang loop unroll(disable)
	for (i = 0; i < TRACE_CONTEXT_DEPTH; i = loop_next(i)) {
		/* an itab has its type at 8 (Go's src/internal/abi/iface.go) */
		no_itab = 0;
		at = read_word(&no_itab, 8, itab + 8);
		what = TRACE_CONTEXT_SPAN;
		holds = context_holds(at, hit);
		if (!holds)
			break;
		what = holds->what;
		if (what != TRACE_CONTEXT_WITHIN && what != TRACE_CONTEXT_VALUE)
			break;
		at = data + holds->off;
		if (what == TRACE_CONTEXT_VALUE && is_context_key(&failed, at + 16, key, hit)) {
			value = at + 32;
			break;
		}
		itab = forget_value(read_word(&failed, 8, at), noise);
		data = forget_value(read_word(&failed, 8, at + 8), noise);
		failed = forget_value(failed, noise);
	}
	if (!itab)
		what = TRACE_CONTEXT_ROOT;
	value = forget_value(value, noise);
	if (value) {
		found.type = read_word(&failed, 8, value);
		found.data = read_word(&failed, 8, value + 8);
	}
	must(bad, failed ? TRACE_FAULT : value || what == TRACE_CONTEXT_ROOT ? 0 : TRACE_CONTEXT);
	*bad = forget_value(*bad, noise);
	found.type = forget_value(found.type, noise);
	found.data = forget_value(found.data, noise);
	return found;
}

/* What there is of a trace's ID, in two words; 0, 0: no span, or one without a trace. */
struct trace_id {
	u64 first, last;
};

static inline struct trace_id context_trace(s64 *bad, struct hit *hit, u64 itab, u64 data,
					    const struct context_key *key)
{
	struct go_interface span = context_value(bad, hit, itab, data, key);
	struct trace_context *holds = context_holds(span.type, hit);
	struct trace_id id = {};

	if (!span.type || (holds && holds->what == TRACE_CONTEXT_ROOT))
		return id;
	if (!holds || holds->what != TRACE_CONTEXT_SPAN) {
		must(bad, TRACE_CONTEXT);
		return id;
	}
	id.first = fetch_word(bad, 8, span.data + holds->off);
	id.last = fetch_word(bad, 8, span.data + holds->off + 8);
	return id;
}

/* Is an interface with this first word a context? */
static inline bool is_context(u64 itab, struct hit *hit)
{
	s64 failed = 0;
	struct trace_context *holds = context_holds(read_word(&failed, 8, itab + 8), hit);

	return holds && holds->what != TRACE_CONTEXT_SPAN;
}

/* The first of two pairs of words that is a context, of a function whose parameters are not known;
 * none: an itab that cannot be read. */
static inline struct go_interface context_either(struct hit *hit, u64 itab, u64 data, u64 next_itab,
						 u64 next_data)
{
	struct go_interface found = {1, 0};

	if (is_context(next_itab, hit)) {
		found.type = next_itab;
		found.data = next_data;
	}
	if (is_context(itab, hit)) {
		found.type = itab;
		found.data = data;
	}
	found.type = forget_value(found.type, hit->sp);
	found.data = forget_value(found.data, hit->sp);
	return found;
}

/* The string that an `any` holds; none: an empty one. */
static inline struct go_interface held_string(s64 *bad, struct hit *hit, u64 type, u64 data,
					      u64 rtype)
{
	struct go_interface text = {};

	if (!type)
		return text;
	if (dynamic_type(type, DYNAMIC_TYPE, hit) != rtype) {
		must(bad, TRACE_OTHER);
		return text;
	}
	text.type = fetch_word(bad, 8, data);
	text.data = fetch_word(bad, 8, data + 8);
	return text;
}

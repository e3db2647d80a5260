// SPDX-License-Identifier: Apache-2.0
#include "profile/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "profile/gzip_internal.h"
#include "profile/pprof_internal.h"
#include "profile/profile_internal.h"
#include "profile/protobuf_internal.h"

/* numbers of fields in profile.proto */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum {
	MAPPING_ID = 1,
	MAPPING_MEMORY_START,
	MAPPING_MEMORY_LIMIT,
	MAPPING_FILE_OFFSET,
	MAPPING_FILENAME,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILENAMES,
	MAPPING_HAS_LINE_NUMBERS,
	MAPPING_HAS_INLINE_FRAMES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION_ID = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILENAME = 4, FUNCTION_START_LINE };

struct writing {
	const struct profile *profile;
	struct interned texts; /* the profile's come first, with the same numbers */
	struct protobuf all, msg, sub;
};

/* IDs begin with 1: 0 is none. */
static uint64_t id_of(uint64_t number)
{
	return number + 1;
}

static void end_message(struct writing *out, unsigned field)
{
	protobuf_message(&out->all, field, &out->msg);
	protobuf_clear(&out->msg);
}

static void end_sub(struct writing *out, unsigned field)
{
	protobuf_message(&out->msg, field, &out->sub);
	protobuf_clear(&out->sub);
}

static void put_type(struct writing *out, unsigned field, const struct profile_type *type)
{
	protobuf_number(&out->msg, VALUE_TYPE_TYPE, interned_text(&out->texts, type->name));
	protobuf_number(&out->msg, VALUE_TYPE_UNIT, interned_text(&out->texts, type->unit));
	end_message(out, field);
}

static void put_types(struct writing *out)
{
	const struct profile_spec *spec = out->profile->spec;

	for (size_t i = 0; i < spec->type_count; i++)
		put_type(out, PROFILE_SAMPLE_TYPE, &spec->types[i]);
}

static void put_labels(struct writing *out, size_t number)
{
	size_t count;
	const uint64_t *words = interned_words_at(&out->profile->labels, number, &count);

	for (; count; count -= PROFILE_LABEL_WORDS, words += PROFILE_LABEL_WORDS) {
		protobuf_number(&out->sub, LABEL_KEY, words[PROFILE_LABEL_KEY]);
		protobuf_number(&out->sub, LABEL_STR, words[PROFILE_LABEL_TEXT]);
		protobuf_number(&out->sub, LABEL_NUM, words[PROFILE_LABEL_NUMBER]);
		end_sub(out, SAMPLE_LABEL);
	}
}

static void put_sample(struct writing *out, size_t row)
{
	const struct profile *profile = out->profile;
	size_t count, types = profile->spec->type_count;
	const uint64_t *words = interned_words_at(&profile->rows, row, &count);
	const uint64_t *stack =
		interned_words_at(&profile->stacks, words[PROFILE_ROW_STACK], &count);

	for (size_t i = 0; i < count; i++)
		protobuf_packed(&out->sub, id_of(stack[i]));
	end_sub(out, SAMPLE_LOCATION_ID);
	for (size_t i = 0; i < types; i++) {
		uint64_t value = profile->values[row * types + i];

		protobuf_packed(&out->sub, value < INT64_MAX ? value : INT64_MAX);
	}
	end_sub(out, SAMPLE_VALUE);
	put_labels(out, words[PROFILE_ROW_LABELS]);
	end_message(out, PROFILE_SAMPLE);
}

/* Nobody has to look for names in the file: it may be gone, and has no symbols if it is stripped.
 */
static void put_mapping(struct writing *out, size_t number)
{
	size_t count;
	const uint64_t *words = interned_words_at(&out->profile->mappings, number, &count);
	struct protobuf *msg = &out->msg;

	protobuf_number(msg, MAPPING_ID, id_of(number));
	protobuf_number(msg, MAPPING_MEMORY_START, words[PROFILE_MAPPING_START]);
	protobuf_number(msg, MAPPING_MEMORY_LIMIT, words[PROFILE_MAPPING_LIMIT]);
	protobuf_number(msg, MAPPING_FILE_OFFSET, words[PROFILE_MAPPING_OFF]);
	protobuf_number(msg, MAPPING_FILENAME, words[PROFILE_MAPPING_FILE]);
	protobuf_number(msg, MAPPING_BUILD_ID, words[PROFILE_MAPPING_BUILD_ID]);
	protobuf_number(msg, MAPPING_HAS_FUNCTIONS, true);
	protobuf_number(msg, MAPPING_HAS_FILENAMES, true);
	protobuf_number(msg, MAPPING_HAS_LINE_NUMBERS, true);
	protobuf_number(msg, MAPPING_HAS_INLINE_FRAMES, true);
	end_message(out, PROFILE_MAPPING);
}

static void put_location(struct writing *out, size_t number)
{
	size_t count;
	const uint64_t *words = interned_words_at(&out->profile->locations, number, &count);
	uint64_t mapping = words[PROFILE_LOCATION_MAPPING];

	protobuf_number(&out->msg, LOCATION_ID, id_of(number));
	if (profile_is_mapping(mapping))
		protobuf_number(&out->msg, LOCATION_MAPPING_ID, id_of(mapping));
	protobuf_number(&out->msg, LOCATION_ADDRESS, words[PROFILE_LOCATION_ADDR]);
	for (size_t i = PROFILE_LOCATION_WORDS; i + 1 < count; i += 2) {
		protobuf_number(&out->sub, LINE_FUNCTION_ID, id_of(words[i]));
		protobuf_number(&out->sub, LINE_LINE, words[i + 1]);
		end_sub(out, LOCATION_LINE);
	}
	end_message(out, PROFILE_LOCATION);
}

/* Without a system_name: pprof takes a name that is the same in both for one of C++, and cuts off
 * what it holds for templates and parameters, as of main.(*List[...]).Push. */
static void put_function(struct writing *out, size_t number)
{
	size_t count;
	const uint64_t *words = interned_words_at(&out->profile->funcs, number, &count);

	protobuf_number(&out->msg, FUNCTION_ID, id_of(number));
	protobuf_number(&out->msg, FUNCTION_NAME, words[PROFILE_FUNC_NAME]);
	protobuf_number(&out->msg, FUNCTION_FILENAME, words[PROFILE_FUNC_FILE]);
	protobuf_number(&out->msg, FUNCTION_START_LINE, words[PROFILE_FUNC_LINE]);
	end_message(out, PROFILE_FUNCTION);
}

/* Names come from strangers, and pprof prints them to terminals as they are. */
static void put_texts(struct writing *out)
{
	for (size_t i = 0; i < out->texts.count; i++) {
		char *text = escape_text(interned_text_at(&out->texts, i));

		protobuf_bytes(&out->all, PROFILE_STRING_TABLE, text, strlen(text));
		free(text);
	}
}

static void put_rest(struct writing *out)
{
	const struct profile *profile = out->profile;
	const struct profile_spec *spec = profile->spec;
	char *comment = mem_printf("%s (bcc-gotools) %s", spec->tool, GOTOOLS_VERSION);

	protobuf_number(&out->all, PROFILE_TIME_NANOS, profile->began_ns);
	protobuf_number(&out->all, PROFILE_DURATION_NANOS, profile->lasted_ns);
	if (spec->sampled.name) {
		put_type(out, PROFILE_PERIOD_TYPE, &spec->sampled);
		protobuf_number(&out->all, PROFILE_PERIOD, profile->period);
	}
	protobuf_number(&out->all, PROFILE_COMMENT, interned_text(&out->texts, comment));
	protobuf_number(&out->all, PROFILE_DEFAULT_SAMPLE_TYPE,
			interned_text(&out->texts, spec->types[spec->shown].name));
	free(comment);
}

static void copy_texts(struct writing *out)
{
	const struct interned *texts = &out->profile->texts;

	for (size_t i = 0; i < texts->count; i++)
		interned_text(&out->texts, interned_text_at(texts, i));
}

void *pprof_bytes(const struct profile *profile, size_t *len)
{
	struct writing out = {.profile = profile};
	size_t *rows = profile_sorted(profile);

	copy_texts(&out);
	put_types(&out);
	for (size_t i = 0; i < profile->rows.count; i++)
		put_sample(&out, rows[i]);
	for (size_t i = 0; i < profile->mappings.count; i++)
		put_mapping(&out, i);
	for (size_t i = 0; i < profile->locations.count; i++)
		put_location(&out, i);
	for (size_t i = 0; i < profile->funcs.count; i++)
		put_function(&out, i);
	put_rest(&out);
	put_texts(&out);
	free(rows);
	interned_free(&out.texts);
	protobuf_free(&out.msg);
	protobuf_free(&out.sub);
	*len = out.all.len;
	return out.all.bytes;
}

int pprof_open(struct pprof *pprof, const char *path, const struct profile_spec *spec,
	       struct errmsg *err)
{
	static const struct outfile_spec file = {.option = "--pprof", .folder = ""};

	*pprof = (struct pprof){0};
	if (!path)
		return 0;
	pprof->file = outfile_open(path, &file, err);
	if (!pprof->file)
		return -1;
	pprof->profile = profile_new(spec);
	return 0;
}

int pprof_write(const struct pprof *pprof, struct errmsg *err)
{
	size_t len, packed_len;

	if (!pprof->profile)
		return 0;
	void *bytes = pprof_bytes(pprof->profile, &len), *packed = gzip(bytes, len, &packed_len);
	int ret = packed ? outfile_write(pprof->file, packed, packed_len, err)
			 : errmsg_set(err, "--pprof: the profile is too large to be compressed");

	free(bytes);
	free(packed);
	return ret;
}

void pprof_close(struct pprof *pprof)
{
	outfile_close(pprof->file);
	profile_free(pprof->profile);
	*pprof = (struct pprof){0};
}

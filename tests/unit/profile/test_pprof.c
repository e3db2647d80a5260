// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "elffile.h"
#include "frames/frames.h"
#include "profile/pprof.h"
#include "profile/pprof_internal.h"
#include "profile/profile_internal.h"
#include "unit.h"

static const struct profile_type types[] = {{"waits", "count"}, {"delay", "nanoseconds"}};
static const struct profile_spec spec = {
	.tool = "test", .types = types, .type_count = 2, .shown = 1};

/* --- what is in a message, field by field --- */

struct field {
	unsigned number;
	uint64_t value; /* or, of bytes: how many */
	const uint8_t *bytes;
};

static uint64_t varint(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do
		value |= (uint64_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return value;
}

static bool next(const uint8_t **at, const uint8_t *end, struct field *out)
{
	if (*at >= end)
		return false;
	uint64_t tag = varint(at);

	*out = (struct field){.number = tag >> 3, .value = varint(at)};
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	if ((tag & 7) != 2)
		return true;
	out->bytes = *at;
	*at += out->value;
	assert_true(*at <= end);
	return true;
}

/* The nth field with this number; false: there are not so many. */
static bool find(const uint8_t *bytes, size_t len, unsigned number, size_t nth, struct field *out)
{
	const uint8_t *at = bytes;

	while (next(&at, bytes + len, out))
		if (out->number == number && !nth--)
			return true;
	return false;
}

struct written {
	uint8_t *bytes;
	size_t len;
};

static struct written write_out(struct profile *profile)
{
	struct written out;

	out.bytes = pprof_bytes(profile, &out.len);
	profile_free(profile);
	return out;
}

static void expect_text(const struct written *out, size_t number, const char *wanted)
{
	struct field text;

	assert_true(find(out->bytes, out->len, 6, number, &text));
	assert_int_equal(text.value, strlen(wanted));
	assert_memory_equal(text.bytes, wanted, text.value);
}

static size_t count(const struct written *out, unsigned number)
{
	struct field field;
	size_t n = 0;

	while (find(out->bytes, out->len, number, n, &field))
		n++;
	return n;
}

/* The values of a sample */
static void expect_sample(const struct written *out, size_t nth, uint64_t first, uint64_t second)
{
	struct field sample, values;

	assert_true(find(out->bytes, out->len, 2, nth, &sample));
	assert_true(find(sample.bytes, sample.value, 2, 0, &values));
	const uint8_t *at = values.bytes;

	assert_int_equal(varint(&at), first);
	assert_int_equal(varint(&at), second);
	assert_true(at == values.bytes + values.value);
}

/* --- */

static void add(struct profile *profile, const char *word, const char *state, uint64_t waits,
		uint64_t ns)
{
	profile_word(profile, word);
	profile_label(profile, "state", state);
	profile_add(profile, (uint64_t[]){waits, ns});
}

static void adds_up_what_is_the_same(void **state)
{
	struct profile *profile = profile_new(&spec);

	(void)state;
	add(profile, "[one]", "sleep", 1, 10);
	add(profile, "[two]", "sleep", 2, 500);
	add(profile, "[one]", "select", 3, 30);
	add(profile, "[one]", "sleep", 4, 40);
	add(profile, "[one]", NULL, 0, UINT64_MAX);
	struct written out = write_out(profile);

	assert_int_equal(count(&out, 2), 4);
	assert_int_equal(count(&out, 4), 2); /* locations */
	expect_sample(&out, 0, 0, INT64_MAX);
	expect_sample(&out, 1, 2, 500);
	expect_sample(&out, 2, 5, 50);
	expect_sample(&out, 3, 3, 30);
	free(out.bytes);
}

/* Each of a sample's labels is one of its own, in their order. */
static void has_several_labels(void **state)
{
	struct profile *profile = profile_new(&spec);
	struct field sample, label, value;

	(void)state;
	profile_label(profile, "one", "first");
	profile_label(profile, "two", "second");
	profile_label(profile, "three", "third");
	add(profile, "[one]", NULL, 1, 10);
	struct written out = write_out(profile);
	uint64_t keys[3];

	assert_true(find(out.bytes, out.len, 2, 0, &sample));
	for (size_t i = 0; i < 3; i++) {
		assert_true(find(sample.bytes, sample.value, 3, i, &label));
		assert_true(find(label.bytes, label.value, 1, 0, &value));
		keys[i] = value.value;
		assert_true(find(label.bytes, label.value, 2, 0, &value));
		assert_int_equal(value.value, keys[i] + 1);
	}
	assert_true(keys[0] < keys[1] && keys[1] < keys[2]);
	assert_false(find(sample.bytes, sample.value, 3, 3, &label));
	free(out.bytes);
}

static void begins_with_the_empty_text(void **state)
{
	struct written out = write_out(profile_new(&spec));
	struct field field;

	(void)state;
	expect_text(&out, 0, "");
	assert_true(find(out.bytes, out.len, 14, 0, &field)); /* default_sample_type */
	expect_text(&out, field.value, "delay");
	assert_int_equal(count(&out, 1), 2);
	free(out.bytes);
}

/* pprof prints names as they are: to a terminal. */
static void escapes_names(void **state)
{
	struct profile *profile = profile_new(&spec);

	(void)state;
	add(profile, "\x1b[31m\xff", "a\nb", 1, 1);
	struct written out = write_out(profile);

	expect_text(&out, 1, "\\x1b[31m\\xff");
	expect_text(&out, 2, "state");
	expect_text(&out, 3, "a\\nb");
	free(out.bytes);
}

/* --- mappings --- */

/* A message's fields as text: "1=2 5=3 ", those of fields that are bytes with their length */
static void expect_message(const struct written *out, unsigned number, size_t nth, const char *want)
{
	struct field message = {0}, field;
	char text[256];
	size_t len = 0;

	assert_true(find(out->bytes, out->len, number, nth, &message));
	const uint8_t *at = message.bytes;

	while (next(&at, message.bytes + message.value, &field))
		len += snprintf(text + len, sizeof(text) - len, "%u=%lx ", field.number,
				(unsigned long)field.value);
	assert_string_equal(text, want);
}

/* The number of a field of the nth message; the field is there. */
static size_t number_of(const struct written *out, unsigned message, size_t nth, unsigned number)
{
	struct field of, field = {0};

	assert_true(find(out->bytes, out->len, message, nth, &of));
	assert_true(find(of.bytes, of.value, number, 0, &field));
	return field.value;
}

static struct image *open_image(struct elffile *f, uint8_t id)
{
	/* as of an ELF note: lengths of the name and of the ID, NT_GNU_BUILD_ID */
	static const uint8_t note[] = "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0\1\xab";
	Elf64_Shdr *section = elffile_section(f, ".note.gnu.build-id", ELFFILE_RODATA, 20);

	section->sh_type = SHT_NOTE;
	elffile_bytes(f, ELFFILE_RODATA, note, 19);
	elffile_bytes(f, ELFFILE_RODATA + 18, &id, 1);
	/* of the third segment, less than whole pages is in memory */
	elffile_segment(f, 2)->p_vaddr += 0x10;
	elffile_segment(f, 2)->p_offset += 0x10;
	elffile_segment(f, 2)->p_filesz = elffile_segment(f, 2)->p_memsz = 0x1001;
	struct image *img = elffile_open(f, NULL);

	assert_non_null(img);
	return img;
}

static void add_frame(struct profile *profile, const struct image *img, uint64_t bias, uint64_t at)
{
	const struct frames frames = {.img = img, .bias = bias};
	const struct profile_at to = {profile, &frames};

	profile_frame(
		(void *)&to,
		&(struct frame){.func = "f", .file = "f.go", .line = 3, .start_line = 2, .at = at});
	profile_add(profile, (uint64_t[]){1, 1});
}

/* Each segment of each program, at each place, is there once, in whole pages. */
static void has_mappings(void **state)
{
	struct profile *profile = profile_new(&spec);
	struct elffile *files[2] = {elffile_new(EM_X86_64), elffile_new(EM_X86_64)};
	struct image *images[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		images[i] = open_image(files[i], 0x20 + i);
	for (unsigned again = 0; again < 2; again++) {
		add_frame(profile, images[0], 0, ELFFILE_TEXT);
		add_frame(profile, images[0], 0, ELFFILE_RODATA - 1);
		add_frame(profile, images[0], 0, ELFFILE_DATA + 0x10);
		add_frame(profile, images[0], 0, ELFFILE_DATA + 0x1011); /* behind it */
		add_frame(profile, images[0], 0x10000, ELFFILE_TEXT);
		add_frame(profile, images[1], 0, ELFFILE_TEXT);
	}
	assert_int_equal(profile->mapped_count, 4); /* looked up, no more are made */
	struct written out = write_out(profile);

	expect_message(&out, 3, 0, "1=1 2=401000 3=402000 4=1000 5=1 6=2 7=1 8=1 9=1 10=1 ");
	expect_message(&out, 3, 1, "1=2 2=404000 3=406000 4=4000 5=1 6=2 7=1 8=1 9=1 10=1 ");
	expect_message(&out, 3, 2, "1=3 2=411000 3=412000 4=1000 5=1 6=2 7=1 8=1 9=1 10=1 ");
	expect_message(&out, 4, 0, "1=1 2=1 3=401000 4=4 ");
	expect_message(&out, 4, 2, "1=3 2=2 3=404010 4=4 ");
	expect_message(&out, 4, 3, "1=4 3=405011 4=4 ");
	expect_message(&out, 4, 4, "1=5 2=3 3=411000 4=4 ");
	expect_message(&out, 5, 0, "1=1 2=3 4=4 5=2 ");
	assert_int_equal(count(&out, 3), 4);
	assert_int_equal(count(&out, 4), 6);
	expect_text(&out, number_of(&out, 3, 0, 6), "01ab20");
	expect_text(&out, number_of(&out, 3, 3, 6), "01ab21");
	expect_text(&out, number_of(&out, 3, 0, 5), "/memfd:elffile");
	free(out.bytes);
	for (unsigned i = 0; i < 2; i++) {
		image_close(images[i]);
		elffile_free(files[i]);
	}
}

/* What a sample is of, and how often: of samples alone, and the longest of periods */
static void tells_the_period(void **state)
{
	const struct profile_spec sampled = {
		.tool = "test", .types = types, .type_count = 2, .sampled = {"space", "bytes"}};
	struct profile *profile = profile_new(&sampled);
	struct written out = write_out(profile_new(&spec));
	struct field field;

	(void)state;
	assert_int_equal(count(&out, 11) + count(&out, 12), 0);
	free(out.bytes);
	profile_period(profile, 512);
	profile_period(profile, 1024);
	profile_period(profile, 1);
	out = write_out(profile);
	expect_message(&out, 11, 0, "1=5 2=6 ");
	expect_text(&out, 5, "space");
	expect_text(&out, 6, "bytes");
	assert_true(find(out.bytes, out.len, 12, 0, &field));
	assert_int_equal(field.value, 1024);
	free(out.bytes);
}

/* --- the file --- */

static void is_gzipped(void **state)
{
	char path[] = "/tmp/test_pprof.XXXXXX";
	struct errmsg err = {0};
	struct pprof pprof;
	char bytes[4096];

	(void)state;
	assert_int_equal(pprof_open(&pprof, NULL, &spec, &err), 0);
	assert_null(pprof.profile);
	assert_int_equal(pprof_write(&pprof, &err), 0);
	pprof_close(&pprof);
	assert_int_equal(pprof_open(&pprof, "/nowhere/at/all", &spec, &err), -1);
	assert_non_null(strstr(err.text, "--pprof: "));
	close(mkstemp(path));
	assert_int_equal(pprof_open(&pprof, path, &spec, &err), 0);
	add(pprof.profile, "[one]", "sleep", 1, 10);
	assert_int_equal(pprof_write(&pprof, &err), 0);
	size_t len;
	uint8_t *want = pprof_bytes(pprof.profile, &len);
	gzFile in = gzopen(path, "r");

	assert_false(gzdirect(in));
	assert_int_equal(gzread(in, bytes, sizeof(bytes)), len);
	assert_memory_equal(bytes, want, len);
	gzclose(in);
	free(want);
	unlink(path);
	pprof_close(&pprof);
	assert_null(pprof.profile);
}

/* Sums stay what they are, whatever there is no room for. */
static void has_a_row_for_the_rest(void **state)
{
	enum { ROWS = 1 << 18, MORE = 10 };
	struct profile *profile = profile_new(&spec);

	(void)state;
	for (uint64_t i = 0; i < ROWS + MORE; i++) {
		profile_word(profile, "[one]");
		profile_number(profile, "pid", i);
		profile_add(profile, (uint64_t[]){1, 1});
	}
	struct written out = write_out(profile);
	const uint8_t *at = out.bytes;
	struct field field;
	size_t rows = 0;

	while (next(&at, out.bytes + out.len, &field))
		rows += field.number == 2;
	assert_int_equal(rows, ROWS + 1);
	expect_sample(&out, 0, MORE, MORE);
	free(out.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_up_what_is_the_same),
		cmocka_unit_test(has_several_labels),
		cmocka_unit_test(begins_with_the_empty_text),
		cmocka_unit_test(tells_the_period),
		cmocka_unit_test(escapes_names),
		cmocka_unit_test(has_a_row_for_the_rest),
		cmocka_unit_test(has_mappings),
		cmocka_unit_test(is_gzipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

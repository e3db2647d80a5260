// SPDX-License-Identifier: Apache-2.0
/* A small stand-in for libFuzzer, where the compiler has none: mutates seeds at random.
 *   fuzz_NAME [-k] [-n COUNT] [-s RANDOM-SEED] [FILE...]
 * Deterministic: the same arguments give the same inputs. Under -k each input is kept in
 * ./fuzz-input while it runs, so that the last one can be had after a crash. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

enum { MAX_SEEDS = 64, RANDOM_SIZE = 4096 };

struct seed {
	uint8_t *data;
	size_t size;
	uint32_t *places; /* of bytes that are not 0: what is written there matters more often */
	size_t nplaces;
};

struct mutator {
	struct seed seeds[MAX_SEEDS];
	unsigned nseeds;
	uint64_t state;
};

static uint64_t next_random(struct mutator *m)
{
	m->state ^= m->state << 13;
	m->state ^= m->state >> 7;
	m->state ^= m->state << 17;
	return m->state * 0x2545f4914f6cdd1d;
}

static size_t below(struct mutator *m, size_t limit)
{
	return (next_random(m) >> 16) % limit;
}

static void add_seed(struct mutator *m, uint8_t *data, size_t size)
{
	struct seed *seed = &m->seeds[m->nseeds];

	if (!size || m->nseeds == MAX_SEEDS) {
		free(data);
		return;
	}
	*seed = (struct seed){.data = data, .size = size};
	seed->places = calloc(size, sizeof(*seed->places));
	for (size_t i = 0; i < size; i++)
		if (data[i])
			seed->places[seed->nplaces++] = i;
	m->nseeds++;
}

static void add_file(struct mutator *m, const char *path)
{
	FILE *in = fopen(path, "rb");
	long size;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < 0 || fseek(in, 0, SEEK_SET)) {
		perror(path);
		exit(2);
	}

	uint8_t *data = malloc(size + 1);

	size = fread(data, 1, size, in);
	fclose(in);
	add_seed(m, data, size);
}

static void add_own_seeds(struct mutator *m)
{
	uint8_t *data;
	size_t size;

	for (unsigned i = 0; fuzz_seed && (data = fuzz_seed(i, &size)); i++)
		add_seed(m, data, size);
	if (m->nseeds)
		return;
	data = malloc(RANDOM_SIZE);
	for (size_t i = 0; i < RANDOM_SIZE; i++)
		data[i] = next_random(m);
	add_seed(m, data, RANDOM_SIZE);
}

static size_t place(struct mutator *m, const struct seed *seed)
{
	if (!seed->nplaces || below(m, 8) == 0)
		return below(m, seed->size);

	/* the byte itself or one of the zeros that follow it in a word */
	size_t at = seed->places[below(m, seed->nplaces)] + below(m, 4);

	return at < seed->size ? at : seed->size - 1;
}

static void write_word(struct mutator *m, const struct seed *seed, uint8_t *data, size_t at)
{
	static const uint64_t words[] = {0,         1,       UINT64_MAX, INT64_MAX,  UINT32_MAX,
					 INT32_MAX, 0x10000, 0x1000000,  0x80000000, 0xfffffff0};
	size_t len = below(m, 2) ? 8 : 4;
	uint64_t word = words[below(m, sizeof(words) / sizeof(*words))];

	at &= ~(len - 1);
	if (at + len > seed->size)
		return;
	if (below(m, 2)) { /* what stands somewhere else, or close to it */
		size_t from = place(m, seed) & ~(len - 1);

		memcpy(&word, seed->data + (from + len > seed->size ? 0 : from), len);
		word += below(m, 5) - 2;
	}
	memcpy(data + at, &word, len);
}

static void mutate_once(struct mutator *m, const struct seed *seed, uint8_t *data)
{
	static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
	size_t at = place(m, seed);

	switch (below(m, 5)) {
	case 0:
		data[at] = next_random(m);
		break;
	case 1:
		data[at] += below(m, 2) ? 1 : -1;
		break;
	case 2:
		data[at] = bytes[below(m, sizeof(bytes))];
		break;
	case 3:
		data[at] ^= 1 << below(m, 8);
		break;
	default:
		write_word(m, seed, data, at);
	}
}

static void keep(const uint8_t *data, size_t size)
{
	FILE *out = fopen("fuzz-input", "wb");

	if (!out)
		return;
	fwrite(data, 1, size, out);
	fclose(out);
}

static void run_once(struct mutator *m, bool keep_it)
{
	const struct seed *seed = &m->seeds[below(m, m->nseeds)];
	/* exactly as long as it is: ASan sees what reads past it */
	size_t size = below(m, 16) ? seed->size : below(m, seed->size) + 1;
	uint8_t *data = malloc(seed->size), *input = malloc(size);
	size_t changes = 1 + below(m, below(m, 4) ? 4 : 32);

	memcpy(data, seed->data, seed->size);
	for (size_t i = 0; i < changes; i++)
		mutate_once(m, seed, data);
	memcpy(input, data, size);
	if (keep_it)
		keep(input, size);
	LLVMFuzzerTestOneInput(input, size);
	free(input);
	free(data);
}

static void free_seeds(struct mutator *m)
{
	for (unsigned i = 0; i < m->nseeds; i++) {
		free(m->seeds[i].data);
		free(m->seeds[i].places);
	}
}

int main(int argc, char **argv)
{
	struct mutator m = {.state = 0x9e3779b97f4a7c15};
	unsigned long count = 1000;
	bool keep_it = false;
	int opt;

	while ((opt = getopt(argc, argv, "kn:s:")) != -1) {
		if (opt == 'n')
			count = strtoul(optarg, NULL, 0);
		else if (opt == 's')
			m.state ^= strtoul(optarg, NULL, 0) * 0x100000001b3;
		else if (opt == 'k')
			keep_it = true;
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		add_file(&m, argv[i]);
	add_own_seeds(&m);
	for (unsigned i = 0; i < m.nseeds; i++)
		LLVMFuzzerTestOneInput(m.seeds[i].data, m.seeds[i].size);
	for (unsigned long i = 0; i < count; i++)
		run_once(&m, keep_it);
	free_seeds(&m);
	printf("%lu inputs from %u seeds\n", count, m.nseeds);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "codewords.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *codeword_piece(char letter, unsigned *len)
{
	static const struct {
		char letter;
		const char *bytes;
		unsigned len;
	} list[] = {
		{'s', "\x48\x89\x01", 3},
		{'p', "\x48\x01\xd8", 3},
		{'l', "\x48\x8b\x01", 3},
		{'c', "\xe8\0\x10\0\0", 5},
		{'u', "\x55", 1},
		{'m', "\x90", 1},
		{'n', "\x0f\x1f\x44\0\0", 5},
		{'t', "\x48\x85\xc0\x74\0", 5},
		{'j', "\xeb\0", 2},
		{'k', "\x48\x85\xc0\x75\0", 5},
		{'o', "\x48\x85\xc0\x75\xfb", 5},
		{'b', "\x75\0", 2},
		{'v', "\x48\x8b\x03", 3},
		{'y', "\x48\x89\xc2", 3},
		{'z', "\x48\x89\xd0", 3},
		{'w', "\x48\x89\x44\x24\x08", 5},
		{'q', "\x48\x8b\x44\x24\x08", 5},
		{'i', "\x48\xff\xc0", 3},
		{'r', "\xc3", 1},
		{'x', "\x0f\x0b", 2},
	};
	size_t i = 0;

	while (list[i].letter != tolower(letter))
		i++;
	*len = list[i].len;
	return list[i].bytes;
}

void codeword_make(struct codeword *word, const char *letters, int32_t call)
{
	unsigned len, at = 0;

	snprintf(word->pieces, sizeof(word->pieces), "%srr", letters);
	word->count = strlen(word->pieces);
	for (unsigned i = 0; i < word->count; i++) {
		word->starts[i] = at;
		const char *bytes = codeword_piece(word->pieces[i], &len);

		memcpy(word->bytes + at, bytes, len);
		at += len;
	}
	word->starts[word->count] = at;
	for (unsigned i = 0; i < word->count; i++) {
		char letter = tolower(word->pieces[i]);
		unsigned end = word->starts[i + 1];
		int32_t distance = call - (int32_t)end;

		if (letter == 'c')
			memcpy(word->bytes + end - 4, &distance, 4);
		else if (letter == 't' || letter == 'j')
			word->bytes[end - 1] = word->starts[i + 2] - end;
		else if (letter == 'k' || letter == 'b')
			word->bytes[end - 1] = word->starts[i ? i - 1 : 0] - end;
	}
}

char codeword_place(const struct codeword *word, uint64_t off)
{
	for (unsigned i = 0; i < word->count; i++)
		if (off < word->starts[i + 1])
			return off == word->starts[i] ? '0' + i : 'a' + i;
	return '?';
}

bool codeword_nth(const char *letters, unsigned len, unsigned n, char *word)
{
	unsigned base = strlen(letters);

	for (unsigned i = len; i--; n /= base)
		word[i] = letters[n % base];
	word[len] = '\0';
	return n == 0;
}

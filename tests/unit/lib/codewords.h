/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a few pieces of amd64 code, written as words, so that a test can go through all
 * words of some letters. A letter's case is for the test to give a meaning to; behind each word
 * stand two RETs:
 *
 *   s  mov [rcx], rax         p  add rax, rbx          l  mov rax, [rcx]
 *   c  call                   u  push rbp              m  nop    n  a nop of five bytes
 *   t  test; je over the next piece                    j  jmp over the next piece
 *   k  test; jne back to the piece before              o  test; jne back to itself
 *   v  mov rax, [rbx]         y  mov rdx, rax          z  mov rax, rdx
 *   w  mov [rsp+8], rax       q  mov rax, [rsp+8]      i  inc rax
 *   b  jne back to the piece before                    r  ret   x  ud2 */
#ifndef CODEWORDS_H
#define CODEWORDS_H

#include <stdbool.h>
#include <stdint.h>

enum { CODEWORDS_PIECES = 8 };

struct codeword {
	char pieces[CODEWORDS_PIECES + 1];
	uint8_t bytes[64];
	unsigned count, starts[CODEWORDS_PIECES + 1]; /* of the pieces, and the end */
};

/* `call`: how far from the function's start what it calls is */
void codeword_make(struct codeword *word, const char *letters, int32_t call);
/* The piece at an offset: its digit, or, if that is not where it begins, its letter of a, b, ... */
char codeword_place(const struct codeword *word, uint64_t off);
/* Word `n` of all words of `len` of these letters; false: there is none. */
bool codeword_nth(const char *letters, unsigned len, unsigned n, char *word);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies a type by 48 bits, with the program's number above them. The same on both sides. With
 * gc, the 48 bits are the descriptor's address in the program's file. A type of gccgo may have
 * descriptors in several files: its bits are computed from the descriptor's hash, kind and size,
 * and the first and last bytes of its name. GCC's hash alone will not do: map[int]string has that
 * of map[string]int. */
#ifndef TYPE_KEY_H
#define TYPE_KEY_H

/* bytes of the name at its start and at its end, with zeros where there are fewer */
#define TYPE_KEY_PART 32
#define TYPE_KEY_BITS 48
#define TYPE_KEY_EVERY_PROGRAM 0xffff

struct type_key_head { /* of a descriptor (libgo's go/runtime/type.go) */
	unsigned long long size, pointers;
	unsigned int hash;
	unsigned char flags, align, field_align, kind;
	unsigned long long equal, gc_data, name; /* addresses */
};

static inline unsigned long long type_key_fold(unsigned long long key, unsigned long long word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 29;
}

static inline unsigned long long type_key_start(const struct type_key_head *head,
						unsigned long long len)
{
	unsigned long long key = type_key_fold(head->size, (head->kind & 0x1f) + (len << 8));

	return type_key_fold(key, head->hash);
}

static inline unsigned long long type_key_part(unsigned long long key,
					       const unsigned long long part[TYPE_KEY_PART / 8])
{
	key = type_key_fold(key, part[0]);
	key = type_key_fold(key, part[1]);
	key = type_key_fold(key, part[2]);
	return type_key_fold(key, part[3]);
}

/* the 48 bits */
static inline unsigned long long type_key_end(unsigned long long key)
{
	return key >> (64 - TYPE_KEY_BITS);
}

static inline unsigned long long type_key_of(unsigned long long type, unsigned long long program)
{
	return type | program << TYPE_KEY_BITS;
}

static inline unsigned long long type_key_program(unsigned long long key)
{
	return key >> TYPE_KEY_BITS;
}

#endif

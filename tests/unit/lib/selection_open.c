// SPDX-License-Identifier: Apache-2.0
#include "selection_open.h"
#include "program/toolchain.h"

#include "selection/selection_print.h"

#include <string.h>

/* main.a is a plain function; main.b as in test_inlining.c: main.inl1 at 4..44 with main.inl2 in it
 * at 24..44, a forwarder; main.c never returns */
static const uint8_t main_a[0x40] = "\x55\x48\x89\xe5\x5d\xc3"; /* push; mov; pop; ret */
static const uint8_t main_b[0x40] = "\x90\x48\x89\xc3\x90\x48\x89\x03"
				    "\x48\x89\x43\x08\x48\x89\x43\x10"
				    "\x48\x89\x43\x08\x48\x89\x43\x10"
				    "\xe8\0\0\0\0\x90\x90\x90\x48\x89\xc1"
				    "\x48\x89\xc8\x48\x89\xc8\x48\x89\xc8"
				    "\xc3\xcc\xcc\xcc";
static const uint8_t main_c[] = "\x55\xeb\xfe\xcc"; /* push; jmp to itself */

void subject_write(struct subject *s)
{
	*s = (struct subject){0};
	gofile_make(&s->o.g, 23, EM_X86_64);
	elffile_bytes(s->o.g.f, s->o.g.starts[0], main_a, sizeof(main_a));
	elffile_bytes(s->o.g.f, s->o.g.starts[1], main_b, sizeof(main_b));
	memset(elffile_at(s->o.g.f, s->o.g.starts[2]), 0xcc, 0x40);
	elffile_bytes(s->o.g.f, s->o.g.starts[2], main_c, sizeof(main_c) - 1);
}

void subject_open(struct subject *s, const struct selection_want *want)
{
	open_it(&s->o);
	s->prog = (struct program){.toolchain = &toolchain_gc,
				   .path = "prog",
				   .img = s->o.img,
				   .tab = s->o.tab,
				   .release = 23};
	s->sel = selection_new(want);
}

void subject_make(struct subject *s, const struct selection_want *want)
{
	subject_write(s);
	subject_open(s, want);
}

void subject_drop(struct subject *s)
{
	selection_free(s->sel);
	close_it(&s->o);
}

void subject_add(struct subject *s, const char *pattern)
{
	if (selection_add(s->sel, &s->prog, pattern, &s->err))
		fail_msg("%s: %s", pattern, s->err.text);
}

void subject_notes(const struct subject *s, const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	selection_print_notes(out, s->sel);
	fclose(out);
	assert_string_equal(text, expected ? expected : "");
	free(text);
}

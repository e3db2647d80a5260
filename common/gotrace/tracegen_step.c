// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen_step_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gotrace/tracegen_internal.h"

/* NULL: what is being written needs no steps */
static struct gen_steps *steps_of(struct gen *gen)
{
	if (gen->out == &gen->save)
		return &gen->save_steps;
	return gen->out == &gen->fill ? &gen->fill_steps : NULL;
}

/* Takes note of one line that was written. If there are more, one of them has no step. */
static void note_line(struct gen_steps *steps, const struct ctext *out)
{
	const char *line = out->text + steps->text_len;
	const char *end = memchr(line, '\n', out->len - steps->text_len);

	steps->lacking |= end != out->text + out->len - 1;
	steps->text_len = out->len;
}

size_t gen_step(struct gen *gen, const struct trace_step *step)
{
	struct gen_steps *steps = steps_of(gen);

	if (!steps)
		return 0;
	note_line(steps, gen->out);
	steps->items = mem_grow(steps->items, steps->count, &steps->cap, sizeof(*steps->items));
	steps->items[steps->count] = *step;
	return steps->count++;
}

/* The kernel side has the registers that functions are called with (room_registers()). */
static bool has_register(enum arch arch, unsigned number)
{
	enum { AMD64 = 0x0fcf };

	return number < TRACE_STEP_REGISTERS && (arch != ARCH_AMD64 || AMD64 >> number & 1);
}

void gen_step_register(struct gen *gen, const struct abi_piece *piece, unsigned shift,
		       uint32_t size, uint32_t at)
{
	const struct registers_general *reg = abi_register(gen->probe->arch, piece);

	if (reg && has_register(gen->probe->arch, reg->hardware))
		gen_step(gen, &(struct trace_step){.what = TRACE_STEP_REGISTER,
						   .how = reg->hardware,
						   .at = at,
						   .max = size,
						   .n = shift});
}

void gen_step_skip(struct gen *gen, size_t step)
{
	struct gen_steps *steps = steps_of(gen);
	size_t skip = steps ? steps->count - step - 1 : 0;

	if (!steps)
		return;
	steps->lacking |= skip > UINT16_MAX;
	steps->items[step].skip = (uint16_t)skip;
}

void gen_step_skip_line(struct gen *gen, size_t step)
{
	struct gen_steps *steps = steps_of(gen);

	if (steps)
		note_line(steps, gen->out);
	gen_step_skip(gen, step);
}

void gen_step_instead(struct gen *gen, size_t len, const char *line)
{
	struct gen_steps *steps = steps_of(gen);

	gen->out->len = len;
	ctext_line(gen->out, "%s", line);
	if (steps)
		steps->text_len = gen->out->len;
}

void gen_reset(struct gen *gen)
{
	struct gen_steps *steps = steps_of(gen);

	ctext_line(gen->out, "bad = 0;");
	if (steps)
		note_line(steps, gen->out);
}

void gen_steps_cut(struct gen_steps *steps, const struct gen_steps *before)
{
	steps->count = before->count;
	steps->text_len = before->text_len;
	steps->lacking = before->lacking;
}

/* How many steps are done at one hit, at most. */
static size_t most_done(const struct gen_steps *steps)
{
	size_t *from = mem_zalloc(steps->count + 1, sizeof(*from)); /* from each step on */

	for (size_t i = steps->count; i-- > 0;) {
		const struct trace_step *step = &steps->items[i];
		size_t skipped = from[i + 1 + step->skip];

		from[i] = 1 + from[i + 1];
		if (step->what == TRACE_STEP_SKIP ||
		    (step->what == TRACE_STEP_IF && skipped > from[i + 1]))
			from[i] = 1 + skipped;
	}
	size_t most = from[0];

	free(from);
	return most;
}

/* Do the steps stand for all of the text, and can the kernel side do so many? */
static bool is_whole(const struct gen_steps *steps, const struct ctext *text, size_t most)
{
	size_t dynamics = 0;

	for (size_t i = 0; i < steps->count; i++)
		dynamics += steps->items[i].what == TRACE_STEP_DYNAMIC;
	return !steps->lacking && steps->text_len == text->len && dynamics <= TRACE_STEP_DYNAMICS &&
	       most_done(steps) <= most;
}

void gen_steps_take(struct gen *gen, struct tracegen_plan *out)
{
	const struct tracegen_probe *probe = gen->probe;
	struct gen_steps *save = &gen->save_steps, *fill = &gen->fill_steps;
	size_t most = probe->spec->at_return ? TRACE_STEPS_MAX_RETURN : TRACE_STEPS_MAX;

	out->tabular = !probe->keyed && !probe->has_states &&
		       gen->record_end <= TRACE_STEP_PLACES &&
		       is_whole(save, &gen->save, TRACE_STEPS_MAX_SAVED) &&
		       is_whole(fill, &gen->fill, most);
	out->save_step_count = save->count;
	out->step_count = save->count + fill->count;
	out->steps = mem_zalloc(out->step_count + 1, sizeof(*out->steps));
	if (save->count)
		memcpy(out->steps, save->items, save->count * sizeof(*out->steps));
	if (fill->count)
		memcpy(out->steps + save->count, fill->items, fill->count * sizeof(*out->steps));
}

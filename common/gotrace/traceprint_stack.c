// SPDX-License-Identifier: Apache-2.0
/* The user's stack of an event. */
#include "gotrace/traceprint_reader_internal.h"

#include "elf/image.h"
#include "elf/unwind.h"
#include "gotrace/traceplan.h"
#include "program/functab.h"
#include "program/program.h"
#include "tracing/tracer.h"
#include "sites/goruntime.h"

struct gccgo_stack {
	struct unwind_module modules[2]; /* the event's own program, and the other one */
	size_t programs[2];              /* their numbers */
	struct unwind_piece pieces[TRACE_STACK_PIECES];
	struct unwind u;
};

static struct gostack_symbols *symbols_of(struct traceprint_reader *reader, size_t program)
{
	const struct program *prog = tracer_program(reader->tracer, program);

	if (!reader->symbols[program])
		reader->symbols[program] = gostack_symbols_new(prog->img, prog->tab);
	return reader->symbols[program];
}

struct gostack_symbols *traceprint_symbols(struct traceprint_reader *reader,
					   const struct traceprint_event *event)
{
	return symbols_of(reader, event->item->program);
}

/* --- gccgo --- */

static void add_module(struct gccgo_stack *s, const struct tracer *tracer, size_t program,
		       uint64_t bias)
{
	s->programs[s->u.module_count] = program;
	s->modules[s->u.module_count++] =
		(struct unwind_module){tracer_program(tracer, program)->img, bias,
				       tracer_runtime(tracer, program)->morestack};
}

/* If the event is of a library: adds the traced program that has loaded it. */
static void add_executed(struct gccgo_stack *s, const struct tracer *tracer, uint64_t at_main)
{
	struct functab_func fn;

	for (size_t i = 0; i < tracer_program_count(tracer); i++) {
		const struct program *prog = tracer_program(tracer, i);

		if (prog == tracer_executed(tracer) && tracer_pid(tracer) && at_main &&
		    functab_named(prog->tab, "main.main", &fn) && !((at_main - fn.addr) & 0xfff))
			add_module(s, tracer, i, at_main - fn.addr);
	}
}

static void find_modules(struct gccgo_stack *s, const struct tracer *tracer,
			 const struct traceprint_event *event)
{
	const struct trace_stack *stack = event->user_stack;
	size_t own = event->item->program;

	s->u.modules = s->modules;
	add_module(s, tracer, own, event->head->bias);
	if (tracer_runtime(tracer, own)->is_library) {
		add_executed(s, tracer, stack->main);
		return;
	}
	for (size_t i = 0; i < tracer_program_count(tracer); i++)
		if (tracer_runtime(tracer, own)->tls_delta &&
		    tracer_runtime(tracer, i)->is_library) {
			add_module(s, tracer, i, stack->library);
			return;
		}
}

static void find_pieces(struct gccgo_stack *s, const struct trace_stack *stack, size_t count)
{
	size_t used = 0;

	s->u.pieces = s->pieces;
	for (size_t i = 0; i < count; i++) {
		uint64_t len = stack->pieces[i].len;

		if (len > sizeof(stack->bytes) - used)
			break;
		s->pieces[s->u.piece_count++] = (struct unwind_piece){
			stack->pieces[i].addr, len, (const uint8_t *)stack->bytes + used};
		used += (len + 7) & ~UINT64_C(7);
		if (used > sizeof(stack->bytes))
			break;
	}
}

static void set_registers(struct unwind *u, const struct trace_stack *stack)
{
	static const uint8_t numbers[TRACE_REGISTERS] = {
		[TRACE_PC] = EHFRAME_RA, [TRACE_SP] = AMD64_RSP,  [TRACE_BP] = AMD64_RBP,
		[TRACE_BX] = AMD64_RBX,  [TRACE_R12] = AMD64_R12, [TRACE_R13] = AMD64_R13,
		[TRACE_R14] = AMD64_R14, [TRACE_R15] = AMD64_R15};

	for (unsigned i = 0; i < TRACE_REGISTERS; i++)
		u->regs[numbers[i]] = stack->regs[i];
}

static void add_gccgo(struct traceprint_reader *reader, const struct traceprint_event *event,
		      struct gostack *out)
{
	struct gccgo_stack s = {0};
	bool complete;

	find_modules(&s, reader->tracer, event);
	find_pieces(&s, event->user_stack, event->head->user_frames - 1);
	set_registers(&s.u, event->user_stack);
	out->frames = reader->frames;
	out->count = unwind(&s.u, reader->frames, TRACE_FRAMES, &complete);
	out->cut = !complete;
	out->others = reader->others;
	for (size_t i = 1; i < s.u.module_count; i++)
		reader->others[out->other_count++] = (struct gostack_other){
			symbols_of(reader, s.programs[i]), s.modules[i].bias};
}

/* --- all --- */

struct gostack traceprint_stack(struct traceprint_reader *reader,
				const struct traceprint_event *event)
{
	const struct trace_event *head = event->head;
	const struct selection_item *item = &tracer_selection(reader->tracer)->items[head->item];

	struct gostack stack = {.frames = event->user_frames,
				.count = head->user_frames,
				.bias = head->bias,
				.at = item->is_copy ? item->copy.addr + head->bias : 0,
				.probed = event->func,
				/* the first goroutine was made by the runtime, not by a go
				 * statement */
				.created_by = head->goid == 1 ? 0 : head->created_by,
				.parent_goid = head->parent_goid,
				.cut = head->user_frames == TRACE_FRAMES};

	if (event->user_stack && head->user_frames)
		add_gccgo(reader, event, &stack);
	return stack;
}

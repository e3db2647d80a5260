// SPDX-License-Identifier: Apache-2.0
/* Counts calls whose last result is an error that is not nil. An interface is nil where its first
 * word is: it stands where the function's results are when it returns.
 *
 *   -DERRORS
 *   -DROWS=n   names that are told apart
 */
#ifdef ERRORS
BPF_ARRAY(error_places, struct error_place, ROWS);

/* The n-th of the registers that hold integers among results, in ABIInternal's order. A register is
 * read by a constant offset only: see probe_register() */
static inline u64 result_register(struct pt_regs *ctx, u32 n)
{
#ifdef __aarch64__
#define CASE(n, amd64)                                                                             \
	case n:                                                                                    \
		return probe_register(ctx, 8 * (n))
#else
#define CASE(n, amd64)                                                                             \
	case n:                                                                                    \
		return probe_register(ctx, amd64)
#endif
	switch (n) {
		CASE(0, REGISTER_AX);
		CASE(1, REGISTER_BX);
		CASE(2, REGISTER_CX);
		CASE(3, REGISTER_DI);
		CASE(4, REGISTER_SI);
		CASE(5, REGISTER_R8);
		CASE(6, REGISTER_R9);
		CASE(7, REGISTER_R10);
		CASE(8, REGISTER_R11);
	default:
		return 0;
	}
#undef CASE
}

/* At an end of a call of this row; `sp` points to its return address. */
static inline void count_error(struct pt_regs *ctx, u64 sp, u64 row)
{
	struct error_place *place = error_places.lookup(KEY(row));
	struct call_sums *sum = sums.lookup(KEY(row));
	u64 word = 0;

	if (!place || !sum || place->where == ERROR_NOWHERE)
		return;
	if (place->where == ERROR_IN_REGISTER)
		word = result_register(ctx, place->n);
	else if (read_user(&word, sizeof(word), sp + 8 + place->n))
		__sync_fetch_and_add(&sum->unread, 1);
	if (word)
		__sync_fetch_and_add(&sum->errors, 1);
}
#endif

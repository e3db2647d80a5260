// SPDX-License-Identifier: Apache-2.0
/* Which probe is this? */

#ifdef BY_STUB
#define THREADS_MAX 32768 /* far more than there are hits at a time */

/* by thread; filled in by the stub that ran before this program */
BPF_TABLE("lru_hash", u64, u64, cookies, THREADS_MAX);
#endif

/* what was attached with the probe: its cookie, or with TLS_WORDS a number */
static inline u64 find_number(struct pt_regs *ctx)
{
#ifdef BY_STUB
	u64 thread = bpf_get_current_pid_tgid(), *found = cookies.lookup(&thread);

	return found ? *found : (u64)COOKIE_NONE << COOKIE_KIND_SHIFT;
#else
	return bpf_get_attach_cookie(ctx);
#endif
}

#ifdef TLS_WORDS
#include "shared/tls_word.h"

BPF_ARRAY(tls_words, struct tls_word, TLS_WORDS);

static inline u64 cookie_of_number(u64 number)
{
	u32 index = number;
	struct tls_word *word = number == index ? tls_words.lookup(&index) : 0;

	return word ? word->cookie : (u64)COOKIE_NONE << COOKIE_KIND_SHIFT;
}

static inline s64 goroutine_tls(struct pt_regs *ctx)
{
	u32 index = find_number(ctx);
	struct tls_word *word = tls_words.lookup(&index);
	s64 offset = TLS_G;

	if (word && word->word)
		read_user(&offset, sizeof(offset),
			  probe_register(ctx, REGISTER_PC) - word->addr + word->word);
	return offset;
}
#else
static inline u64 cookie_of_number(u64 number)
{
	return number;
}
#endif

static inline u64 probe_cookie(struct pt_regs *ctx)
{
	return cookie_of_number(find_number(ctx));
}

/* To be called once a hit, which it counts: which probe is this? None, if it would cost too much to
 * go on. */
static inline u64 find_cookie(struct pt_regs *ctx)
{
	u64 cookie = probe_cookie(ctx);

	probe_own_stack();
	return cost_allows(cookie) ? cookie : (u64)COOKIE_NONE << COOKIE_KIND_SHIFT;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory read by whole pages, which are remembered for a while: a system call for each of many
 * small things costs far more than to copy what stands between them. */
#ifndef MEMORY_PAGES_H
#define MEMORY_PAGES_H

struct memory;
struct memory_pages;
struct process;

struct memory_pages *memory_pages_new(const struct memory *mem); /* which outlives it */
void memory_pages_free(struct memory_pages *pages);              /* NULL is all right */
/* What is read from now on is read anew. */
void memory_pages_forget(struct memory_pages *pages);
/* The same; but what has been read since the last time is read now, all at once and in the order in
 * which it was. `proc`: whose memory it is; NULL: nothing is read now. */
void memory_pages_again(struct memory_pages *pages, const struct process *proc);
/* The same memory, as old as the last memory_pages_forget() at the most. */
const struct memory *memory_pages_memory(const struct memory_pages *pages);

#endif

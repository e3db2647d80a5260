/* SPDX-License-Identifier: Apache-2.0 */
/* A progress line on the terminal, shown if a tool prepares for longer than a second, and removed
 * when tracing begins. If stderr is not a terminal there is none. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

enum progress_stage {
	PROGRESS_READING,
	PROGRESS_SIGNATURES,
	PROGRESS_COMPILING,
	PROGRESS_ATTACHING,
};

/* `tool` is not copied. Call this before stderr is redirected. */
void progress_begin(const char *tool);
void progress_stage(enum progress_stage stage);
void progress_functions(size_t count);  /* that are to be traced */
void progress_signatures(size_t count); /* that are known of them; then, to be compiled for */
/* Call these around other output: in between, the line is removed and not shown. */
void progress_pause(void);
void progress_resume(void);
void progress_end(void); /* again, or without a beginning: nothing happens */

#endif

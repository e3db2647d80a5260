/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool does before it traces, where that takes longer than a second: a line on the terminal,
 * which is gone when tracing begins. Where stderr is no terminal there is none. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

enum progress_stage {
	PROGRESS_READING,
	PROGRESS_SIGNATURES,
	PROGRESS_COMPILING,
	PROGRESS_ATTACHING,
};

/* `tool` is not copied. To be called before stderr is led elsewhere. */
void progress_begin(const char *tool);
void progress_stage(enum progress_stage stage);
void progress_functions(size_t count);  /* that are to be traced */
void progress_signatures(size_t count); /* that are known of them; then, to be compiled for */
/* Around what is printed meanwhile: the line is away, and does not come. */
void progress_pause(void);
void progress_resume(void);
void progress_end(void); /* again, or without a beginning: nothing happens */

#endif

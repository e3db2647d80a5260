// SPDX-License-Identifier: Apache-2.0
#include "files/process_state.h"

#include <string.h>

#include "files/process_text_internal.h"

enum { TEXT_SIZE = 1 << 13 };

bool process_is_stopped(const struct process *proc)
{
	static const char word[] = "\nState:\t"; /* line breaks in its name are escaped */
	char text[TEXT_SIZE];
	const char *at = process_status(proc, text, sizeof(text)) ? strstr(text, word) : NULL;

	return at && at[strlen(word)] == 'T';
}

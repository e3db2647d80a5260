// SPDX-License-Identifier: Apache-2.0
#include "base/budget.h"

#include <string.h>

struct budget budget_new(uint64_t file_bytes, unsigned steps_a_byte)
{
	if (file_bytes < BUDGET_LEAST)
		file_bytes = BUDGET_LEAST;
	if (file_bytes > BUDGET_MOST)
		file_bytes = BUDGET_MOST;
	return (struct budget){file_bytes * steps_a_byte};
}

bool budget_take(struct budget *budget, uint64_t steps)
{
	bool enough = steps <= budget->left;

	budget->left = enough ? budget->left - steps : 0;
	return enough;
}

bool budget_take_name(struct budget *budget, const char *name)
{
	size_t len = strnlen(name, BUDGET_NAME_MAX + 1);

	return len <= BUDGET_NAME_MAX && len <= budget->left && budget_take(budget, len);
}

// SPDX-License-Identifier: Apache-2.0
#include "fakeproc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "unit.h"

int fakeproc_setup(void **state)
{
	char dir[] = "/tmp/test-proc-XXXXXX";

	if (!mkdtemp(dir))
		return -1;
	*state = mem_strdup(dir);
	return 0;
}

int fakeproc_teardown(void **state)
{
	char *command = mem_printf("rm -rf '%s'", (char *)*state);
	int status = system(command);

	free(command);
	free(*state);
	return status;
}

void fakeproc_put(const char *dir, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", dir, name);

	for (char *at = strchr(path + strlen(dir) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (const char *at = text; *at; at++) {
		if (*at == '@')
			fputs(dir, out);
		else
			fputc(*at, out);
	}
	fclose(out);
	free(path);
}

// SPDX-License-Identifier: Apache-2.0
/* What a tool's start is measured against: libbcc compiles a BPF program, and nothing else.
 *   bare_compile RECORD
 * RECORD is a folder that record.so filled: text.c, flags (one a line), tree (headers). */
#include <bcc/bcc_common.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FLAGS = 64 };

static char *read_file(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *in = fopen(path, "r");

	if (!in) {
		perror(path);
		exit(1);
	}
	char *text = NULL;
	size_t cap = 0;

	if (getdelim(&text, &cap, '\0', in) < 0)
		text = calloc(1, 1);
	fclose(in);
	return text;
}

int main(int argc, char **argv)
{
	const char *flags[MAX_FLAGS];
	char tree[4096];
	int count = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: bare_compile RECORD\n");
		return 2;
	}
	char *text = read_file(argv[1], "text.c");
	char *lines = read_file(argv[1], "flags");

	for (char *flag = strtok(lines, "\n"); flag && count < MAX_FLAGS; flag = strtok(NULL, "\n"))
		flags[count++] = flag;
	snprintf(tree, sizeof(tree), "%s/tree", argv[1]);
	setenv("BCC_KERNEL_SOURCE", tree, 1);
	void *module = bpf_module_create_c_from_string(text, 0, flags, count, true, NULL);

	puts(module ? "compiled" : "failed");
	free(lines);
	free(text);
	return module ? 0 : 1;
}

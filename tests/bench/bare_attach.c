// SPDX-License-Identifier: Apache-2.0
/* The bare system calls: an empty BPF program attached by one uprobe_multi link.
 *   bare_attach FILE OFFSETS         attaches, detaches, prints "ATTACH_NS DETACH_NS"
 *   bare_attach FILE OFFSETS hold    attaches, prints "attached", detaches when stdin ends
 * OFFSETS is a file of native 64-bit file offsets. */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "uprobe_link.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int load_empty(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insn_cnt = 2,
		.insns = (uint64_t)(uintptr_t)insns,
		.license = (uint64_t)(uintptr_t) "GPL",
		.expected_attach_type = ATTACH_UPROBE_MULTI,
	};
	int fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd < 0)
		die("BPF_PROG_LOAD");
	return fd;
}

static uint64_t *read_offsets(const char *path, uint32_t *count)
{
	FILE *in = fopen(path, "r");
	struct stat st;

	if (!in || fstat(fileno(in), &st))
		die(path);
	uint64_t *offsets = malloc(st.st_size);

	*count = fread(offsets, sizeof(*offsets), st.st_size / sizeof(*offsets), in);
	fclose(in);
	return offsets;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: bare_attach FILE OFFSETS [hold]\n");
		return 2;
	}
	struct uprobe_link attr = {
		.prog_fd = load_empty(),
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)argv[1],
	};
	uint64_t *offsets = read_offsets(argv[2], &attr.count);

	attr.offsets = (uintptr_t)offsets;
	uint64_t start = now_ns();
	int link = syscall(SYS_bpf, BPF_CMD_LINK_CREATE, &attr, sizeof(attr));
	uint64_t attached = now_ns();

	if (link < 0)
		die("BPF_LINK_CREATE");
	if (argc > 3) {
		puts("attached");
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	uint64_t detach = now_ns();

	close(link);
	printf("%llu %llu\n", (unsigned long long)(attached - start),
	       (unsigned long long)(now_ns() - detach));
	free(offsets);
	return 0;
}

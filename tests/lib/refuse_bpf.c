// SPDX-License-Identifier: Apache-2.0
/* A library to be preloaded, a kernel that refuses: it has no memory for BPF maps of the name in
 * REFUSED_MAP, and its verifier does not take the first BPF program of at least REFUSED_PROGRAM
 * instructions, however often it is asked. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static int refusal(long command, const union bpf_attr *attr)
{
	static unsigned refused;
	const char *map = getenv("REFUSED_MAP"), *program = getenv("REFUSED_PROGRAM");

	if (command == BPF_MAP_CREATE && map && !strncmp(attr->map_name, map, BPF_OBJ_NAME_LEN))
		return ENOMEM;
	if (command != BPF_PROG_LOAD || !program)
		return 0;
	if (!refused && attr->insn_cnt >= (unsigned)atoi(program))
		refused = attr->insn_cnt;
	return refused && attr->insn_cnt == refused ? EINVAL : 0;
}

long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), rest[4];
	va_list list;

	va_start(list, number);
	long command = va_arg(list, long);
	const union bpf_attr *attr = va_arg(list, const union bpf_attr *);
	for (int i = 0; i < 4; i++)
		rest[i] = va_arg(list, long);
	va_end(list);
	int error = number == SYS_bpf ? refusal(command, attr) : 0;

	if (!error)
		return next(number, command, attr, rest[0], rest[1], rest[2], rest[3]);
	errno = error;
	return -1;
}

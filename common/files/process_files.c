// SPDX-License-Identifier: Apache-2.0
#include "files/process_files.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/index.h"
#include "base/mem.h"
#include "files/process_text_internal.h"

enum { TCP_LISTEN = 10, SOCKETS_MAX = 1 << 20, CALLS_MAX = 1 << 16 };

struct socket {
	uint64_t inode;
	char *name;
};

struct process_files {
	const struct process *proc;
	struct socket *sockets; /* once one is asked for */
	struct index by_inode;
	size_t count, cap;
	bool is_read;
	size_t calls; /* that were asked for */
};

struct process_files *process_files_new(const struct process *proc)
{
	struct process_files *files = mem_zalloc(1, sizeof(*files));

	files->proc = proc;
	return files;
}

void process_files_free(struct process_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++)
		free(files->sockets[i].name);
	free(files->sockets);
	index_free(&files->by_inode);
	free(files);
}

/* --- sockets: proc_pid_net(5) --- */

static void add(struct process_files *files, uint64_t inode, char *name)
{
	if (files->count >= SOCKETS_MAX) {
		free(name);
		return;
	}
	index_add(&files->by_inode, index_hash(0, inode));
	files->sockets =
		mem_grow(files->sockets, files->count, &files->cap, sizeof(*files->sockets));
	files->sockets[files->count++] = (struct socket){inode, name};
}

/* "0100007F:1F90", of 32-bit words in the machine's order */
static bool read_address(const char *text, char out[INET6_ADDRSTRLEN + 8], bool *any)
{
	struct in6_addr addr = {0};
	char host[INET6_ADDRSTRLEN];
	size_t words = 0;
	unsigned port;

	for (; words < 4 && sscanf(text, "%8" SCNx32, &addr.s6_addr32[words]) == 1; words++) {
		text += 8;
		if (*text == ':')
			break;
	}
	if (*text != ':' || sscanf(text + 1, "%x", &port) != 1)
		return false;
	bool six = words == 3;

	if ((!six && words) || !inet_ntop(six ? AF_INET6 : AF_INET, &addr, host, sizeof(host)))
		return false;
	*any = !port;
	snprintf(out, INET6_ADDRSTRLEN + 8, six ? "[%s]:%u" : "%s:%u", host, port);
	return true;
}

static void read_line(struct process_files *files, const char *protocol, const char *line)
{
	char local[64], remote[64], here[INET6_ADDRSTRLEN + 8], there[INET6_ADDRSTRLEN + 8];
	unsigned state;
	uint64_t inode;
	bool any_port, no_peer;

	if (sscanf(line, "%*s %63s %63s %x %*s %*s %*s %*s %*s %" SCNu64, local, remote, &state,
		   &inode) != 4 ||
	    !read_address(local, here, &any_port) || !read_address(remote, there, &no_peer))
		return;
	if (!strncmp(protocol, "tcp", 3) && state == TCP_LISTEN)
		add(files, inode, mem_printf("%s %s, listening", protocol, here));
	else if (no_peer)
		add(files, inode, mem_printf("%s %s", protocol, here));
	else
		add(files, inode, mem_printf("%s %s, peer %s", protocol, here, there));
}

static void read_unix(struct process_files *files, const char *line)
{
	char path[PATH_MAX] = "";
	uint64_t inode;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %4095[^\n]", &inode, path) < 1)
		return;
	add(files, inode, path[0] ? mem_printf("unix %s", path) : mem_strdup("unix"));
}

static void read_sockets(struct process_files *files)
{
	static const char *const protocols[] = {"tcp", "tcp6", "udp", "udp6", "unix"};
	char *line = NULL;
	size_t size = 0;

	files->is_read = true;
	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++) {
		char name[32];

		snprintf(name, sizeof(name), "net/%s", protocols[i]);
		FILE *in = process_view_text(files->proc, name);

		while (in && getline(&line, &size, in) > 0) {
			if (strcmp(protocols[i], "unix") != 0)
				read_line(files, protocols[i], line);
			else
				read_unix(files, line);
		}
		if (in)
			fclose(in);
	}
	free(line);
}

static char *socket_name(struct process_files *files, uint64_t inode)
{
	if (!files->is_read)
		read_sockets(files);
	size_t n = index_first(&files->by_inode, index_hash(0, inode));

	while (n != INDEX_NONE && files->sockets[n].inode != inode)
		n = index_next(&files->by_inode, n);
	return mem_strdup(n == INDEX_NONE ? "socket" : files->sockets[n].name);
}

/* --- descriptors --- */

char *process_files_name(struct process_files *files, int fd)
{
	char path[32], target[PATH_MAX + 1];
	uint64_t inode;

	snprintf(path, sizeof(path), "fd/%d", fd);
	ssize_t n = process_link(files->proc, path, target, sizeof(target) - 1);

	if (n < 0)
		return NULL;
	target[n] = '\0';
	if (sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1)
		return socket_name(files, inode);
	/* "pipe:[123]", "anon_inode:[eventpoll]" */
	if (!strncmp(target, "pipe:[", 6))
		return mem_strdup("pipe");
	return mem_strdup(target);
}

int process_files_syscall(struct process_files *files, pid_t tid)
{
	char name[48];
	int number = -1;

	if (files->calls++ >= CALLS_MAX) /* no process has so many threads */
		return -1;
	snprintf(name, sizeof(name), "task/%d/syscall", tid);
	FILE *in = process_text(files->proc, name);

	if (in && fscanf(in, "%d", &number) != 1)
		number = -1;
	if (in)
		fclose(in);
	return number;
}

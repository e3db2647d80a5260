// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfprog_internal.h"
#include "kernel/bytecode_internal.h"
#include "kernel/compile_internal.h"
#include "kernel/headertree_internal.h"
#include "kernel/kernelfeature_internal.h"

enum {
	CHATTER_MAX = 1 << 20,
	RESULT_MAX = 64 << 20,
};

/* Two files in memory that the child writes: what it prints, and what has come of it. */
struct apart {
	int printed, result; /* -1: none */
};

/* The head of the second file; then follow the libraries and the code. Without a whole head LLVM
 * has ended the process. */
struct result {
	uint32_t failed, libraries_len, code_len;
	struct errmsg err;
};

static bool apart_open(struct apart *apart)
{
	apart->printed = memfd_create("output", MFD_CLOEXEC);
	apart->result = memfd_create("bytecode", MFD_CLOEXEC);
	return apart->printed >= 0 && apart->result >= 0;
}

static void apart_close(const struct apart *apart)
{
	if (apart->printed >= 0)
		close(apart->printed);
	if (apart->result >= 0)
		close(apart->result);
}

/* --- in the child --- */

static void write_result(int fd, struct result *result, const struct compiled *compiled)
{
	FILE *out = fdopen(fd, "we");
	long after;

	if (!out)
		return;
	fwrite(result, sizeof(*result), 1, out);
	if (!result->failed) {
		fputs(compiled->libraries, out);
		after = ftell(out);
		result->libraries_len = after - sizeof(*result);
		bytecode_write(out, compiled->code);
		result->code_len = ftell(out) - after;
		rewind(out);
		fwrite(result, sizeof(*result), 1, out);
	}
	fclose(out);
}

/* What the tool has for its own end is none of the child's: where LLVM ends it, too. */
static void end_at_once(void)
{
	_exit(1);
}

static _Noreturn void work(const struct compiling *what, const struct apart *apart, pid_t parent)
{
	struct compiled compiled = {.code = NULL};
	struct result result = {.failed = 1};

	/* signals stay blocked: the tool decides when this ends, or ends with it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	__fpurge(stdout); /* the tool's */
	if (getppid() != parent || dup2(apart->printed, STDOUT_FILENO) < 0 ||
	    dup2(apart->printed, STDERR_FILENO) < 0 || atexit(end_at_once))
		_exit(1);
	result.failed = compile_here(what, &compiled, &result.err) != 0;
	fflush(stdout);
	write_result(apart->result, &result, &compiled);
	_exit(0);
}

/* --- in the tool --- */

/* Waits for the child. -1: there was none, with errno; or the signal that has ended it, or 0. */
static int run_apart(const struct compiling *what, const struct apart *apart)
{
	int status = 0;
	sigset_t all, before;
	pid_t parent = getpid();

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();

	if (!pid)
		work(what, apart, parent);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Caller frees; a byte more than *size, which is 0. */
static char *read_whole(int fd, size_t max, size_t *size)
{
	struct stat st;

	*size = 0;
	if (!fstat(fd, &st))
		*size = (size_t)st.st_size < max ? (size_t)st.st_size : max;
	char *bytes = mem_zalloc(1, *size + 1);
	size_t at = 0;
	ssize_t got;

	while (at < *size && (got = pread(fd, bytes + at, *size - at, (off_t)at)) > 0)
		at += got;
	*size = at;
	return bytes;
}

/* The first line of `text` that has `word`, or else the first line of all, and its length. */
static const char *find_line(const char *text, const char *word, int *len)
{
	const char *found = strstr(text, word), *line = text;

	if (found)
		for (line = found; line > text && line[-1] != '\n';)
			line--;
	*len = strcspn(line, "\n");
	return line;
}

/* The compiler's first error is the cause; the others follow from it. `signal`: what has ended it,
 * or 0. */
static void set_compile_error(struct errmsg *err, const char *file, const char *chatter, int signal)
{
	const char *line;
	int len;

	if (!*chatter) {
		errmsg_set(err, COMPILE_FAILS ": the compiler was ended%s%s", file,
			   signal ? ": " : "", signal ? strsignal(signal) : "");
		if (signal == SIGKILL)
			errmsg_hint(err, "it takes some 100 MB of memory");
		return;
	}
	if (strstr(chatter, "could not open bpf map")) {
		line = find_line(chatter, "could not open bpf map", &len);
		errmsg_set(err, "cannot create BPF maps: %.*s", len, line);
		errmsg_hint(err, BPFPROG_PRIVILEGES);
		return;
	}
	line = find_line(chatter, "error:", &len);
	errmsg_set(err, COMPILE_FAILS ": %.*s", file, len, line);
	errmsg_hint(err, "-v shows the program");
}

/* What the child has left in its files. */
static int take_result(const struct compiling *what, const struct apart *apart, int signal,
		       struct compiled *compiled, struct errmsg *err)
{
	size_t size, printed;
	char *bytes = read_whole(apart->result, RESULT_MAX, &size);
	struct result result = {.failed = 1};

	compiled->chatter = read_whole(apart->printed, CHATTER_MAX, &printed);
	if (size >= sizeof(result))
		memcpy(&result, bytes, sizeof(result));
	if (size == sizeof(result) + (uint64_t)result.libraries_len + result.code_len) {
		const char *at = bytes + sizeof(result);

		compiled->libraries = mem_strndup(at, result.libraries_len);
		compiled->code = bytecode_read(at + result.libraries_len, result.code_len);
	}
	free(bytes);
	if (compiled->code)
		return 0;
	if (*result.err.text && !*compiled->chatter)
		*err = result.err;
	else
		set_compile_error(err, what->file, compiled->chatter, signal);
	free(compiled->libraries);
	free(compiled->chatter);
	return -1;
}

/* *killed: somebody, or the kernel for want of memory, has ended it: it is not to be tried again.
 */
static int compile_apart(const struct compiling *what, struct compiled *compiled, bool *killed,
			 struct errmsg *err)
{
	struct apart apart;
	int signal = apart_open(&apart) ? run_apart(what, &apart) : -1, ret;

	*compiled = (struct compiled){.code = NULL};
	*killed = signal == SIGKILL;
	ret = signal < 0 ? errmsg_set(err, "cannot start a process: %s", strerror(errno))
			 : take_result(what, &apart, signal, compiled, err);
	apart_close(&apart);
	return ret;
}

/* What one run of LLVM's passes makes has been tried on Linux 6.18 alone, and older verifiers
 * refuse more: there, programs are compiled as they always were. */
static enum compile_passes passes_here(void)
{
	enum { TRIED_MAJOR = 6, TRIED_MINOR = 18 };
	struct utsname host;
	int major = 0, minor = 0;

	if (uname(&host) || sscanf(host.release, "%d.%d", &major, &minor) != 2)
		return COMPILE_TWICE;
	return major > TRIED_MAJOR || (major == TRIED_MAJOR && minor >= TRIED_MINOR)
		       ? COMPILE_ONCE
		       : COMPILE_TWICE;
}

int compile_text(const char *file, const char *text, const struct bpfprog_define *defs,
		 size_t ndefs, struct compiled *compiled, struct errmsg *err)
{
	struct headertree *tree = headertree_new(err);

	if (!tree)
		return -1;
	struct compiling what = {.file = file,
				 .text = text,
				 .defs = defs,
				 .ndefs = ndefs,
				 .headers = headertree_dir(tree),
				 .passes = passes_here()};
	bool killed;
	int ret = compile_apart(&what, compiled, &killed, err);

	if (ret && !killed && what.passes == COMPILE_ONCE) {
		what.passes = COMPILE_TWICE;
		ret = compile_apart(&what, compiled, &killed, err);
	}
	headertree_free(tree);
	return ret;
}

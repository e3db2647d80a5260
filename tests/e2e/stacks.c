// SPDX-License-Identifier: Apache-2.0
/* Prints the stack of each call of functions, at its entry and at its return:
 *   e2e-stacks PATH PID FUNCTION...
 * and of each inlined copy at its entry.
 * "Tracing ..." when it has begun; it ends when the process has ended. */
#include <bcc/bcc_common.h>
#include <bcc/libbpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "bpf-src/shared/cookie.h"
#include "bpf-src/shared/trace.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "kernel/attach.h"
#include "kernel/btf.h"
#include "kernel/headertree_internal.h"
#include "program/gostack.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/goruntime.h"
#include "sites/inlining_internal.h"

enum { PROBES_MAX = 256, COPIES_MAX = 64, LOG_SIZE = 1 << 24 };

struct event {
	uint64_t created_by, parent_goid, row;
	uint32_t copy; /* 1 and so on: number in driver.copies */
	uint32_t returned, count, zero;
	uint64_t frames[TRACE_FRAMES];
};

static const char text[] =
	"#include \"parts/goroutine.h\"\n"
	"#include \"parts/frames.h\"\n"
	"struct event { u64 created_by, parent_goid, row; u32 copy, returned, count, zero;\n"
	"	u64 frames[TRACE_FRAMES]; };\n"
	"BPF_RINGBUF_OUTPUT(events, 1024);\n"
	"int on_probe(struct pt_regs *ctx)\n"
	"{\n"
	"	u64 cookie = bpf_get_attach_cookie(ctx);\n"
	"	struct event *e;\n"
	"	if (cookie_kind(cookie) != COOKIE_RETURN && !probe_is_call(ctx, cookie))\n"
	"		return 0;\n"
	"	e = events.ringbuf_reserve(sizeof(*e));\n"
	"	if (!e)\n"
	"		return 0;\n"
	"	e->row = cookie_row(cookie);\n"
	"	e->copy = cookie_copy(cookie);\n"
	"	e->returned = cookie_kind(cookie) == COOKIE_RETURN;\n"
	"	frames_creator(goroutine_g(ctx), &e->created_by, &e->parent_goid);\n"
	"	e->count = frames_user(ctx, ctx->sp + cookie_adjust(cookie), e->frames);\n"
	"	events.ringbuf_submit(e, 0);\n"
	"	return 0;\n"
	"}\n";

struct driver {
	struct program *prog;
	struct site_finder *finder;
	struct gostack_symbols *syms;
	char **names;
	struct attach_probe probes[PROBES_MAX];
	size_t probe_count;
	unsigned row; /* of the copies that are looked for */
	uint64_t copies[COPIES_MAX];
	unsigned copy_count;
	uint64_t bias;
};

static void die(const char *what, const struct errmsg *err)
{
	fprintf(stderr, "e2e-stacks: %s: %s\n", what, err ? err->text : "failed");
	exit(1);
}

static void add_site(struct driver *d, const struct site *site, unsigned row, bool returned,
		     unsigned copy)
{
	enum cookie_kind kind = returned                          ? COOKIE_RETURN
				: site->kind == SITE_CHECK_BRANCH ? COOKIE_CALL_IF_CHECKED
								  : COOKIE_CALL;
	struct attach_probe *probe = &d->probes[d->probe_count++];

	if (d->probe_count == PROBES_MAX)
		die("probes", NULL);
	probe->addr = site->addr;
	probe->cookie = cookie_make(row, kind, site->sp_adjust, copy);
	if (!image_addr_to_off(d->prog->img, site->addr, &probe->off))
		die("address", NULL);
}

/* Where copies are inlined, the depth of the stack is the function's that they stand in. */
static bool add_copy(const struct inlining_copy *copy, void *ctx)
{
	struct driver *d = ctx;
	struct functab_func fn;
	const char *reason;
	struct site site;

	if (strcmp(copy->name, d->names[d->row]) != 0 ||
	    inlining_entry(d->finder, copy, &site, &reason) ||
	    !functab_func(d->prog->tab, copy->func, &fn) ||
	    !functab_sp_delta(d->prog->tab, &fn, site.addr, &site.sp_adjust))
		return true;
	d->copies[d->copy_count++] = copy->addr;
	add_site(d, &site, d->row, false, d->copy_count);
	return d->copy_count < COPIES_MAX;
}

static void add_function(struct driver *d, unsigned row, bool want_args)
{
	struct site_list returns = {0};
	struct functab_func fn;
	const char *reason = "no such function";
	struct site site;

	d->row = row;
	inlining_each(d->prog->tab, add_copy, d);
	if (d->probe_count && cookie_row(d->probes[d->probe_count - 1].cookie) == row)
		return;
	if (!functab_named(d->prog->tab, d->names[row], &fn) ||
	    site_entry(d->finder, &fn, want_args, &site, &reason) ||
	    site_returns(d->finder, &fn, &returns, &reason)) {
		fprintf(stderr, "e2e-stacks: %s: %s\n", d->names[row], reason);
		exit(1);
	}
	for (size_t i = 0; i < returns.count; i++)
		add_site(d, &returns.items[i], row, true, 0);
	add_site(d, &site, row, false, 0);
	free(returns.items);
}

/* where the file's first segment lies in the process, against where it says it does */
static uint64_t find_bias(const struct program *prog, const char *pid)
{
	const struct image_segment *segments;
	char path[64], line[4096];
	size_t count;
	uint64_t start = 0, off;
	FILE *maps;

	if (!image_is_pie(prog->img))
		return 0;
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	segments = image_segments(prog->img, &count);
	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, strrchr(prog->path, '/')) &&
		    sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &start, &off) == 2 && !off)
			break;
	}
	if (!maps)
		die("maps", NULL);
	fclose(maps);
	return start - (segments[0].addr & ~4095ULL);
}

static void *compile(const struct goruntime *rt)
{
	struct errmsg err = {0};
	struct headertree *tree = headertree_new(&err);
	uint32_t fsbase = 0;
	char flags[12][80];
	const char *argv[12];
	int n = 0;

	if (!tree)
		die("headers", &err);
	if (!rt->g_in_register && btf_thread_fsbase(&fsbase, &err))
		die("kernel types", &err);
	snprintf(flags[n++], 80, "-I%s", headertree_dir(tree));
	if (rt->g_in_register)
		snprintf(flags[n++], 80, "-DG_REGISTER");
	snprintf(flags[n++], 80, "-DTLS_G=%d", rt->tls_g);
	snprintf(flags[n++], 80, "-DFSBASE_OFF=%u", fsbase);
	snprintf(flags[n++], 80, "-DGOID_OFF=%u", rt->g_goid);
	snprintf(flags[n++], 80, "-DG_M=%u", rt->g_m);
	snprintf(flags[n++], 80, "-DG_SCHED_SP=%u", rt->g_sched_sp);
	snprintf(flags[n++], 80, "-DM_CURG=%u", rt->m_curg);
	snprintf(flags[n++], 80, "-DG_GOPC=%u", rt->g_gopc);
	snprintf(flags[n++], 80, "-DG_PARENT_GOID=%u", rt->g_parent_goid);
	for (int i = 0; i < n; i++)
		argv[i] = flags[i];
	setenv("BCC_KERNEL_SOURCE", headertree_dir(tree), 1);
	void *module = bpf_module_create_c_from_string(text, 0, argv, n, true, NULL);

	headertree_free(tree);
	if (!module)
		die("compile", NULL);
	return module;
}

static int load(void *module, int attach_type)
{
	char *log = calloc(1, LOG_SIZE);
	struct bpf_insn *insns = bpf_function_start(module, "on_probe");
	const char *stats;

	if (!insns || !log)
		die("program", NULL);
	int fd = bcc_func_load(module, BPF_PROG_TYPE_KPROBE, "on_probe", insns,
			       bpf_function_size(module, "on_probe"), "GPL", 0, 4, log, LOG_SIZE,
			       NULL, attach_type);

	stats = strstr(log, "processed");
	fprintf(stderr, "%s", stats ? stats : log);
	free(log);
	if (fd < 0)
		die("load", NULL);
	return fd;
}

static int print_event(void *ctx, void *data, size_t size)
{
	struct driver *d = ctx;
	const struct event *e = data;

	if (size < sizeof(*e))
		die("event", NULL);

	struct gostack stack = {.frames = e->frames,
				.at = e->copy ? d->copies[e->copy - 1] + d->bias : 0,
				.count = e->count,
				.bias = d->bias,
				.probed = d->names[e->row],
				.created_by = e->created_by,
				.parent_goid = e->parent_goid,
				.cut = e->count == TRACE_FRAMES};

	printf("%s %s\n", e->returned ? "return" : "entry", d->names[e->row]);
	gostack_print(stdout, &stack, d->syms, true);
	return 0;
}

static void trace(struct driver *d, void *module, pid_t pid)
{
	struct ring_buffer *ring =
		ring_buffer__new(bpf_table_fd(module, "events"), print_event, d, NULL);
	struct process *process = process_open(pid, NULL);
	struct pollfd ended = {.fd = process_fd(process), .events = POLLIN};
	int prog = load(module, attach_prog_type(attach_how()));
	struct errmsg err = {0};
	const struct attach_way way = {attach_how(), prog, -1, 0};
	struct attach *at = attach_new(&way, d->prog->file, d->probes, d->probe_count, &err);

	if (!at || !ring || ended.fd < 0)
		die("attach", &err);
	fprintf(stderr, "Tracing %zu sites\n", d->probe_count);
	while (!ended.revents) {
		ring_buffer__consume(ring);
		poll(&ended, 1, 10);
	}
	ring_buffer__consume(ring);
	attach_free(at);
	ring_buffer__free(ring);
	process_close(process);
	close(prog);
}

int main(int argc, char **argv)
{
	struct errmsg err = {0};
	struct driver d = {0};
	struct goruntime rt;

	if (argc < 4) {
		fprintf(stderr, "usage: e2e-stacks PATH PID FUNCTION...\n");
		return 2;
	}
	d.names = argv + 3;
	d.prog = program_open(heldfile_open(NULL, argv[1], &err), &err);
	if (!d.prog)
		die(argv[1], &err);
	d.finder = site_finder_new(d.prog);
	if (goruntime_read(d.prog, d.finder, &rt, &err))
		die(argv[1], &err);
	d.syms = gostack_symbols_new(d.prog->img, d.prog->tab);
	d.bias = find_bias(d.prog, argv[2]);
	for (int i = 3; i < argc; i++)
		add_function(&d, i - 3, getenv("ARGUMENTS"));

	void *module = compile(&rt);

	trace(&d, module, atoi(argv[2]));
	bpf_module_destroy(module);
	gostack_symbols_free(d.syms);
	site_finder_free(d.finder);
	program_close(d.prog);
	return 0;
}

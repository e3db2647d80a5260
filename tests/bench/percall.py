# SPDX-License-Identifier: Apache-2.0
"""What a counted and a timed call cost, beside bpftrace, bcc and an empty BPF program.

Each tracer has a copy of the target of its own and stays attached; rounds of batches go from copy
to copy, so that a slow moment of the machine falls on all alike. What the loop costs without a
tracer is taken off."""

import re
import time
from statistics import median

import world as w
from process import Failed, Process, run
from stats import Row

VERSIONS = ("1.19", "1.27")
FUNCTION = "main.checked"
CALLS, ROUNDS = 8000, 15
TRACED_NS = 150  # a call that costs more than this is traced
TARGET_OF = {("counted", "bpftrace"): 0.15, ("counted", "empty program"): 1.25,
             ("timed", "bpftrace"): 0.65}


# what is measured, and the program it needs; bcc times by uretprobes, which break Go's stacks
OTHERS = {"counted": {"untraced": None, "ours": None, "empty program": None,
                      "bpftrace": "bpftrace", "bcc": "funccount-bpfcc"},
          "timed": {"untraced": None, "ours": None, "bpftrace": "bpftrace"}}


class Copy:
    """A running target and, but for the untraced one, its tracer."""

    def __init__(self, name, program):
        self.name, self.program, self.costs, self.calls = name, program, [], 0
        self.target = Process([program])
        self.target.wait_for("ready")
        self.tracer = None

    def batch(self, calls):
        self.target.tell(f"{calls}\n")
        self.calls += calls
        return float(self.target.line().split()[-1])  # "took LINE NS"

    def trace(self, argv, word, env=None):
        """Until the tracer has said `word` and calls have been slow for a while: one slow batch may
        be the machine's, and not every tracer speaks when all is attached."""
        self.tracer = Process(argv, env)
        self.tracer.wait_for(word)
        slow = 0
        for _ in range(5000):
            slow = slow + 1 if self.batch(500) > TRACED_NS else 0
            if slow == 10:
                return
            if not self.tracer.alive():
                break
            time.sleep(0.01)
        self.tracer.fail("never traced a call")

    def end(self):
        """Both end; the number of calls the tracer says it saw."""
        if self.tracer:
            self.tracer.interrupt()
        self.target.finish()


def seen(text):
    """The calls in a tracer's output: a row or a map of the function, or a histogram's sum."""
    for pattern in (r"main\.checked\S*\s+(\d+)", r"@n: (\d+)", r"count: (\d+)"):
        if found := re.search(pattern, text):
            return int(found.group(1))
    buckets = re.findall(r"^[\[(].*[\])]\s+(\d+) \|", text, re.M)
    return sum(map(int, buckets)) if buckets else None


def bpftrace_counts(program):
    return ["bpftrace", "-e", f'uprobe:{program}:"{FUNCTION}" {{ @n = count(); }}']


def bpftrace_times(program, twin):
    """uretprobes break Go's stacks: probes at each RET, keyed by g, which Go keeps in r14.
    Debian's bpftrace has no disassembler: it takes no offset into a function that it has a symbol
    for, but any file offset in a program without symbols: `program` is stripped, `twin` is not."""
    entry, exits = w.entry_and_returns(twin, FUNCTION)
    probes = ", ".join(f"uprobe:{program}:{off:#x}" for off in exits)
    return ["bpftrace", "--unsafe", "-e",
            f'uprobe:{program}:{entry:#x} {{ @start[reg("r14")] = nsecs; }} '
            f'{probes} /@start[reg("r14")]/ '
            '{ @ns = hist(nsecs - @start[reg("r14")]); delete(@start[reg("r14")]); } '
            'END { clear(@start); }']


def start_counted(world, version, copies):
    ours = world.tool("gofunccount")
    record = world.recorded(f"counted-{version}",
                            [ours, f"{copies['ours'].program}:{FUNCTION}"])
    copies["ours"].trace([ours, f"{copies['ours'].program}:{FUNCTION}"], "Tracing")
    copies["empty program"].trace([world.path("bare_attach"), copies["empty program"].program,
                                   record.offsets, "hold"], "attached")
    if "bpftrace" in copies:
        copies["bpftrace"].trace(bpftrace_counts(copies["bpftrace"].program), "Attaching")
    if "bcc" in copies:
        copies["bcc"].trace(["funccount-bpfcc", f"{copies['bcc'].program}:{FUNCTION}"], "Tracing",
                            {"BCC_KERNEL_SOURCE": record.tree})


def start_timed(world, _, copies):
    ours = world.tool("gofunclatency")
    copies["ours"].trace([ours, f"{copies['ours'].program}:{FUNCTION}"], "Tracing")
    if "bpftrace" in copies:
        copies["bpftrace"].trace(bpftrace_times(copies["bpftrace"].program,
                                                copies["ours"].program), "Attaching")


def interleave(copies):
    order = list(copies.values())
    for number in range(ROUNDS):
        turn = number % len(order)
        for copy in order[turn:] + order[:turn]:
            copy.costs.append(copy.batch(CALLS))


def check_counts(copy):
    """A figure of a tracer that did not see the calls is no figure."""
    if not copy.tracer or copy.name == "empty program":
        return
    calls = seen(copy.tracer.text)
    if calls is None or calls < ROUNDS * CALLS:
        raise Failed(f"{copy.name} saw {calls} of at least {ROUNDS * CALLS} calls\n"
                     f"{copy.tracer.text[-1000:]}{copy.tracer.errors()}")


def program_of(world, kind, version, name):
    program = world.target(version, f"{kind}-{name.replace(' ', '-')}")
    if (kind, name) == ("timed", "bpftrace"):
        run(["strip", program])
    return program


def measure(world, kind, version):
    names = [name for name, program in OTHERS[kind].items() if not program or w.have(program)]
    copies = {name: Copy(name, program_of(world, kind, version, name)) for name in names}
    (start_counted if kind == "counted" else start_timed)(world, version, copies)
    interleave(copies)
    for copy in copies.values():
        copy.end()
        check_counts(copy)
    return copies


def rows_of(kind, version, copies):
    idle = median(copies["untraced"].costs)
    ours = [cost - idle for cost in copies["ours"].costs]
    for name in ("bpftrace", "empty program", "bcc"):
        if name in copies:
            other = [cost - idle for cost in copies[name].costs]
            yield Row(f"{kind} call, Go {version}", name, ours, other, "ns",
                      TARGET_OF.get((kind, name)))


def counted(world):
    for version in VERSIONS:
        yield from rows_of("counted", version, measure(world, "counted", version))


def timed(world):
    for version in VERSIONS:
        yield from rows_of("timed", version, measure(world, "timed", version))

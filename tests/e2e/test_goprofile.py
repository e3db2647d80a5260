# SPDX-License-Identifier: Apache-2.0
"""goprofile: samples of a program that tells how much of the processor each of its functions had, and whose stacks
are known: of each sample either all callers are right, or what is missing is marked."""

import collections
import contextlib
import os
import re
import tempfile
import time

import pprof
from harness import (Skip, Target, Tool, expect, fixture, json_lines, newest, private_copy, run, test, tool_path,
                     two_versions, versions)

# a mark, and the function below which it may stand in for callers
MARKS = re.compile(r"\[(caller not known|switches stacks|interrupted by a signal|more)\]")
WORK = "main.uses.func1"  # who calls each of the functions
CALLERS = {
    "main.leaf": {"main.leaves", "main.large"}, "main.large": {"main.larges"},
    "main.recurses": {"main.recurses", "main.descends"},
    # the clock, and who asks for it
    "[vdso]": {"runtime.nanotime1", "runtime.walltime1", "runtime.walltime", "time.now"},
}
MS = 300


def names(record):
    return [frame["func"] for frame in record["stack"]]


def is_mark(name):
    return MARKS.fullmatch(name)


def wrong(record):
    """What is wrong with the stack; None: nothing"""
    stack = names(record)
    for callee, caller in zip(stack, stack[1:]):
        if callee in CALLERS and caller not in CALLERS[callee] and not is_mark(caller):
            return f"{caller} calls {callee}"
    own = [i for i, name in enumerate(stack) if name.startswith("main.") and name != WORK]
    if own and stack[own[-1]] not in ("main.recurses", "main.large", "main.threadNs", "main.uses", "main.main") and \
            [name for name in stack[own[-1] + 1:] if not is_mark(name)] not in ([WORK], []):
        return f"{stack[own[-1]]} is called by {stack[own[-1] + 1:]}"
    if own and stack[-1] not in (WORK, "main.main", "runtime.main") and not is_mark(stack[-1]):
        return f"the outermost is {stack[-1]}"
    return None


def profiled(version, flavour, *options, ms=MS, args=()):
    """What the target tells of its functions, ns, and the tool's output"""
    with Target("shares", version, flavour, [f"ms={ms}", *args]) as target:
        with Tool("goprofile", *options, "-p", target.target_pid) as tool:
            tool.wait_line("Sampling ")
            target.go()
            expect(target.wait() == 0, target.said())
            expect(tool.wait() == 0, tool.said())
            truth = {t["func"]: t["ns"] for t in json_lines(target.out.text())}
            return truth, tool


def samples_of(records, function):
    return sum(r["samples"] for r in records if function in names(r))


def check_stacks(records, marked=0.02):
    bad = [(wrong(r), names(r)[:12]) for r in records if wrong(r)]
    expect(not bad, f"{len(bad)} of {len(records)} stacks: {bad[:3]}")
    own = [r for r in records if any(n.startswith("main.") for n in names(r))]
    total = sum(r["samples"] for r in own)
    cut = sum(r["samples"] for r in own if any(is_mark(n) and n != "[more]" for n in names(r)))
    expect(total and cut <= 2 + marked * total, f"of {total} samples {cut} are marked")


def check_shares(truth, records, hz):
    """Each function was met as often as its time has it, within what chance may do: 6 sigma and a tick"""
    # the function's thread has it all, but for what is at the beginning and end; recursion is cut by [more], and
    # others collect for who asks for it
    for function, ns in truth.items():
        if function in ("main.descends", "main.collects", "main.yields"):
            continue
        got, want = samples_of(records, function), ns * hz / 1e9
        expect(abs(got - want) <= 6 * want ** 0.5 + 0.15 * want + 3,
               f"{function}: {got} samples, {want:.0f} by its own clock")


@test(version=versions)
def goprofile(version):
    """Leaves, frames being made, assembly, the vDSO, system calls, the system stack: shares and callers are right."""
    truth, tool = profiled(version, "plain", "-j", "-F", 499)
    records = json_lines(tool.out.text())
    check_stacks(records)
    if version != "1.15":  # where a clock's callers are not known
        check_shares(truth, records, 499)
    systemstack = [r for r in records if "runtime.systemstack" in names(r) and "main.stats" in names(r)]
    expect(systemstack, "ReadMemStats on the system stack was never met, or its caller is missing")
    expect(any(names(r)[0] == "[vdso]" for r in records), "the vDSO was never met")
    expect(all(set(r) == {"type", "pid", "comm", "samples", "stack"} and r["type"] == "profile" for r in records),
           f"{records[0]}")


@test(version=two_versions, flavour=["strip", "pie", "cgo", "cgopie"])
def goprofile_built(version, flavour):
    truth, tool = profiled(version, flavour, "-j", "-F", 299, ms=100)
    check_stacks(json_lines(tool.out.text()))
    expect(len(truth) > 5, f"{truth}")


@test(version=two_versions)
def goprofile_text(version):
    """As bcc's profile: frames from the innermost on, the process, and the count, the most frequent last"""
    _, tool = profiled(version, "plain", "-F", 199, ms=100)
    text = tool.out.text()
    rows = re.findall(r"^    - {16}(\S+) \(\d+\)\n {8}(\d+)$", text, re.M)
    counts = [int(count) for _, count in rows]
    expect(counts and counts == sorted(counts) and all(name.startswith("shares") for name, _ in rows), text[-400:])
    expect(re.search(r"^    main\.\w+ shares\.go:\d+\n    main\.uses\.func1 shares\.go:\d+\n    - ", text, re.M), text[:600])


@test()
def goprofile_folded():
    _, tool = profiled(newest(), "strip", "-f", "-F", 999, ms=100)
    lines = tool.out.text().splitlines()
    expect(lines and all(re.fullmatch(r"shares-\d+(;.+)+ \d+", line) for line in lines), f"{lines[:3]}")
    expect(any(re.search(rf";{re.escape(WORK)};main\.leaves;main\.leaf \d+$", line) for line in lines), f"{lines[-5:]}")


def with_pprof(fixture_name, *args):
    """What goprofile prints, and the profile that it writes as well"""
    with Target(fixture_name, newest(), "plain", ["ms=100"]) as target:
        file = f"{target.folder.name}/out.pb.gz"
        with Tool("goprofile", *args, "--pprof", file, "-p", target.target_pid) as tool:
            tool.wait_line("Sampling ")
            target.go()
            expect(target.wait() == 0 and tool.wait() == 0, tool.said())
            return tool.out.text(), pprof.Profile(file)


@test()
def goprofile_pprof():
    """go tool pprof reads the same samples, and the time that they stand for."""
    text, profile = with_pprof("shares", "-j", "-F", 100)
    records = json_lines(text)
    samples = sum(r["samples"] for r in records)
    values = [sum(v[i] for v in profile.rows("comm").values()) for i in (0, 1)]
    expect(profile.types == ["samples/count", "cpu/nanoseconds"] and values == [samples, samples * 10000000],
           f"{profile.types}, {values}, {samples} samples")


@test()
def goprofile_programs():
    """Without -p: the processes of one file, or all Go programs, those that start meanwhile as well."""
    with Target("shares", newest(), "strip", ["ms=100"]) as one, Target("shares", newest(), "pie", ["ms=100"]) as other:
        with Tool("goprofile", "-j", "-F", 299, one.path) as by_file, Tool("goprofile", "-j", "-F", 299) as of_all:
            for tool in (by_file, of_all):
                tool.wait_line("Sampling ")
            for target in (one, other):
                target.go()
                expect(target.wait() == 0, target.said())
            by_file, of_all = by_file.stop(), of_all.stop()
        pids = {one.target_pid, other.target_pid}
    expect({r["pid"] for r in by_file} == {one.target_pid}, f"{ {r['pid'] for r in by_file} }")
    expect(pids <= {r["pid"] for r in of_all}, f"{ {(r['pid'], r['comm']) for r in of_all} }")
    for records in (by_file, [r for r in of_all if r["pid"] in pids]):
        check_stacks(records)


KERNEL = re.compile(r"\[unknown\]|[\w.]+")


@test(version=two_versions)
def goprofile_kernel(version):
    """-K: the kernel's frames first, down to where the program has called it, then the program's."""
    _, tool = profiled(version, "plain", "-j", "-K", "-F", 499, ms=100)
    records = json_lines(tool.out.text())
    inside = [r for r in records if "module" in r["stack"][0]]
    for record in inside:
        kinds = ["module" in frame for frame in record["stack"]]
        own = kinds.index(False) if False in kinds else len(kinds)
        expect(not any(kinds[own:]), f"the kernel's below the program's: {record}")
        expect(all(KERNEL.fullmatch(frame["func"]) and frame["file"] is None for frame in record["stack"][:own]),
               f"{record}")
    called = [r for r in inside if "main.calls" in names(r)]
    entered = [r for r in called if any(name.startswith("entry_SYSCALL_64") for name in names(r))]
    expect(entered and len(entered) >= 0.5 * len(called), f"{len(entered)} of {len(called)}: {called[:2]}")
    check_stacks([dict(r, stack=[f for f in r["stack"] if "module" not in f]) for r in records])
    outside = [r for r in records if "main.leaves" in names(r) and "module" not in r["stack"][0]]
    expect(outside, "all samples of main.leaves are in the kernel")


@test()
def goprofile_kernel_shown():
    """As text with their module, folded as flamegraph.pl knows them"""
    text = profiled(newest(), "strip", "-K", "-F", 499, ms=100)[1].out.text()
    expect(re.search(r"^    entry_SYSCALL_64\w* \[kernel\]\n    \S*syscall\S* ", text, re.M | re.I), text[-800:])
    lines = profiled(newest(), "strip", "-K", "-f", "-F", 499, ms=100)[1].out.text().splitlines()
    expect(any(re.search(r";main\.calls;.*;entry_SYSCALL_64\w*_\[k\];.*_\[k\] \d+$", line) for line in lines),
           f"{lines[-5:]}")


NAMESPACE = """mkfifo "$1/in"; exec 8<>"$1/in"
    unshare -p -f --kill-child "$2" ms=100 <&8 >"$1/out" & waiter=$!
    until grep -q ready "$1/out"; do sleep 0.05; done
    mkfifo "$1/said"; exec 7<>"$1/said"
    pid=$(pgrep -P $waiter)
    "$3" -j -F 299 $([ "$4" ] && echo "$4" || echo -p "$pid") 2>"$1/said" & tool=$!
    grep -q -m 1 Sampling <&7; echo >&8; wait $waiter; kill -INT $tool 2>/dev/null; wait $tool; echo "pid $pid"
    """


@test(by=["pid", "file"])
def goprofile_namespace(by):
    """The tool is in a PID namespace of its own, and the process in another one below it."""
    inside = ["unshare", "-p", "-f", "--kill-child", "--mount-proc"]
    if run([*inside, "true"]).returncode:
        raise Skip("no PID namespace with a /proc of its own")
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "shares", newest())
        done = run([*inside, "bash", "-c", NAMESPACE, "bash", folder, path, tool_path("goprofile"),
                    path if by == "file" else ""])
        with open(f"{folder}/out", encoding="utf-8") as out:
            expect(out.readline() == "ready 1\n", "no namespace below")
    records = json_lines(done.stdout)
    pid = int(done.stdout.splitlines()[-1].split()[1])
    expect({r["pid"] for r in records} == {pid}, f"{pid}: {done}")
    check_stacks(records)


def labelled(version, *options, ms=200, flavour="plain"):
    """What the target tells of its goroutines, and what the tool printed"""
    with Target("labelled", version, flavour, [f"ms={ms}"]) as target:
        with Tool("goprofile", *options, "-p", target.target_pid) as tool:
            tool.wait_line("Sampling ")
            target.go()
            expect(target.wait() == 0, target.said())
            expect(tool.wait() == 0, tool.said())
            return [(dict(t["labels"]), t["ns"]) for t in json_lines(target.out.text())], tool.out.text()


def as_shown(labels):
    """The first 128 bytes of a text, and what is no text is U+FFFD"""
    return {key: (value[:128] + "..." if len(value) > 128 else value).replace("\0", "\ufffd")
            for key, value in labels.items()}


@test(version=versions)
def goprofile_labels(version):
    """Each set of labels was met as often as its goroutine had the processor; on the system stack, too."""
    truth, text = labelled(version, "-j", "--labels", "-F", 299)
    records = [r for r in json_lines(text) if "main.uses.func1" in names(r)]
    for labels, ns in truth:
        many = len(labels) > 16  # more than are read: any of them
        mine = [r for r in records if r.get("labels_cut", False) == many and
                (r["labels"].items() <= labels.items() and len(r["labels"]) == 16
                 if many else r["labels"] == as_shown(labels))]
        got, want = sum(r["samples"] for r in mine), ns * 299 / 1e9
        expect(abs(got - want) <= 6 * want ** 0.5 + 0.15 * want + 3, f"{got} samples, {want:.0f} due: {labels}")
        records = [r for r in records if r not in mine]
    expect(sum(r["samples"] for r in records) <= 1, f"labels that nobody has: {records[:3]}")


@test(version=two_versions)
def goprofile_label_key(version):
    """One key alone, in each form"""
    keys = {"", "acme", "on the system stack"}
    _, text = labelled(version, "-j", "--labels=tenant", "-F", 199, ms=100, flavour="strip")
    found = [r["labels"] for r in json_lines(text) if "main.uses.func1" in names(r)]
    expect({tuple(labels) for labels in found} == {(), ("tenant",)}, f"{found}")
    expect({labels["tenant"] for labels in found if labels} == keys, f"{found}")
    # with -p there is no BINARY that the key could be
    _, text = labelled(version, "--labels", "tenant", "-F", 199, ms=100)
    expect(re.search(r"^    - {16}labelled \(\d+\) \{tenant: acme\}\n        \d+$", text, re.M), text[-800:])
    _, text = labelled(version, "-f", "--labels", "-F", 199, ms=100)
    expect(re.search(r'^labelled-\d+;\{handler: "/get \\"x\\", a", tenant: \};.*;main.adds \d+$', text, re.M), text[-800:])


@test()
def goprofile_labels_pprof():
    _, profile = with_pprof("labelled", "--labels", "-F", 299)
    found = {label for _, label in profile.rows("tenant")}
    expect({"acme", "on the system stack", None} <= found, f"{found}")


@test(version=["1.15", "1.27"])
def goprofile_labels_hostile(version):
    """What is no set of labels is said to be cut; stacks are as ever, and the target goes on."""
    with Target("mislabelled", version) as target:
        with Tool("goprofile", "-j", "--labels", "-F", 299, "-p", target.target_pid) as tool:
            tool.wait_line("Sampling ")
            target.go()
            expect(target.wait() == 0, target.said())
            expect(tool.wait() == 0, tool.said())
            records = [r for r in json_lines(tool.out.text()) if "main.adds" in names(r)]
    total = sum(r["samples"] for r in records)
    cut = sum(r["samples"] for r in records if r.get("labels_cut"))
    expect(total > 100 and cut >= 0.3 * total, f"{cut} of {total} are cut")
    texts = {text for r in records for label in r["labels"].items() for text in label}
    expect({"k", "v"} <= texts and all(len(text) <= 128 + 3 for text in texts), f"{texts}")


@contextlib.contextmanager
def own_cgroup():
    """A cgroup with one below it, which is given."""
    with open("/proc/mounts", encoding="utf-8") as mounts:
        roots = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
    path = f"{roots[0]}/gotools-{os.getpid()}-{time.monotonic_ns()}" if roots else ""
    try:
        os.makedirs(f"{path}/below")
    except OSError as why:
        raise Skip(f"no cgroup of version 2 can be made: {why}") from why
    try:
        yield path, f"{path}/below"
    finally:
        os.rmdir(f"{path}/below")
        os.rmdir(path)


@test(how=["all", "file"])
def goprofile_cgroup(how):
    """What runs in the cgroup, or below it, alone"""
    with own_cgroup() as (path, below), Target("shares", newest(), "strip", ["ms=100"]) as one, \
            Target("shares", newest(), "strip", ["ms=100"], path=one.path) as other:
        with open(f"{below}/cgroup.procs", "w", encoding="ascii") as members:
            members.write(str(one.target_pid))
        with Tool("goprofile", "-j", "-F", 299, "--cgroup", path, *([one.path] if how == "file" else [])) as tool:
            tool.wait_line("Sampling ")
            for target in (one, other):
                target.go()
                expect(target.wait() == 0, target.said())
            records = tool.stop()
        pid = one.target_pid
    expect({r["pid"] for r in records} == {pid}, f"{pid}: { {(r['pid'], r['comm']) for r in records} }")
    check_stacks(records)


@test()
def goprofile_intervals():
    """Samples of each interval by themselves, with its time"""
    with Target("shares", newest(), "plain", ["ms=100"]) as target:
        with Tool("goprofile", "-j", "-T", "-F", 199, "-i", "200ms", "-p", target.target_pid) as tool:
            tool.wait_line("Sampling ")
            target.go()
            expect(target.wait() == 0 and tool.wait() == 0, tool.said())
            records = json_lines(tool.out.text())
    expect(len({r["time"] for r in records}) > 2, f"{len(records)} rows")


@test()
def goprofile_refusals():
    def refused(status, *args):
        done = run([tool_path("goprofile"), *map(str, args)])
        expect(done.returncode == status, f"{args}: {done.returncode}, {done.stderr}")
        return done.stderr
    expect("frequency of" in refused(2, "-F", 0), "no frequency")
    expect("max_sample_rate" in refused(1, "-F", 1000000, "-d", 1), "more than the kernel allows")
    expect("no process" in refused(1, "-p", 2 ** 22 - 3), "no such process")
    expect("not a Go program" in refused(1, "-p", os.getpid()), "no Go program")
    expect("starts no COMMAND" in refused(1, fixture("shares", newest()), "--", "true"), "a command")
    expect("one BINARY" in refused(1, "-p", os.getpid(), "/bin/true"), "both")
    expect("no cgroup of version 2" in refused(1, "--cgroup", "/tmp"), "no cgroup")
    expect("cannot open cgroup" in refused(1, "--cgroup", "/nonexistent"), "no folder")
    expect("128 bytes" in refused(1, f"--labels={'x' * 129}"), "a long key")
    older = run([tool_path("goprofile"), "-d", "1"], env=dict(os.environ, GOTOOLS_REGISTERS="no"))
    expect(older.returncode == 1 and "hint: Linux 5.15 or later" in older.stderr, f"{older}")

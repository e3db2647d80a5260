# SPDX-License-Identifier: Apache-2.0
"""What gofuncs --emit writes for other tracers, run by them, against what the program counted."""

import ast
import os
import re
import shutil
import tempfile

from harness import (Skip, expect, newest, private_copy, run, test, tool_path, tracks, versions)

TRACING = "/sys/kernel/tracing"
# counts the events of an instance of its own; the events are removed in the end
RUN_EVENTS = """
[ -e {at}/uprobe_events ] || mount -t tracefs tracefs {at} || exit 77
cd {at} && cat "$1" >uprobe_events && mkdir instances/gotools || exit 1
echo 16384 >instances/gotools/buffer_size_kb
for filter in $(sed -n 's/^# filter of \\([^:]*\\): \\(.*\\)/\\1/p' "$1"); do
	sed -n "s/^# filter of $filter: //p" "$1" >instances/gotools/events/gotools/$filter/filter
done
echo 1 >instances/gotools/events/gotools/enable
"$2" now
echo 0 >instances/gotools/events/gotools/enable
cat instances/gotools/trace
rmdir instances/gotools
sed -n 's/^p:\\([^ ]*\\) .*/-:\\1/p' "$1" | sort -u >>uprobe_events
""".format(at=TRACING)
# the same for perf, with the filter of an entry that needs one
RUN_PERF = """
[ -e {at}/uprobe_events ] || mount -t tracefs tracefs {at} || exit 77
sh "$1" >/dev/null 2>&1 || exit 1
filter=$(sed -n 's/^# filter of main_big3k: //p' "$1")
if [ -n "$filter" ]; then set -- "$1" "$2" --filter "$filter"; fi
file=$1 program=$2
shift 2
perf record -q -o "$file.data" -e gotools:main_big3k "$@" \\
	-e gotools:main_big3k_return "$program" now
perf probe -q -d 'gotools:*'
perf script -i "$file.data" 2>/dev/null
""".format(at=TRACING)
GROWING = r"main\.(big3k|big100k|copiedInFlight|goDown)$"
# those that panic, whose stacks move, that change threads, ...; fixture: functions, by default
TIMED = {"panics": ("throws|leavesByGoexit|recursesThenPanics", "1.19", "strip"),
         "grow": ("big3k|copiedInFlight", "1.27", "plain"),
         "migrate": ("sleeping|trading", "1.19", "pie")}
ALL_TIMED = {"panics": "outermost|middleOf|throws|recoversItself|panicsAgain|leavesByGoexit|"
                       "insideGoexit|recoversBelow|recursesThenPanics",
             "grow": "big3k|big100k|copiedInFlight|goDown", "migrate": "sleeping|trading|working",
             "recurse": r"\w+", "inlined": r"\w+"}


def needs(tool):
    expect(shutil.which(tool), f"{tool} is not installed")


def is_all():
    return len(versions()) > 5


def two_versions():
    return versions() if is_all() else ["1.19", newest()]


def timed():
    if not is_all():
        return [f"{name}-{v if v in versions() else newest()}-{k}"
                for name, (_, v, k) in TIMED.items()]
    return [f"{name}-{v}-{k}" for name in ALL_TIMED for v in versions() for k in ("plain", "pie")]


def emitted(folder, tracer, path, pattern="main.*", *options):
    """The file that it wrote"""
    done = run([tool_path("gofuncs"), f"--emit={tracer}", *options, f"{path}:{pattern}"])
    expect(done.returncode == 0 and not done.stderr, f"{done.stderr}")
    name = os.path.join(folder, tracer)
    with open(name, "w", encoding="utf-8") as out:
        out.write(done.stdout)
    return name


def text_of(name):
    with open(name, encoding="utf-8", errors="replace") as lines:
        return lines.read()


def bpftrace(script, *command):
    """What it printed, then the program's own lines; with the settings that the script says it
    takes"""
    needs("bpftrace")
    settings = re.findall(r"(BPFTRACE_\w+)=(\d+)", text_of(script).splitlines()[0])
    shown = script + ".out"
    done = run(["bpftrace", "--unsafe", "-o", shown, script, "-c", " ".join(command)],
               env={**os.environ, **dict(settings)})
    said = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("WARNING"))
    expect(done.returncode == 0 and "ERROR: Can't" not in said, said)
    return text_of(shown) + done.stdout


def table(text, name):
    return {key: int(n) for key, n in re.findall(rf"^@{name}\[(.*)\]: (\d+)$", text, re.M)}


def histograms(text):
    """How many calls are in each"""
    found = re.findall(r"^@ns\[(.*)\]: *\n((?:[\[(].*\|\n)+)", text, re.M)
    return {name: sum(int(n) for n in re.findall(r"[)\]] +(\d+) \|", rows)) for name, rows in found}


def expect_counts(kind, got, truth, key="calls"):
    wrong = [f"{t['func']}: {got.get(t['func'], 0)} {kind}, {t[key]} in truth" for t in truth
             if got.get(t["func"], 0) != t[key]]
    expect(truth and not wrong, "; ".join(wrong))


def counted():
    return [(v, f) for v in versions() for f in ("plain", "strip")] if is_all() else [
        ("1.19", "strip"), (newest(), "plain")]


@test(how=counted)
def emit_bpftrace(how):
    """Functions start anew when the stack grows: that is one call."""
    version, flavour = how
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", version, flavour)
        functions = GROWING if is_all() else GROWING.replace("big100k|copiedInFlight|", "")
        text = bpftrace(emitted(folder, "bpftrace", path, functions, "-r"), path, "now")
    truth = [t for t in tracks(text) if re.match(functions, t["func"])]
    for kind in ("calls", "returns"):
        expect_counts(kind, table(text, kind), truth)


def ended(track):
    """As its fixture tells; only where something panics does it tell how many returned."""
    return {**track, "returned": track["returned"] if track.get("panicked") or track.get("exited")
            or track.get("returned") else track["calls"]}


@test(alone=True, how=timed)
def emit_bpftrace_latency(how):
    """Calls that a panic or Goexit ends leave nothing behind; those of a goroutine are its own,
    wherever it runs."""
    fixture, version, flavour = how.split("-")
    functions = rf"main\.({ALL_TIMED[fixture] if is_all() else TIMED[fixture][0]})$"
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, fixture, version, flavour)
        script = emitted(folder, "bpftrace:latency", path, functions, "-r", "--inlined")
        shown = text_of(script).replace("clear(@call);", "")
        with open(script, "w", encoding="utf-8") as out:
            out.write(shown)
        text = bpftrace(script, path, "now")
    left_out = set(re.findall(r"^// (main\.\S+): ", shown, re.M))
    truth = [ended(t) for t in tracks(text) if re.match(functions, t["func"])
             and t["func"] not in left_out]
    never = [t for t in truth if fixture == "panics" and not t["returned"]]
    expect_counts("begun", table(text, "calls"), truth)
    expect_counts("timed", histograms(text), [t for t in truth if t not in never], "returned")
    expect(re.search(r"^@lost: 0$", text, re.M), "calls were lost")
    left = re.findall(r"^@call\[.*", text, re.M)
    expect(not left, f"left behind: {left[:5]}")


def first_gap(text, name, value):
    """What is missing of a parameter: numbers, strings and truth values are told as they are."""
    if re.fullmatch(r"-?\d+|true|false", value):
        return None if re.search(rf"[( ]{name}={value}[,)]", text) else value
    if not re.fullmatch(r'"([^"\\]|\\")*"', value):
        return None
    said = ast.literal_eval(value)
    size = len(said.encode())
    shown = said.encode()[:63].decode("utf-8", "ignore")
    return None if f'{name}="{shown}' in text and f'"({size})' in text else value


@test(alone=True, version=two_versions)
def emit_bpftrace_args(version):
    functions = r"main\.call" + ("(0[0-3]|18)[0-9]$" if is_all() else r"00[37]$")
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "args", version)
        text = bpftrace(emitted(folder, "bpftrace:args", path, functions, "-r"), path, "now")
    lines = text.split("\n")
    calls = {}
    for func, shown in re.findall(r"^\d+ +\d+ +[1-9]\d* +(main\.\w+)(\((?:.|\n)*?\))$", text, re.M):
        calls.setdefault(func, []).append(shown)
    truth = [line.split("\t") for line in lines if re.match(functions[:-1] + "\tp\t", line)]
    expect(len(truth) > 2, f"{truth}")
    seen = {}
    for func, _, said in truth:
        n = seen[func] = seen.get(func, 0) + 1
        expect(len(calls.get(func, [])) >= n, f"{func} not seen")
        shown = calls[func][n - 1]
        for name, value in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)(?= |$)', said):
            # some is left out where bpftrace's stack is full; what is a guess is marked as one
            gap = f"{name}?=" not in shown and first_gap(shown, name, value)
            expect(not gap or f"{name}=?" in shown, f"{func}: {name}={gap} not in {shown}")
    for func, shown in calls.items():
        expect(len(shown) == seen[func], f"{func}: {len(shown)} calls, {seen[func]} in truth")


@test()
def emit_bpftrace_types():
    """Dynamic types of errors, by name or by a question mark"""
    with tempfile.TemporaryDirectory() as folder:
        for flavour in ("plain", "pie"):
            path = private_copy(folder, "traced", newest(), flavour)
            script = emitted(folder, "bpftrace:args", path, "main.(*Store).Get")
            text = bpftrace(script, path, "now")
            known = re.findall(r"main\.\(\*Store\)\.Get returned .*=(\*?[\w.]+|\?)\(0x[0-9a-f]+\)$",
                               text, re.M)
            truth = {t["func"]: t["calls"] for t in tracks(text)}
            fails = truth["failures of main.(*Store).Get"]
            calls = truth["main.(*Store).Get"]
            expect(0 < fails < calls, f"{truth}")
            expect(len(known) == calls and known.count("nil") == calls - fails,
                   f"{len(known)} of {calls}, {known[:4]}, {fails} fail")
            # what the linker's copies of pages hold is often not in memory
            expect(flavour == "pie" or "?" not in known, f"{known[:4]}")
            if not is_all():
                return


@test()
def emit_bpftrace_skeleton():
    """Filled in, it prints"""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", newest())
        script = emitted(folder, "bpftrace:skeleton", path, "main.big3k")
        filled, n = re.subn(r"\t// n int: (.*)", r'\tprintf("n %d\\n", \1);', text_of(script))
        expect(n == 1, "no argument n")
        with open(script, "w", encoding="utf-8") as out:
            out.write(filled)
        text = bpftrace(script, path, "now")
    calls = next(t["calls"] for t in tracks(text) if t["func"] == "main.big3k")
    expect(len(re.findall(r"^n \d+$", text, re.M)) == calls, text[:400])


def traced(folder, how, script):
    """What the kernel has to say"""
    name = os.path.join(folder, "run")
    with open(name, "w", encoding="utf-8") as out:
        out.write(script)
    done = run(["unshare", "-m", "sh", name, *how])
    if done.returncode == 77:
        raise Skip("no tracefs")
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    return done.stdout


@test(alone=True, version=two_versions)
def emit_uprobe_events(version):
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", version)
        lines = emitted(folder, "uprobe_events", path, GROWING, "-r")
        text = traced(folder, [lines, path], RUN_EVENTS)
    truth = tracks(text)
    for suffix in ("", "_return"):
        found = re.findall(rf" main_([a-zA-Z0-9]+){suffix}: \(0x", text)
        expect_counts(suffix, {f"main.{n}": found.count(n) for n in set(found)}, truth)
    expect(re.search(r" main_big3k: \(0x[0-9a-f]+\).* n=\d+$", text, re.M), "no argument n")
    # each of these calls is a goroutine's first
    goids = re.findall(r" main_big3k: .* goid=(\d+)", text)
    calls = next(t["calls"] for t in truth if t["func"] == "main.big3k")
    expect(version == "1.15" or len(set(goids)) == calls,
           f"{len(set(goids))} goroutines, not {calls}")


def perf_versions():
    return versions() if is_all() else ["1.19"]


@test(alone=True, version=perf_versions)
def emit_perf(version):
    needs("perf")
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", version)
        text = traced(folder, [emitted(folder, "perf", path, "main.big3k"), path], RUN_PERF)
    calls = next(t["calls"] for t in tracks(text) if t["func"] == "main.big3k")
    for event, what in (("main_big3k", r"n=\d+"), ("main_big3k_return", r"ret1=\d+")):
        got = re.findall(rf" gotools:{event}: .*{what}$", text, re.M)
        expect(len(got) == calls, f"{event}: {len(got)}, {calls} in truth: {text[:400]}")


@test()
def emit_errors():
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", newest())
        other = os.path.join(folder, "a b")
        shutil.copy(path, other)
        done = run([tool_path("gofuncs"), "--emit=bpftrace", f"{other}:main.main"])
        expect(done.returncode == 1 and '"' in done.stderr and not done.stdout, f"{done}")
        for name in ("dtrace", "bpftrace:", "bpftrace:histogram", "perf:args"):
            done = run([tool_path("gofuncs"), f"--emit={name}", f"{path}:main.main"])
            expect(done.returncode == 2 and f'"{name}"' in done.stderr, f"{done}")
            expect("bpftrace:skeleton" in done.stderr, f"{done}")
        second = shutil.copy(path, os.path.join(folder, "second"))
        done = run([tool_path("gofuncs"), "--emit=bpftrace:latency", f"{path}:main.main",
                    f"{second}:main.main"])
        expect(done.returncode == 1 and "hint: " in done.stderr, f"{done}")


@test()
def emit_one_script():
    """Several patterns make one script."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", newest())
        done = run([tool_path("gofuncs"), "--emit=bpftrace:latency", f"{path}:main.big3k",
                    f"{path}:main.goDown", f"{path}:main.big*"])
        expect(done.returncode == 0 and done.stdout.count("\nBEGIN") == 1, f"{done}")
        names = re.findall(r'^\t@name\[0x\w+\] = "(.*)";$', done.stdout, re.M)
        expect(sorted(names) == ["main.big100k", "main.big3k", "main.goDown"], f"{names}")


@test(tracer=["bpftrace", "bpftrace:latency", "uprobe_events", "perf"], options=["", "-v"])
def emit_copies_beside_functions(tracer, options):
    """Each pattern stands for what it would if it were alone: a name that only copies have too."""
    def offsets(*patterns):
        done = run([tool_path("gofuncs"), f"--emit={tracer}", *options.split(),
                    *(f"{path}:{pattern}" for pattern in patterns)])
        expect(done.returncode == 0, f"{done}")
        return set(re.findall(r"(?:\.|:|\b)0x([0-9a-f]{4,8})\b", done.stdout))
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "hello", newest())
        function, copies = offsets("main.main"), offsets("fmt.Println")
        expect(function and copies and not function >= copies, f"{function}, {copies}")
        for both in ["main.main", "fmt.Println"], ["fmt.Println", "main.main"]:
            expect(offsets(*both) >= function | copies, f"{offsets(*both)} of {function}, {copies}")
        expect(not offsets("main.*") & copies - function, "a pattern took copies")


@test()
def emit_bpftrace_etcd():
    """Offsets that lie among the addresses of a stripped program's dynamic symbols"""
    needs("etcd")
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy("/usr/bin/etcd", folder)
        text = bpftrace(emitted(folder, "bpftrace", path, "os.Getenv"), path, "--version")
    counts = [table(text, name)["os.Getenv"] for name in ("calls", "returns")]
    expect(counts[0] > 5 and counts[0] == counts[1], f"{counts}")

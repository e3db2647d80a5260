# SPDX-License-Identifier: Apache-2.0
"""What gofuncs --emit writes for other tracers, run by them, against what the program counted."""

import os
import re
import shutil
import tempfile

from harness import (Skip, expect, newest, private_copy, run, some_versions, test, tool_path,
                     tracks)

TRACING = "/sys/kernel/tracing"
# counts the events of an instance of its own; the events are removed in the end
RUN_EVENTS = """
[ -e {at}/uprobe_events ] || mount -t tracefs tracefs {at} || exit 77
cd {at} && cat "$1" >uprobe_events && mkdir instances/gotools || exit 1
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


def needs(tool):
    if not shutil.which(tool):
        raise Skip(f"{tool} is not installed")


def emitted(folder, tracer, path, pattern="main.*"):
    """The file that it wrote"""
    done = run([tool_path("gofuncs"), f"--emit={tracer}", f"{path}:{pattern}"])
    expect(done.returncode == 0 and not done.stderr, f"{done.stderr}")
    name = os.path.join(folder, tracer)
    with open(name, "w", encoding="utf-8") as out:
        out.write(done.stdout)
    return name


def expect_counts(kind, got, truth):
    wrong = [f"{t['func']}: {got.get(t['func'], 0)} {kind}, {t['calls']} in truth" for t in truth
             if got.get(t["func"], 0) != t["calls"]]
    expect(truth and not wrong, "; ".join(wrong))


@test(alone=True, version=some_versions, flavour=["plain", "strip"])
def emit_bpftrace(version, flavour):
    """Functions start anew when the stack grows: that is one call."""
    needs("bpftrace")
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", version, flavour)
        script = emitted(folder, "bpftrace", path)
        done = run(["bpftrace", "--unsafe", script, "-c", f"{path} now"])
    expect(done.returncode == 0, done.stderr)
    for kind in ("calls", "returns"):
        found = re.findall(rf"^@{kind}\[(.*)\]: (\d+)$", done.stdout, re.M)
        expect_counts(kind, {name: int(count) for name, count in found}, tracks(done.stdout))


def traced(folder, path):
    """What tracefs has to say"""
    script = os.path.join(folder, "run")
    with open(script, "w", encoding="utf-8") as out:
        out.write(RUN_EVENTS)
    done = run(["unshare", "-m", "sh", script, emitted(folder, "uprobe_events", path), path])
    if done.returncode == 77:
        raise Skip("no tracefs")
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    return done.stdout


@test(alone=True, version=some_versions)
def emit_uprobe_events(version):
    with tempfile.TemporaryDirectory() as folder:
        text = traced(folder, private_copy(folder, "grow", version))
    truth = tracks(text)
    for suffix in ("", "_return"):
        found = re.findall(rf" main_(\w+?){suffix}: \(0x", text)
        expect_counts(suffix, {f"main.{n}": found.count(n) for n in set(found)}, truth)
    expect(re.search(r" main_big3k: \(0x[0-9a-f]+\).* n=\d+$", text, re.M), "no argument n")


@test()
def emit_perf():
    needs("perf")
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", newest())
        with open(emitted(folder, "perf", path), encoding="utf-8") as lines:
            commands = [line for line in lines if not line.startswith("#")]
        expect(len(commands) > 8, f"{commands}")
        for command in commands[:6]:  # -D: shows what it would do
            done = run(["sh", "-c", command.replace("--add", "-D")])
            offset = re.search(r"=(0x[0-9a-f]+)", command).group(1)
            expect(f"{path}:{offset}" in done.stdout, f"{command}: {done.stdout} {done.stderr}")


@test()
def emit_errors():
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "grow", newest())
        other = os.path.join(folder, "a b")
        shutil.copy(path, other)
        done = run([tool_path("gofuncs"), "--emit=bpftrace", f"{other}:main.main"])
        expect(done.returncode == 1 and '"' in done.stderr and not done.stdout, f"{done}")
        done = run([tool_path("gofuncs"), "--emit=dtrace", f"{path}:main.main"])
        expect(done.returncode == 2 and '"dtrace"' in done.stderr, f"{done}")


@test(alone=True)
def emit_bpftrace_etcd():
    """Offsets that lie among the addresses of a stripped program's dynamic symbols"""
    needs("bpftrace")
    needs("etcd")
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy("/usr/bin/etcd", folder)
        script = emitted(folder, "bpftrace", path, "os.Getenv")
        done = run(["bpftrace", "--unsafe", script, "-c", f"{path} --version"])
    counts = re.findall(r"^@\w+\[os.Getenv\]: (\d+)$", done.stdout, re.M)
    expect(len(counts) == 2 and int(counts[0]) > 5 and counts[0] == counts[1], f"{done}")

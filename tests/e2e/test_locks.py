# SPDX-License-Identifier: Apache-2.0
"""golocks, on a program that knows who waited for its locks, how long, and who had them meanwhile."""

import json
import os
import re
import signal
import time

from harness import (PROBE_NS, SLACK_NS, Target, Tool, each_release, expect, fixture, json_lines, newest,
                     outliers, plain_name, run, some_versions, test, tool_path, two_versions, versions)

ROUNDS = 10
HOLD_NS = 5_000_000  # that the fixture has a lock
STORE = {"main.(*store).get": 2 * ROUNDS, "main.(*store).put": ROUNDS}
RW = {("RLock", "main.(*store).load"): 3 * ROUNDS, ("Lock", "main.(*store).rewrite"): 2 * ROUNDS}

# Names that are known without debug information: receivers, whose types the program has; and that need not be known
TOLD = ["main.(*borrower).mu", "main.(*shelf).mu", "main.(*lazy).once.m", "sync.(*Once).m"]
UNSURE = ["main.(*pair).a", "main.(*pair).b", "main.woken"]


def names(row):
    return [frame["func"] for frame in row["stack"]]


def first(row):
    """Who calls Lock or Unlock, or the method of that name of what has the lock inside"""
    return next((name for name in names(row) if not re.search(r"\.(Lock|Unlock)$", name)), None)


def told(text):
    """{name: what the fixture knows of the lock}"""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return {line["lock"]: line for line in lines if "lock" in line}


def sums(rows, what, number):
    found = {}
    for row in rows:
        key = (row[what], first(row)) if what else first(row)
        found[key] = found.get(key, 0) + row[number]
    return found


def delayed(pid):
    """ns for which the threads of a process have waited for a CPU"""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as file:
            total += int(file.read().split()[1])
    return total


def traced(target, *args, **kwargs):
    """The locks, by address, of a whole run of the fixture, and what it knows"""
    with Tool("golocks", "-j", *(args or ["-p", target.target_pid]), **kwargs).tracing() as tool:
        target.go()
        target.wait_line("done")
        target.late = delayed(target.target_pid)
        records = tool.stop()
        said = [line for line in tool.err.text().splitlines() if line.startswith("golocks:") and "hits a second" not in line]
        expect(not said, f"{said}")
    target.go()
    target.wait()
    expect(all(list(r)[0] == "type" and r["type"] == "lock" for r in records), f"{records}")
    return {record["addr"]: record for record in records}, told(target.out.text())


def check_sums(record):
    """Are the whole and its parts the same?"""
    expect(sum(r["waits"] for r in record["waiters"]) == record["waits"], f"{record}")
    expect(sum(r["total_ns"] for r in record["waiters"]) == record["total_ns"], f"{record}")
    expect(max([r["max_ns"] for r in record["waiters"]], default=0) == record["max_ns"], f"{record}")
    expect(sum(r["ns"] for r in record["holders"]) == record["total_ns"], f"{record}")
    expect("unknown" not in {r["held_by"] for r in record["holders"]}, f"{record['holders']}")


def check_times(record, known, late):
    """No wait is longer than its caller saw it, and hardly shorter; the time of each holder is what it held. But for
    `late` ns the kernel let threads wait, which may have been between the caller's clock and the probe."""
    for name, most in known["waited"].items():
        found, waits = sums(record["waiters"], None, "total_ns")[name], known["waits"][name]
        least = (1 - outliers()) * (most - PROBE_NS * waits) - late
        expect(least <= found <= most, f"{name}: {found} ns, {known}")
    expect(record["max_ns"] <= known["longest"], f"{record['max_ns']}, {known}")
    waits = record["waits"]
    held = sums([r for r in record["holders"] if r["held_by"] != "nobody"], None, "ns")
    for name, most in known["held"].items():
        expect(abs(held.get(name, 0) - most) <= outliers() * most + PROBE_NS * waits + late,
               f"{name}: {held}, {known}, {late} ns late")


def check_again(record, known):
    """A wait is one however often it is woken in vain."""
    check_sums(record)
    twice = [r for r in record["waiters"] if first(r) == "main.waitsTwice"]
    waits, total = (sum(r[key] for r in twice) for key in ("waits", "total_ns"))
    most = known["waited"]["main.waitsTwice"]
    expect(waits == ROUNDS, f"{record}")
    expect((1 - outliers()) * (most - PROBE_NS * ROUNDS) <= total <= most, f"{total} ns, {known}")


def check_easy(records, truth):
    """Who need not sleep does not wait, and what is free is not spun for."""
    woken, passed = (records[truth[name]["addr"]] for name in ("main.woken", "main.passed"))
    keys = ["waits", "sleeps", "spins", "found_free"]
    expect(truth["main.open"]["addr"] not in records, f"{records}")
    expect([woken[key] for key in keys] == [0, 0, 0, ROUNDS] and woken["found_free_ns"], f"{woken}")
    expect([passed[key] for key in keys] == [ROUNDS, ROUNDS, 0, 0] and passed["waiters"][0]["sleeps"] == ROUNDS, f"{passed}")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def locks_waits(version, flavour):
    """Each wait once, as long as it was, and the time of who had the lock"""
    with Target("locks", version, flavour) as target:
        records, truth = traced(target)
    store, rw = truth["main.(*store).mu"], truth["main.(*store).inner.rw"]
    mutex, rwmutex = records[store["addr"]], records[rw["addr"]]
    expect(mutex["kind"] == "mutex" and rwmutex["kind"] == "rwmutex", f"{records}")
    expect(sums(mutex["waiters"], "op", "waits") == {("Lock", f): n for f, n in STORE.items()}, f"{mutex['waiters']}")
    expect(sums(rwmutex["waiters"], "op", "waits") == RW, f"{rwmutex['waiters']}")
    for record, known in (mutex, store), (rwmutex, rw):
        check_sums(record)
        check_times(record, known, target.late)
    held = sums(rwmutex["holders"], "held_by", "ns")
    expect({("goroutine", "main.(*store).reload"), ("readers", "main.(*store).scan")} <= set(held), f"{held}")
    readers = sum(r["readers"] for r in rwmutex["holders"] if r["held_by"] == "readers")
    expect(readers == ROUNDS, f"{readers} readers")
    for record in records.values():
        name = next(name for name, lock in truth.items() if lock["addr"] == record["addr"])
        certain = name in TOLD or (flavour != "strip" and name not in UNSURE)
        told_name = record["name"] and plain_name(record["name"])
        expect(told_name in ([name] if certain else [None, name]), f"{name}: {record['name']}")
    plain = records[truth["main.plain"]["addr"]]
    expect(plain["waits"] == 1 and ("goroutine", "main.run") in sums(plain["holders"], "held_by", "ns"), f"{plain}")
    expect(truth["main.quiet"]["addr"] not in records, f"{records}")
    forever = records[truth["main.forever"]["addr"]]
    expect(forever["waits"] == 0 and [(w["op"], first(w)) for w in forever["waiting"]] == [("Lock", "main.waitsForever")],
           f"{forever}")
    check_again(records[truth["main.again"]["addr"]], truth["main.again"])
    check_easy(records, truth)
    expect(len(records) == 15 + 2 * (int(version.split(".")[1]) >= 18), f"{list(records)}")


@test(flavour=["pie", "cgo", "cgopie", "nl"])
def locks_flavours(flavour):
    locks_waits(newest(), flavour)


# Go 1.20 has the figure already, but is not in Debian.
def counted_versions():
    """The runtime's clock of locks changed in each of these; of them those that are asked for"""
    return [v for v in ("1.21", "1.22", "1.24", "1.27") if v in versions()]


def beside_runtime(version, *args):
    """(all locks, how long the runtime says it timed waits for them, for how long the kernel may have kept waiting a
    thread that was about to park a goroutine or to make one runnable, or had one of the runtime's own locks)"""
    with Target("locks", version, args=args) as target:
        with Tool("golocks", "-j", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("done")
            late = delayed(target.target_pid)
            records = [record for record in tool.stop() if record["waits"]]
        target.go()
        target.wait()
        [told] = [line["runtime_ns"] for line in json_lines(target.out.text()) if "runtime_ns" in line]
    for record in records:
        check_sums(record)
    return records, told / 8, late


@test(version=counted_versions)
def locks_runtime_every(version):
    """The runtime's own /sync/mutex/wait/total:seconds, where it times every wait: from when the goroutine waits to when
    the lock is let go of for it. Of golocks' waits that is all but some of the time in which nobody had the lock."""
    records, theirs, late = beside_runtime(version, "every")
    waits, total = (sum(record[key] for record in records) for key in ("waits", "total_ns"))
    free = sum(r["ns"] for record in records for r in record["holders"] if r["held_by"] == "nobody")
    expect(waits == 10 * ROUNDS + 11, f"{waits} waits")
    slack = PROBE_NS * waits + late
    most = total + (SLACK_NS * waits if version == "1.21" else slack)  # later ones add waits for the runtime's own locks
    expect(total - free - slack <= theirs <= most, f"{total} ns, of which {free} free, by the runtime {theirs}, +-{slack}")


@test(version=counted_versions)
def locks_runtime_sampled(version):
    """... where it times each eighth change of a goroutine's state, and this one does nothing but wait: those for the same
    of eight locks. Each time that it interrupts the goroutine it goes on with another one, for which a wait may be timed
    more or less: in 60 runs never more than two of ten."""
    records, theirs, late = beside_runtime(version, "sampled", "rounds=20")
    expect([record["waits"] for record in records] == [20] * 8, f"{records}")
    totals = [record["total_ns"] for record in records]
    slack = PROBE_NS * 20 + late + 4 * max(totals) / 20
    expect(min(totals) - slack <= theirs <= max(totals) + slack, f"{totals}, by the runtime {theirs}, +-{slack}")


@test(version=some_versions)
def locks_busy(version):
    """Goroutines that pass on a lock as fast as they can, some of them without having waited for it"""
    with Target("locks", version, args=["busy", "rounds=1"]) as target:
        records, truth = traced(target)
    known = truth["main.busy"]
    record = records[known["addr"]]
    check_sums(record)
    expect(set(sums(record["waiters"], "op", "waits")) == {("Lock", "main.barge")}, f"{record['waiters']}")
    most = known["waited"]["main.barge"]
    expect(0 < record["waits"] <= record["waits"] + record["spins"] + record["found_free"] <= 2000, f"{record}")
    expect(record["total_ns"] + record["spin_ns"] + record["found_free_ns"] <= most, f"{record}, {known}")
    held = sums(record["holders"], "held_by", "ns")
    expect(held[("goroutine", "main.barge")] >= record["total_ns"] / 3, f"{held}")
    expect(set(held) <= {("goroutine", "main.barge"), ("nobody", None)}, f"{held}")


def whole(*args):
    with Target("locks", newest()) as target:
        done = run([tool_path("golocks"), *args, target.path, "--", target.path, "now", "rounds=2"])
    expect(done.returncode == 0 and "golocks:" not in done.stderr, done.stderr)
    return done


HEAD = re.compile(r"^\n +(\S+) +(\d+) +(\S+)  main\.\S+ sync\.(Mutex|RWMutex) (0x[0-9a-f]+) of locks \(\d+\)$", re.M)


def seconds(text):
    """Of "12.3ms" """
    number, unit = re.match(r"([\d.]+)(\w+)$", text).groups()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


@test()
def locks_text():
    """Of a command: the lock that was waited for longest comes last"""
    done = whole()
    truth = told(done.stdout)
    heads = HEAD.findall(done.stdout)
    mutex, rwmutex = truth["main.(*store).mu"]["addr"], truth["main.(*store).inner.rw"]["addr"]
    expect({("6", "Mutex", mutex), ("10", "RWMutex", rwmutex)} <= {(h[1], h[3], h[4]) for h in heads}, f"{heads}")
    times = [seconds(head[0]) for head in heads]
    expect(times == sorted(times) and times[0] < times[-1], f"{heads}")
    block = done.stdout[done.stdout.index(f"sync.RWMutex {rwmutex}"):].split("\n\n")[0]
    for line in (r" +\S+s +6 +\S+s    RLock    main\.\(\*store\)\.load locks\.go:\d+",
                 r" +\S+s +4 +\S+s    Lock     main\.\(\*store\)\.rewrite locks\.go:\d+",
                 r" +\S+s +\d+\.\d% +held by  main\.\(\*store\)\.reload locks\.go:\d+",
                 r" +\S+s +\d+\.\d% +readers  2, not told apart; last main\.\(\*store\)\.scan locks\.go:\d+",
                 r" +\S+s +\d+\.\d% +free     until the waiter had it"):
        expect(re.search(f"^{line}$", block, re.M), f"{line}: {block}")
    block = done.stdout[done.stdout.index(f"sync.Mutex {mutex}"):].split("\n\n")[0]
    expect(sorted(re.findall(r"s    Lock     main\.\(\*store\)\.(\w+) ", block)) == ["get", "put"], block)
    expect(set(re.findall(r"% +held by  main\.\(\*store\)\.(\w+) ", block)) == {"get", "put", "flush"}, block)
    expect(re.search(r"^16 locks, 32 waits, \S+s\n1 other, got without a wait 2 times, \S+s$", done.stdout, re.M), done.stdout)


@test()
def locks_options():
    """-n: the last ones only; -s: more of each stack"""
    done = whole("-n", "1", "-s", "2")
    heads = re.findall(r"^ .* sync\.(?:Mutex|RWMutex) 0x\w+ of locks \(\d+\)$", done.stdout, re.M)  # one may have no name
    expect(len(heads) == 1 and re.search(r"^16 locks, 32 waits", done.stdout, re.M), done.stdout)
    expect(re.search(r"    Lock     main\..*\n {38}main\.\S+ locks\.go:\d+$", done.stdout, re.M), done.stdout)


@test()
def locks_waiting():
    """What goes on at the end is in no sum, and is shown."""
    with Target("locks", newest(), args=["rounds=1"]) as target:
        with Tool("golocks", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("done")
            tool.signal(signal.SIGINT)
            expect(tool.wait() == 0, tool.said())
            text = tool.out.text()
        target.go()
        target.wait()
    expect(re.search(r"^ +0ns +0 +0ns  main\.forever sync\.Mutex 0x\w+\n +\S+s +1 +\S+s    Lock     main\.waitsForever locks\.go:\d+ "
                     r"\[still waits: goroutine \d+\]\n +held by  who got it without a wait: not known$", text, re.M), text)
    expect("\n1 wait has not ended\n" in text, text)


def rows(text, line, what):
    """[(seconds, count, longest, the rest)] of what stands in the text about a lock, by a pattern of how the lines begin"""
    block = text[text.index(line):].split("\n\n")[0]
    found = re.findall(rf"^ +(\S+s) +([\d.]*)%? +(\S+s|)  +((?:{what}).*)$", block, re.M)
    return [(seconds(r[0]), r[1], r[2] and seconds(r[2]), r[3]) for r in found]


def check_rest(found, other, count, least, most):
    """Eight rows, and what is left of the total, in three digits each"""
    *shown, rest = found
    expect(len(shown) == 8 and re.match(rf"{other}{count} other stacks$", rest[3]), f"{found}")
    expect([r[0] for r in shown] == sorted([r[0] for r in shown], reverse=True), f"{shown}")
    expect(0.99 * least <= sum(r[0] for r in found) <= 1.01 * most, f"{found}, {least} to {most} s in all")


@test(version=two_versions)
def locks_crowd(version):
    """Of more stacks than are shown, the sum of the others; of waits with one stack, who waits longest; and of a goroutine
    that is nothing but the call of Lock, that"""
    with Target("locks", version, args=["crowd", "rounds=0"]) as target:
        with Tool("golocks", "-j", "-p", target.target_pid).tracing() as exact, \
                Tool("golocks", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("done")
            records = {r["name"]: r for r in exact.stop()}
            tool.signal(signal.SIGINT)
            expect(tool.wait() == 0, tool.said())
            text = tool.out.text()
        target.go()
        target.wait()
    ended, total = records["main.crowded"], records["main.crowded"]["total_ns"] / 1e9
    check_rest(rows(text, "main.crowded ", "Lock|[0-9]+ other"), "", 4, total, total)
    check_rest(rows(text, "main.crowded ", "held by|free"), "held by  ", len(ended["holders"]) - 8, total, total)
    expect([names(w) for w in records["main.direct"]["waiters"]] == [["sync.(*Mutex).Lock"]], f"{records['main.direct']}")
    expect([r[3] for r in rows(text, "main.direct ", r"Lock +sync\.\(\*Mutex\)\.Lock mutex\.go:[0-9]+")], text)
    waiting = rows(text, "main.forever ", "Lock")
    shown = sum(r[0] for r in waiting[:8])
    check_rest(waiting, "Lock     still in ", 5, shown, shown + 5 * waiting[7][0])
    longest = max(records["main.forever"]["waiting"], key=lambda w: w["since_ns"])
    expect(waiting[0][1] == "2" and waiting[0][3].endswith(f"[still waits: goroutine {longest['goid']} and others]"), text)
    expect(waiting[0][0] / 2 < waiting[0][2] < waiting[0][0] and waiting[0][2] >= longest["since_ns"] / 1e9, f"{waiting[0]}")


@test()
def locks_stuck():
    """What waits when the process ends is shown, too, and only once."""
    with Target("locks", newest()) as target:
        done = run([tool_path("golocks"), "-j", "-i", "5", "--", target.path, "now", "stuck", "rounds=1"])
        text = run([tool_path("golocks"), "--", target.path, "now", "stuck", "rounds=1"]).stdout
    forever = told(done.stdout)["main.forever"]["addr"]
    waiting = [w for r in json_lines(done.stdout) if r.get("addr") == forever and "waiting" in r for w in r["waiting"]]
    expect(len(waiting) == 1 and waiting[0]["ended"] and first(waiting[0]) == "main.waitsForever", f"{waiting}: {done}")
    expect(re.search(r"main\.waitsForever locks\.go:\d+ \[waited to the end of the process: goroutine \d+\]$", text, re.M) and
           "\n1 wait has not ended\n" in text, text)


@test()
def locks_ended():
    """... in one interval, where the tool goes on."""
    with Target("locks", newest(), args=["stuck", "rounds=0"]) as target:
        with Tool("golocks", "-j", "-i", "0.2", target.path).tracing() as tool:
            target.go()
            target.wait()
            for _ in range(3):
                lines = tool.out.text().count("\n")
                with Target("locks", newest(), args=["rounds=0"], path=target.path) as other:
                    other.go()
                    other.wait_line("done")
                    other.go()
                    other.wait()
                while tool.out.text().count("\n") == lines:
                    time.sleep(0.05)
            records = tool.stop()
    ended = [w for r in records for w in r["waiting"] if w["ended"]]
    expect(len(ended) == 1 and first(ended[0]) == "main.waitsForever", f"{ended}")
    mine = [r for r in records if r["pid"] == target.target_pid and r["waiting"]]
    expect(mine and mine[-1]["waiting"] == ended and records[-1]["pid"] != target.target_pid, f"{records}")


@test()
def locks_ends():
    """Of a process that has ended, only who still waited then is told to have waited to its end, though the tool may
    learn of that before it learns of waits that were over."""
    with Target("locks", newest()) as target:
        with Tool("golocks", "-j", "-i", "0.05", target.path).tracing() as tool:
            for _ in range(20):
                done = run([target.path, "now", "stuck", "rounds=0"])
                expect(done.returncode == 0, f"{done}")
            records = tool.stop()
    ended = [first(w) for r in records for w in r["waiting"] if w["ended"]]
    waits = sum(r["waits"] for r in records)
    # who has said that it will wait, and gets no processor before the lock is let go of, finds it free
    late = sum(r["spins"] + r["found_free"] for r in records)
    expect(ended == 20 * ["main.waitsForever"] and waits + late == 20 * 11 and late < 20,
           f"{waits} waits, {late} not, {ended}")


def waits_since(text):
    """{PID: when the fixture began to wait, and the last time that it is known to have waited}"""
    return {line["pid"]: line for line in json_lines(text) if "since" in line}


def check_ended(records, known, late, over):
    """Did the one wait end when its process did? It was killed, or was about to end, at known["until"], and was gone at
    `over`."""
    waits = [w for r in records if r["pid"] == known["pid"] for w in r["waiting"]]
    expect(len(waits) == 1 and waits[0]["ended"] and first(waits[0]) == "main.waitsForever", f"{records}")
    least, most = known["until"] - known["since"] - PROBE_NS - late, over - known["since"]
    expect(least <= waits[0]["since_ns"] <= most, f"{waits}, {known}: {least} to {most}")


@test(how=["stuck", "crash"])
def locks_end_of(how):
    """A wait ends with its process, whenever the tool sees that."""
    with Target("locks", newest(), args=[how, "rounds=0"]) as target:
        with Tool("golocks", "-j", target.path).tracing() as tool:
            target.go()
            target.wait_line("done")
            target.wait()
            over = time.monotonic_ns()
            time.sleep(1)
            records = tool.stop()
        [known] = waits_since(target.out.text()).values()
    check_ended(records, known, known["until"] - known["since"] - 5 * HOLD_NS, over)


@test()
def locks_killed():
    """... and each with its own."""
    with Target("locks", newest(), args=["rounds=0"]) as one:
        with Tool("golocks", "-j", one.path).tracing() as tool:
            others = [Target("locks", "", args=["rounds=0"], path=one.path) for _ in range(3)]
            over = {}
            for target in [one, *others]:
                target.go()
                target.wait_line("done")
            for target in [one, *others]:
                time.sleep(0.2)
                known = waits_since(target.out.text())[target.target_pid]
                late, until = delayed(target.target_pid), time.monotonic_ns()
                os.kill(target.target_pid, signal.SIGKILL)
                target.wait()
                over[target.target_pid] = (dict(known, until=until), late, time.monotonic_ns())
            records = tool.stop()
    for ended in over.values():
        check_ended(records, *ended)


@test()
def locks_intervals():
    """Each wait is in one interval, the one that it ended in."""
    with Target("locks", newest(), args=["rounds=40"]) as target:
        with Tool("golocks", "-j", "-T", "-i", "0.2", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("done")
            records = tool.stop()
        target.go()
        target.wait()
    for record in records:
        check_sums(record)
    gets = [sums(r["waiters"], None, "waits").get("main.(*store).get", 0) for r in records]
    expect(sum(gets) == 80 and len([n for n in gets if n]) > 2, f"{gets}")
    expect(all("time" in r for r in records), f"{records[0]}")


@test()
def locks_refused():
    with Target("locks", newest()) as one, Target("hello", newest()) as two:
        for args, why in (([one.path, two.path], "one program at a time"),
                          (["-n", "0", one.path], "not a number of locks"),
                          (["-s", "65", one.path], "not a number of stack frames"),
                          (["-s", "64", "-n", "1", "/nonexistent"], "No such file"),
                          ([fixture("calls", "gccgo")], "is built by gccgo")):
            done = run([tool_path("golocks"), "-d", "1", *args])
            expect(done.returncode != 0 and why in done.stderr, f"{done}")


BUSY = ["busy", "rounds=0"]


def small(target, room, *args):
    return Tool("golocks", "-j", *args, "-p", target.target_pid, env=dict(os.environ, GOTOOLS_ROOM=str(room)))


def said(tool, what):
    found = re.search(rf"^golocks: (\d+) {what}", tool.err.text(), re.M)
    return int(found[1]) if found else 0


def beside(room, between, args):
    """[sums of waits and of what was got without one, of a tool, records, the tool], beside one that has room for all"""
    with Target("locks", newest(), args=args) as target:
        with Tool("golocks", "-j", "-p", target.target_pid).tracing() as all_, small(target, room).tracing() as tool:
            between(tool, signal.SIGSTOP)
            target.go()
            target.wait_line("done")
            between(tool, signal.SIGCONT)
            found = [(records, one) for one in (all_, tool) for records in [one.stop()]]
        target.go()
        target.wait()
    return [({"waits": sum(r["waits"] for r in records), "other": sum(r["spins"] + r["found_free"] for r in records)},
             records, one) for records, one in found]


@test()
def locks_lost():
    """What the ring buffer has no room for is counted, and whose time it was is not known then."""
    (full, _, _), (some, records, tool) = beside(16, lambda tool, number: tool.signal(number), BUSY)
    lost = {"waits": said(tool, "waits were lost: the ring"), "other": said(tool, "locks got without a wait were lost: the ring")}
    expect(all(lost.values()) and said(tool, "events of who waits or unlocks were lost"), tool.said())
    expect(full == {key: some[key] + lost[key] for key in full}, f"{full}, {some} and lost {lost}")
    for record in records:
        expect(sum(r["ns"] for r in record["holders"]) == record["total_ns"] and not record["waiting"], f"{record}")


@test()
def locks_full():
    """What maps have no room for is said."""
    (full, _, _), (some, records, tool) = beside(1, lambda tool, number: None, BUSY)
    reasons = ("more goroutines", "more locks", "the ring")
    lost = {key: sum(said(tool, f"{what} were lost: {why}") for why in reasons)
            for key, what in (("waits", "waits"), ("other", "locks got without a wait"))}
    expect(lost["other"] and said(tool, "stacks are not known"), tool.said())
    expect(len(records) == 1 and not said(tool, "waits? had begun before"), f"{records}: {tool.said()}")
    expect(full == {key: some[key] + lost[key] for key in full}, f"{full}, {some} and lost {lost}")


@test()
def locks_many():
    """... and of what, if it is locks that there are too many of."""
    _, (_, records, tool) = beside(4, lambda tool, number: None, ["rounds=3"])
    lost = {key: said(tool, f"{what} were lost: more locks") for key, what in
            (("waits", "waits"), ("other", "locks got without a wait"))}
    expect(len(records) == 4 and lost == {"waits": 11, "other": 3}, f"{lost}: {tool.said()}")


@test()
def locks_before():
    """Waits that began before the probes were there are no waits; that there were some is said."""
    with Target("locks", newest(), args=["rounds=0"]) as target:
        target.go()
        target.wait_line("done")
        with Tool("golocks", "-j", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait()
            records = tool.records()
    expect(said(tool, "waits? had begun before") == 1 and not records, f"{records}: {tool.said()}")


JOINS = "main.(*profile).joins"  # no lock


@test(version=versions)
def locks_profiled(version):
    """Of goroutines that race for locks those count that slept: no others are in Go's own profiles of every event. The
    block profile has one event for all sleeps of one attempt, up to when it is made runnable; a mutex may need several."""
    with Target("profiled", version) as target:
        with Tool("golocks", "-j", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("done")
            late = delayed(target.target_pid)
            records = tool.stop()
        target.go()
        target.wait()
        lines = json_lines(target.out.text())
    truth = {line["func"]: line for line in lines if "func" in line}
    found = {name: {"waits": 0, "sleeps": 0, "total_ns": 0} for name in truth}
    for record in records:
        check_sums(record)
        for row in record["waiters"]:
            for key in found[first(row)]:
                found[first(row)][key] += row[key]
    expect(truth.pop(JOINS)["blocks"] and not found.pop(JOINS)["waits"], f"{records}")
    for name, known in truth.items():
        mine = found[name]
        expect(mine["waits"] <= known["blocks"] <= mine["sleeps"], f"{name}: {mine}, {known}")
        expect(known["slept"] - PROBE_NS * known["blocks"] - late <= mine["total_ns"] <= known["waited"],
               f"{name}: {mine}, {known}, {late} ns late")
    reads = "main.(*profile).reads"
    expect(found[reads]["waits"] == truth[reads]["blocks"], f"{found}, {truth}")
    [wakeups] = [line["wakeups"] for line in lines if "wakeups" in line]
    expect(sum(mine["sleeps"] for mine in found.values()) == wakeups, f"{found}, {wakeups} wakeups")

# SPDX-License-Identifier: Apache-2.0
"""What hits cost is told, and limited by --max-cost."""

import json
import os
import re
import resource
import signal

from harness import Target, Tool, compare_counts, compare_latency, expect, newest, run, test, tool_path

TOLD = re.compile(r"^\w+: (\d+) hits \((\d+) a second\) of ([\d.]+) us each: ([\d.]+)% of a processor$", re.M)
STOPPED = re.compile(r"^(\w+): stopped: probes took more than (\d+)% of a processor \(--max-cost\): (.+)\n"
                     r"hint: trace fewer functions; gofunccount -d 1 counts their calls for a second$", re.M)
COUNT = re.compile(r"^(main\.\S+) +(\d+)$", re.M)
PROBES = {"gofunccount": ["main.*"], "gofunclatency": ["main.*"], "gorunqlat": [],
          "gotrace": ["main.check (false)", "r:main.fib (n == 100)"]}


def told(text):
    """(hits, us of a hit, percent of a processor)"""
    line = TOLD.search(text)
    expect(line, f"no cost is told: {text}")
    return int(line[1]), float(line[3]), float(line[4])


def hits_told(tool, *how):
    """Traces main.add, which is called a known number of times: hits that are told, and that there are"""
    calls = 20_000
    with Target("traced", newest(), args=[f"hot={calls}"]) as target:
        probe = ":main.add (false)" if tool == "gotrace" else ":main.add"
        with Tool(tool, *how, "-p", target.target_pid, probe) as tracer:
            tracer.wait_line("PID " if tool == "gotrace" else "Tracing ")
            target.go()
            target.truth()
            expect(tracer.wait() == 0, tracer.said())
            hits, us, percent = told(tracer.err.text())
    expect(0.05 < us < 2000 and percent > 0, f"{us} us, {percent}%")
    times = 2 if tool == "gofunclatency" else 1
    return hits, times * (calls + 1)  # main.add is called once beside


def exact(hits, true):
    expect(true <= hits <= true + 20, f"{hits} hits, {true} in truth")  # runtime.Goexit and the like are hooks


@test(tool=["gofunccount", "gofunclatency", "gotrace"], how=["-v", "--max-cost=100000"])
def cost_told(tool, how):
    """Every hit once, those of calls that a predicate rejects too"""
    exact(*hits_told(tool, how))


@test()
def cost_told_of_stepped():
    """... and where the kernel is to execute returns"""
    exact(*hits_told("gofunclatency", "--max-cost=100000", "--no-emulate"))


@test(tool=["gofunccount", "gofunclatency", "gotrace"])
def cost_asked_for(tool):
    """--cost: the price of a hit before, and at the end what was spent and by whom, without the BPF program."""
    with Target("traced", newest()) as one:
        done = run([tool_path(tool), "--cost", "main.add", "--", one.path, "now", "hot=1000"])
    expect(done.returncode == 0 and "#define" not in done.stdout + done.stderr, done.stderr)
    price = re.search(rf"^{tool}: a hit costs (\d+\.\d) us here, or (\d+\.\d) us where the kernel single-steps the instruction\n"
                      r"Breakpoints take \d+ KiB of memory", done.stderr, re.M)
    expect(price and 0 < float(price[1]) <= float(price[2]), done.stderr)
    hits, _, _ = told(done.stderr)
    expect(hits >= 1000 and done.stderr.endswith(f"{tool}: most of that by main.add (100%)\n"), done.stderr)


@test()
def cost_is_what_it_costs():
    """... by the processor time that the target takes more"""
    def used(*args):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run([tool_path("gofunclatency"), "--max-cost", "100000", *args])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        expect(done.returncode == 0, f"{done}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr
    with Target("traced", newest()) as one:
        run_it = ["--", one.path, "now"]
        few, _ = used(one.path + ":main.add", *run_it, "hot=100")
        many, said = used(one.path + ":main.add", *run_it, "hot=100100")
    hits, us, _ = told(said)
    true = (many - few) * 1e6 / hits
    expect(0.4 < us / true < 2.5, f"{us} us a hit, in truth {true:.2f}")


@test()
def cost_of_returns():
    """... where an entry costs little, as the kernel emulates its instruction, and a return much"""
    calls = 20_000
    with Target("priced", newest()) as target:
        def price(line):
            target.say(str(calls))
            return float(target.wait_line(f"took {line} ").split()[2]) / 1e3
        alone = price(1)
        with Tool("gofunclatency", "--max-cost", "100000", "-p", target.target_pid, "main.checked") as tool:
            tool.tracing()
            true = price(2) - alone
            tool.signal(signal.SIGINT)
            tool.wait()
            _, us, _ = told(tool.err.text())
    expect(0.4 < 2 * us / true < 2.5, f"{2 * us} us a call, in truth {true:.2f}")


@test(word=["", "-"])
def cost_of_entries(word):
    """... whether the kernel emulates the instruction at an entry or single-steps it"""
    calls, name = 20_000, "main.leaf" if word else "main.checked"
    with Target("priced", newest()) as target:
        kinds = run([tool_path("gofuncs"), "-j", f"{target.path}:{name}"]).stdout
        expect(json.loads(kinds)["functions"][0]["entry"]["emulated"] == (not word), kinds)

        def price(line):
            target.say(word + str(calls))
            return float(target.wait_line(f"took {line} ").split()[2]) / 1e3
        alone = price(1)
        with Tool("gofunccount", "-v", "-p", target.target_pid, name) as tool:
            tool.tracing()
            true = price(2) - alone
            tool.signal(signal.SIGINT)
            tool.wait()
            _, us, _ = told(tool.err.text())
    expect(0.4 < us / true < 2.5, f"{us} us a hit, in truth {true:.2f}")


SHORT = re.compile(r"^about (\d+) ns of each call's time are its probes': the price of a hit here(, where the "
                   r"kernel single-steps the entry)?$", re.M)


@test(word=["", "-"])
def cost_in_latency(word):
    """A function of 1 ns: what is measured is its probes' time, which is said, as text and in JSON."""
    name = "main.leaf" if word else "main.checked"
    said = []
    for options in ["-j"], []:
        with Target("priced", newest()) as target:
            with Tool("gofunclatency", *options, "-p", target.target_pid, name) as tool:
                tool.tracing()
                target.say(word + "20000")
                target.wait_line("took 1 ")
                tool.signal(signal.SIGINT)
                expect(tool.wait() == 0, tool.said())
                said.append(tool.out.text())
    record = next(r for r in map(json.loads, said[0].splitlines()) if r["type"] == "latency")
    expect(0.4 < record["probe_ns"] / record["p50"] < 1.7, f"{record}")
    line = SHORT.search(said[1])
    expect(line and bool(line[2]) == bool(word), said[1])
    expect(0.3 < int(line[1]) / record["probe_ns"] < 3, f"{line[0]}, {record}")


@test()
def cost_in_latency_small():
    """... Of one that sleeps it is not worth a line."""
    with Target("traced", newest()) as target:
        with Tool("gofunclatency", "-p", target.target_pid, ":main.slowly") as tool:
            tool.tracing()
            target.go()
            target.truth()
            expect(tool.wait() == 0 and "probes" not in tool.out.text(), tool.said())


@test(tool=list(PROBES))
def cost_limited(tool):
    """Ends by itself, shows what it has, names what took it; and all was counted to one instant."""
    threads = 2
    with Target("steady", newest(), args=[f"threads={threads}"]) as target:
        with Tool(tool, "--max-cost", "3", "-p", target.target_pid, *PROBES[tool]) as tracer:
            expect(tracer.wait() == 1, tracer.said())
            out, err = tracer.out.text(), tracer.err.text()
        told(err)
        stopped = STOPPED.search(err)
        expect(stopped and stopped[1] == tool and stopped[2] == "3", f"not stopped: {err}")
        most = {"gorunqlat": r"runtime\.casgstatus \(100%\)", "gotrace": r"main\.fib \((9\d|100)%\)"}.get(
            tool, r"main\.(fib|descend) \(\d+%\)")
        expect(re.match(most, stopped[3]), stopped[3])
        if tool == "gofunccount":
            counts = {name: int(n) for name, n in COUNT.findall(out)}
            expect(sum(counts.values()) > 100, out)
            expect(abs(counts.get("main.throws", 0) - counts.get("main.throwsBelow", 0)) <= threads, out)
        target.works(0.2)
        target.go()
        expect(target.wait() == 0, target.said())


@test()
def cost_limited_by_the_kernel_side():
    """The tool gets no processor: the limit holds all the same."""
    with Target("steady", newest()) as target:
        with Tool("gofunccount", "--max-cost", "10", "-p", target.target_pid, "main.*") as tracer:
            tracer.tracing()
            tracer.signal(signal.SIGSTOP)
            target.works(3)
            tracer.signal(signal.SIGCONT)
            expect(tracer.wait() == 1, tracer.said())
            err, out = tracer.err.text(), tracer.out.text()
        hits, us, _ = told(err)
        handled = sum(int(n) for _, n in COUNT.findall(out))
        expect(STOPPED.search(err) and handled * us < 0.2e6 < hits * us, f"{handled} of {hits} hits: {err}")


HOT = re.compile(r"^(\w+): (\d+) hits a second of ([\d.]+) us each take some (\d+)% of a processor", re.M)


def prioritize(target, nice):
    """-5: beside other work it gets its processor all the same."""
    for thread in os.listdir(f"/proc/{target.target_pid}/task"):
        os.setpriority(os.PRIO_PROCESS, int(thread), nice)


@test(tool=["gofunccount", "gofunclatency", "gotrace"])
def cost_hinted(tool):
    """A hot function is told of, once, while it is traced, if nobody has asked what it costs."""
    probe = "main.fib (false)" if tool == "gotrace" else "main.fib"
    with Target("steady", newest()) as target:
        with Tool(tool, "-p", target.target_pid, probe) as tracer:
            tracer.wait_line("PID" if tool == "gotrace" else "Tracing ")
            prioritize(target, -5)
            tracer.wait_line("hint: ")
            prioritize(target, 0)
            tracer.signal(signal.SIGINT)
            tracer.wait()
            hot = HOT.findall(tracer.err.text())
        expect(len(hot) == 1 and hot[0][0] == tool and int(hot[0][3]) >= 25, tracer.said())
        expect("--max-cost" in tracer.err.text() and not TOLD.search(tracer.err.text()), tracer.said())
        for args in ["main.check"], ["--max-cost=100000", "main.fib"]:
            with Tool("gofunccount", "-d", "1.6", "-p", target.target_pid, *args) as tracer:
                expect(tracer.wait() == 0 and not HOT.search(tracer.err.text()), tracer.said())


@test(tool=["gofunccount", "gofunclatency"], version=lambda: ["1.15", newest()])
def cost_within(tool, version):
    """A limit that is not passed changes nothing."""
    with Target("calls", version) as target:
        with Tool(tool, "-j", *(["-F"] if tool == "gofunclatency" else []), "--max-cost", "100000",
                  "-p", target.target_pid, ":main.*") as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            (compare_counts if tool == "gofunccount" else compare_latency)(truth, tracer.records())


@test()
def cost_of_recipes():
    """They have a limit, and tell nothing while it holds."""
    shown = run([tool_path("gofuncslower"), "--show", "-p", "1", "main.*"]).stdout
    expect(" --max-cost 50 " in shown, shown)
    with Target("steady", newest()) as target:
        with Tool("gofuncslower", "--max-cost=1", "-m", "10s", "-p", target.target_pid, "main.*") as tracer:
            expect(tracer.wait() == 1, tracer.said())
            stopped = STOPPED.search(tracer.err.text())
            expect(stopped and stopped[1] == "gotrace" and stopped[2] == "1", tracer.err.text())
        with Tool("gofuncslower", "-m", "10s", "-d", "0.3", "-p", target.target_pid, "main.check") as tracer:
            expect(tracer.wait() == 0 and not TOLD.search(tracer.err.text()), tracer.said())

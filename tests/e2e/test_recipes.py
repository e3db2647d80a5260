# SPDX-License-Identifier: Apache-2.0
"""The recipes on a program, stripped, that does what they show, and tells it."""

import collections
import contextlib
import itertools
import json
import os
import re

from harness import Target, Tool, expect, test, versions

from gotrace import Tracer
from test_metrics import Metered

RECIPES = {  # name: arguments behind -p PID
    "gohttpsnoop": [],
    "godialsnoop": [],
    "gocreators": [],
    "gopanics": [],
    "goshortreads": ["-na"],
    "goopens": [],
    "goerrors": ["main.(*Goods).*", "main.(*Till).*"],
    "gofuncslower": ["-m", "20", "main.(*Oven).Bake"],
}


class Recipe(Tracer):
    """gotrace, started by a recipe"""

    def __init__(self, name, *args):
        Tool.__init__(self, name, *args)  # pylint: disable=non-parent-init-called


def recipe_versions():
    every = versions()
    return every if len(every) > 5 else ["1.19", every[-1]]


def new_versions():
    return recipe_versions() if len(versions()) > 5 else versions()[-1:]


def root_versions():
    """Those with os.Root"""
    return [version for version in new_versions() if int(version.split(".")[1]) >= 24]


def rows(text, count):
    """Lines with a PID, in `count` columns"""
    return [line.split(None, count - 1) for line in text.splitlines() if re.match(r"\d+ ", line)]


def at_once(recipe, target, *ways):
    """What each of the ways to start it prints of what the target does to its end, and what the first one says"""
    with contextlib.ExitStack() as stack:
        tools = [stack.enter_context(Recipe(recipe, *way, "-p", target.target_pid)) for way in ways]
        for tool in tools:
            tool.attached()
        target.go()
        texts = [tool.rest() for tool in tools]
        expect(target.wait() == 0, f"the target failed: {target.said()}")
        return texts, tools[0].err.text()


def three_ways(recipe, target, threshold, objects="-j"):
    """What -x and -m THRESHOLD print of what the target does, and the JSON objects"""
    pid = target.target_pid
    with Recipe(recipe, "-x", "-p", pid) as failed, Recipe(recipe, "-m", threshold, "-p", pid) as slow, \
            Recipe(recipe, objects, "-p", pid) as calls:
        for tool in failed, slow:
            tool.attached()
        calls.wait_line("Tracing")
        target.go()
        texts = failed.rest(), slow.rest(), calls.rest()
        expect(target.wait() == 0, f"the target failed: {target.said()}")
    return texts[0], texts[1], [json.loads(line) for line in texts[2].splitlines()]


def same(recipe, got, true):
    got, true = collections.Counter(got), collections.Counter(true)
    expect(got == true, f"{recipe}: too many: {list((got - true).items())}, missing: "
           f"{list((true - got).items())}")


def in_time(recipe, shown, told):
    """A latency in ms, of what took `told` ns in its caller's eyes"""
    expect(float(shown) <= told / 1e6 + 0.001, f"{recipe}: {shown} ms, {told} ns in truth")


def unread(text):
    """Two levels deep in an error an address is not read"""
    return re.sub(r"^dial (\w+) \S+:", r"dial \1 ...:", text)


def check_http(text, truth):
    got = rows(text, 6)
    expect(len(got) == len(truth), f"{len(got)} requests, not {len(truth)}: {text}")
    for (_, goid, method, status, took, rest), told in zip(got, truth):
        expect(goid == "1", f"goroutine {goid}")
        words = told["text"].split(None, 3)
        url = rest
        if words[2] == "failed":
            expect(status == "-", f"status {status} of {told}")
            url, _, why = rest.partition(": ")
            expect(why == unread(words[3]), f"{why}, in truth {words[3]}")
        else:
            expect(status == words[2], f"status {status} of {told}")
        expect([method, url] == words[:2], f"{method} {url}, in truth {words}")
        in_time("gohttpsnoop", took, told["ns"])
    slow = next(row for row in got if row[3] == "503")
    expect(float(slow[4]) >= 30, f"the server took 30 ms: {slow}")


def check_dials(text, truth):
    got = [row for row in rows(text, 5) if row[1] == "1"]  # others are the HTTP client's
    expect(len(got) == len(truth), f"{len(got)} dials, not {len(truth)}: {text}")
    for (_, _, network, took, rest), told in zip(got, truth):
        true_network, address, why = told["text"].split(None, 2)
        true = address if why == "-" else f"{address}: {unread(why)}"
        expect((network, rest) == (true_network, true), f"{network} {rest}, in truth {told}")
        if why != "-":
            in_time("godialsnoop", took, told["ns"])


def check_creators(text, truth):
    for told in truth:
        name, count = told["text"].split()
        found = [block for block in text.split("\n\n") if re.search(rf"^ +{re.escape(name)} \+", block, re.M)]
        expect(len(found) == 1, f"{len(found)} stacks with {name}: {text}")
        after = text[text.index(found[0]) + len(found[0]):].split()
        expect(after[:2] == ["-->COUNT", count], f"{name}: {after[:2]}, not {count}")


PANICS = {  # as it is told: as it is printed
    "out of coffee": r'"out of coffee"',
    "no such cup": r'\*errors\.errorString\("no such cup"\)',
    "assignment to entry in nil map": r'runtime\.plainError\("assignment to entry in nil map"\)',
    "custom": r'&main\.kindError\{Kind:"custom"\}',
    "runtime error: index out of range [4] with length 1":
        r'runtime\.boundsError\("runtime error: index out of range \[4\] with length 1"\)',
}


def check_panics(text, truth):
    got = [block.splitlines() for block in text.split("\n\n") if " panic +0x" in block]
    expect(len(got) == len(truth), f"{len(got)} panics, not {len(truth)}: {text}")
    for block, told in zip(got, truth):
        line = next(i for i, row in enumerate(block) if row[0].isdigit())
        expect(re.fullmatch(PANICS[told["text"]], block[line].split(None, 2)[2]),
               f"{block[line]}, in truth {told}")
        stack = [row.split()[0] for row in block[line + 1:]]
        expect(stack[0].startswith("main.guarded.func1") and stack[1:4] == ["panic", "main.explode", "main.guarded"]
               and "runtime." not in "\n".join(stack), f"{told}: {stack}")


def check_reads(text, truth):
    got = [row for row in rows(text, 5) if ".txt" in row[4] or row[3] == "12345"]
    true = []
    for told in truth:
        who, n, _, asked, why = told["text"].split(None, 4)
        true.append(f"{n} of {asked} {who}" + ("" if why == "-" else f": {why}"))
    same("goshortreads", [f"{row[2]} of {row[3]} {row[4]}" for row in got], true)


def open_flags(number):
    """Flags of open(2) in words"""
    access = ["O_RDONLY", "O_WRONLY", "O_RDWR"][number & os.O_ACCMODE]
    names = ["O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND", "O_CLOEXEC"]
    return "|".join([access] + [name for name in names if number & getattr(os, name)])


def opened(text):
    """What the program tells of an open: descriptor, flags in words, permission, path"""
    fd, flags, rest = text.split(None, 2)
    return " ".join([fd, open_flags(int(flags, 8)), rest])


def check_opens(text, truth):
    """All that the process opens is what it tells of."""
    got = rows(text, 7)
    expect(len(got) == len(truth), f"{len(got)} files opened, not {len(truth)}: {text}")
    for (_, goid, fd, took, *rest), told in zip(got, truth):
        expect(goid == "1" and " ".join([fd, *rest]) == opened(told["text"]), f"{fd} {rest}, in truth {told}")
        in_time("goopens", took, told["ns"])
    expect(len({row[2] for row in got}) > 2, f"no different descriptors: {text}")


def check_errors(text, truth):
    got = [line.split(None, 1) for line in text.splitlines()[1:] if line[:1].isdigit()]
    # what the Error method of a type of the program's own makes is not known: it is shown itself
    true = collections.Counter(re.sub(r": (till .*)", r': *main.kindError{Kind:"\1"}', t["text"])
                               for t in truth)
    same("goerrors", [f"{n} {text}" for n, text in got], [f"{n} {text}" for text, n in true.items()])
    functions = [row.split(": ")[0] for _, row in got]
    expect(len(list(itertools.groupby(functions))) == len(set(functions)) > 1, f"not by function: {text}")
    bought = sum(n for what, n in true.items() if what.startswith("main.(*Goods).Buy: "))
    expect(f"\n         main.(*Goods).Buy: {bought}, in " in text, f"no sum of {bought}: {text}")


def check_slow(text, truth):
    truth = [t for t in truth if t["ns"] >= 20_000_000]
    got = rows(text, 5)
    expect(len(got) == len(truth), f"{len(got)} slow calls, not {len(truth)}: {text}")
    for (_, _, took, func, args), told in zip(got, truth):
        what, ms = told["text"].split()
        expect(func == "main.(*Oven).Bake" and re.search(rf'"{what}" (ms=)?{ms}$', args), f"{args}: {told}")
        in_time("gofuncslower", took, told["ns"])
        expect(float(took) >= int(ms), f"{took} ms, it slept for {ms}")


CHECKS = {"gohttpsnoop": ("http", check_http), "godialsnoop": ("dial", check_dials),
          "gocreators": ("creator", check_creators), "gopanics": ("panic", check_panics),
          "goshortreads": ("read", check_reads), "goopens": ("open", check_opens), "goerrors": ("error", check_errors),
          "gofuncslower": ("slow", check_slow)}


@test(alone=True, version=recipe_versions)
def recipes(version):
    with Target("recipes", version, "strip") as target:
        tools = {name: Recipe(name, "-p", target.target_pid, *args)
                 for name, args in RECIPES.items()}
        try:
            for tool in tools.values():
                tool.attached()
            target.go()
            said = {name: tool.rest() for name, tool in tools.items()}
            noise = {name: tool.err.text() for name, tool in tools.items()}
        finally:
            for tool in tools.values():
                tool.__exit__()
        expect(target.wait() == 0, f"the target ended otherwise: {target.said()}")
        truth = [json.loads(line) for line in target.out.text().splitlines() if line[0] == "{"]
    for name, (kind, check) in CHECKS.items():
        expect("lost" not in noise[name], noise[name])
        check(said[name], [t for t in truth if t["recipe"] == kind])
    expect("main.(*Goods).Unwrap is left out: Unwrap and Cause return" in noise["goerrors"], noise["goerrors"])


EVENT = ["type", "time", "pid", "tid", "goid", "cpu", "comm", "func", "how", "message"]


def named(recipe, told):
    """What an object of a recipe says besides what all events do, of something that was told"""
    text = told["text"]
    if recipe == "gohttpsnoop":
        method, url, what = text.split(None, 2)
        if what.startswith("failed"):
            return {"method": method, "url": url, "error": unread(what.split(None, 1)[1])}
        return {"method": method, "status": int(what), "url": url}
    if recipe == "godialsnoop":
        network, address, why = text.split(None, 2)
        said = {"network": network, "address": address}
        return said if why == "-" else {**said, "error": unread(why)}
    if recipe == "goshortreads":
        name, got, _, asked, why = text.split(None, 4)
        said = {"got": int(got), "asked": int(asked), "file" if ".txt" in name else "peer": name}
        return said if why == "-" else {**said, "error": why}
    if recipe == "goopens":
        fd, flags, perm, path = text.split(None, 3)
        path, _, why = path.partition(": ")
        said = {"flags": int(flags, 8), "flags_text": open_flags(int(flags, 8)), "perm": int(perm, 8), "path": path}
        return {**said, "error": why} if fd == "-" else {**said, "fd": int(fd)}
    if recipe == "goerrors":
        func, why = text.split(": ", 1)
        return {"func": func, "error": re.sub("^(till .*)", r'*main.kindError{Kind:"\1"}', why)}
    what, ms = text.split()
    return {"args": [{"name": "goarg2", "value": what}, {"name": "goarg3 * 2", "value": 2 * int(ms)}]}


def said_by(recipe, line):
    """The same of what a recipe printed"""
    expect(list(line)[:len(EVENT) - 1] == EVENT[:-1] and "values" not in line, f"{recipe}: {line}")
    expect(line["how"] == "return" and line["latency_ns"] > 0, f"{recipe}: {line}")
    wanted = {} if recipe != "goerrors" else {"func": line["func"]}
    return {**wanted, **{key: value for key, value in line.items() if key not in EVENT + ["latency_ns"]}}


@test(version=new_versions)
def recipe_json(version):
    """JSON has a name for each value, and times in ns alone."""
    options = {**RECIPES, "gofuncslower": ["-m", "20", "-a", "goarg2", "-a", "goarg3 * 2",
                                           "main.(*Oven).Bake"]}
    with Target("recipes", version, "strip") as target:
        for recipe in ["gohttpsnoop", "godialsnoop", "goshortreads", "goopens", "goerrors",
                       "gofuncslower"]:
            with Recipe(recipe, "-j", *options[recipe], "--", target.path, "now") as tool:
                lines = [json.loads(line) for line in tool.rest().splitlines() if line[:1] == "{"]
            calls = [line for line in lines if line.get("type") == "call"]
            truth = [line for line in lines if line.get("recipe") == CHECKS[recipe][0]]
            if recipe == "godialsnoop":
                calls = [call for call in calls if call["goid"] == 1]
            if recipe == "goshortreads":  # others are the HTTP client's
                calls = [call for call in calls
                         if ".txt" in call.get("file", "") or call["asked"] == 12345]
            if recipe == "goopens":  # the first are of before it tells
                calls = calls[-len(truth):]
            if recipe == "gofuncslower":
                truth = [told for told in truth if told["ns"] >= 20_000_000]
            expect(truth, f"{recipe}: nothing was told")
            same(recipe, [json.dumps(said_by(recipe, call), sort_keys=True) for call in calls],
                 [json.dumps(named(recipe, told), sort_keys=True) for told in truth])


FATAL = {"panic": ("1", '"panic"', "main.crash"), "other": (r"\d+", '"other"', "main.other"),
         "nil": ("1", '"runtime error: invalid memory address or nil pointer dereference"', "main.second")}


@test(how=list(FATAL), version=["1.15", "1.24", "1.27"])
def recipe_fatal_panics(how, version):
    """The panic that ends a program, with its stack"""
    goid, value, func = FATAL[how]
    with Target("crashes", version, "strip", args=[how]) as target:
        with Recipe("gopanics", "-p", target.target_pid) as tool:
            tool.attached()
            target.go()
            text = tool.rest()
        target.wait()
    blocks = [block for block in text.split("\n\n") if "fatal: " in block]
    expect(len(blocks) == 1 and text.count("fatal") == 1, f"not one panic: {text}")
    expect(re.search(rf"^\d+ +{goid} +fatal: {re.escape(value)}\n +panic \+.*\n +{re.escape(func)} ", blocks[0], re.M)
           and " runtime." not in text, text)


@test(version=new_versions)
def recipe_json_with_stacks(version):
    """Of those that print a stack"""
    with Target("recipes", version, "strip") as target:
        for recipe, key in [("gopanics", "value"), ("gocreators", "starts")]:
            with Recipe(recipe, "-j", "--", target.path, "now") as tool:
                lines = [json.loads(line) for line in tool.rest().splitlines() if line[:1] == "{"]
            calls = [line for line in lines if line.get("type") == "call"]
            told = [line["text"] for line in lines if line.get("recipe") == CHECKS[recipe][0]]
            expect(told and all("stack" in call and "values" not in call for call in calls), calls)
            if recipe == "gopanics":
                shown = [call[key] for call in calls]
                true = ['&main.kindError{Kind:"custom"}' if t == "custom" else t for t in told]
                expect(shown == true, f"{shown}, in truth {true}")
                continue
            for text in told:
                name, count = text.split()
                got = [c for c in calls if any(f["func"] == name for f in c["stack"])]
                expect(len(got) == int(count) and all(c[key].startswith(name) for c in got),
                       f"{text}: {got}")


@test(version=new_versions)
def recipe_of_command(version):
    """Of a program that is started; and JSON."""
    with Target("recipes", version, "strip") as target:
        with Recipe("gohttpsnoop", "-xj", "--", target.path, "now") as recipe:
            lines = [json.loads(line) for line in recipe.rest().splitlines() if line.startswith("{")]
    calls = [line for line in lines if line.get("type") == "call"]
    truth = [line["text"].split() for line in lines if line.get("recipe") == "http"]
    bad = [t for t in truth if t[2] == "failed" or int(t[2]) >= 400]
    expect(len(calls) == len(bad) > 0, f"{calls}, in truth {bad}")
    for call, told in zip(calls, bad):
        expect(told[0] == call["method"] and call["how"] == "return", f"{call}, in truth {told}")


@test(version=lambda: [v for v in versions() if int(v.split(".")[1]) < 18])
def creators_plain(version):
    """With debug information, where the size of the arguments comes first (up to Go 1.17)"""
    with Target("recipes", version, "plain") as target:
        with Recipe("gocreators", "-p", target.target_pid) as recipe:
            recipe.attached()
            target.go()
            said = recipe.rest()
            expect(target.wait() == 0, f"the target ended otherwise: {target.said()}")
        truth = [json.loads(line) for line in target.out.text().splitlines() if line[0] == "{"]
    check_creators(said, [t for t in truth if t["recipe"] == "creator"])
    started = [block.split("\n")[0] for block in said.partition("\n")[2].split("\n\n") if block.strip() and "-->" not in block]
    # a pointer would be "0x..."
    expect(started and all(re.match(r"[a-z][\w/]*\.[\w(]\S*$", name) for name in started), f"{started}")


@test(version=new_versions)
def errors_unwrapped(version):
    """Who asks for Unwrap by its name gets it, of each type that has it."""
    with Target("recipes", version, "strip") as target:
        with Recipe("goerrors", "*.Unwrap", "--", target.path, "now") as recipe:
            said = recipe.rest()
    expect(re.search(r"^8 +main\.\(\*Goods\)\.Unwrap: the shop is closed$", said, re.M), said)


# of chained: 80 keys, of which every fifth is of a closed store; each is tried thrice; odd ones by Other
CHAINED = """\
         main.(*store).Get: 240, in 2 lines:
48       main.(*store).Get: the store is closed
         passed on by main.(*store).Retry (16)
         passed on by main.(*server).Serve (16)
192      main.(*store).Get: code 404: key N not found
         passed on by main.(*store).Retry (64)
         passed on by main.(*server).Serve (64)
"""


@test(version=recipe_versions)
def errors_passed_on(version):
    """An error is counted where it came from, with others that differ by a number, whoever passes it on."""
    with Target("chained", version, "strip") as target:
        with Recipe("goerrors", "-p", target.target_pid, "main.(*st*", "main.(*se*") as folded, \
                Recipe("goerrors", "-n1", "-p", target.target_pid, "main.(*st*", "main.(*se*") as top, \
                Recipe("goerrors", "-N", "-p", target.target_pid, "main.(*store).Get") as apart:
            for recipe in folded, top, apart:
                recipe.attached()
            target.go()
            said, most, numbers = folded.rest(), top.rest(), apart.rest()
            expect(target.wait() == 0, f"the target ended otherwise: {target.said()}")
    rows = "40       main.(*server).Other: another error\n" + CHAINED
    expect(said == f"COUNT    FUNC: ERROR\n{rows}", said)
    rows = CHAINED.splitlines(True)
    expect(most == "COUNT    FUNC: ERROR\n" + "".join(rows[:1] + rows[4:]), most)
    expect("2 less frequent lines, of 88 calls, are not printed (--top 1)" in top.err.text(), top.err.text())
    expect(re.findall(r"^3 +main\.\(\*store\)\.Get: code 404: key (\d+) not", numbers, re.M)
           and len(numbers.splitlines()) == 2 + 1 + 64, numbers)


@test(version=new_versions)
def errors_of_all(version):
    """Without a PATTERN: of all functions, runtime's too"""
    with Target("chained", version, "strip") as target:
        with Recipe("goerrors", "-n", "3", "-p", target.target_pid) as recipe:
            recipe.attached()
            target.go()
            said = recipe.rest()
            expect(target.wait() == 0, f"the target ended otherwise: {target.said()}")
    expect(re.search(r"^192 +main\.\(\*store\)\.Get: code 404: key N not found$", said, re.M), said)
    expect('for "*"' in recipe.err.text(), recipe.err.text())

@test(version=root_versions)
def recipe_opens_below(version):
    """os.Root opens by another function, and what is counted has its path."""
    with Target("below", version, "strip") as target:
        with Recipe("goopens", "-p", target.target_pid) as each, \
                Recipe("goopens", "-A", "-p", target.target_pid) as counted:
            each.attached()
            counted.attached()
            target.go()
            lines, counts = rows(each.rest(), 7), counted.rest()
            expect(target.wait() == 0, f"the target ended otherwise: {target.said()}")
        told = [line.split(" ", 2)[1:] for line in target.out.text().splitlines() if line[:6] == "opened"]
        same("goopens", [f"{row[2]} {row[6]}" for row in lines], [" ".join(words) for words in told])
        same("goopens -A", counts.splitlines()[1:], [f"1        {words[1]}" for words in told])


@test(version=new_versions)
def results_of_jumps(version):
    """A promoted method of the standard library's jumps to the embedded type's, and has its results."""
    with Target("recipes", version, "strip") as target:
        with Tracer("-p", target.target_pid, 'r::net.(*TCPConn).Read "%v %v", goret1, $err',
                    'r::net.(*TCPConn).Read (goret1 > 12345) "never"') as tracer:
            tracer.attached()
            target.go()
            out = tracer.rest()
            expect(target.wait() == 0, f"the target ended otherwise: {target.said()}")
        lines = [line for line in out.splitlines() if "TCPConn" in line]
        expect(lines, f"no calls: {out}")
        told = re.search(r" (\d+) of 12345 -", target.out.text())
        expect(all(re.search(r"\.Read +\d+ \S", line) for line in lines), out)
        expect(any(line.split()[-2:] == [told[1], "nil"] for line in lines), f"{told}: {out}")
        expect("never" not in out and "without the results" not in tracer.err.text(), tracer.said())


@test(version=["1.15", "1.27"])
def recipe_slower_ends(version):
    """Which calls had no return, by how they ended and by function; what the fixture has counted."""
    funcs = ["main.plainCall", "main.throwsAlways", "main.leavesByGoexit"]
    with Metered(version) as target, Recipe("gofuncslower", "-m", "9s", "-p", target.target_pid, *funcs) as slower:
        slower.attached()
        truth = target.does("work 20")
        slower.signal(2)
        slower.rest()
    for func, key, how in ((funcs[1], "panicked", "ended by a panic"), (funcs[2], "exited", "ended by runtime.Goexit")):
        line = (f"gotrace: {truth[func][key]} calls not printed: {how}, so without the results that the predicate needs: "
                f"{truth[func][key]} of {func}\n")
        expect(truth[func][key] == 20 and line in slower.err.text(), f"no {line!r} in {slower.err.text()}")
    expect(slower.err.text().count("not printed") == 2, slower.err.text())


@test(version=recipe_versions)
def recipe_short_reads(version):
    """The one that is a mistake is not among those of functions that read to the end."""
    with Target("wholly", version, "strip") as target:
        with Recipe("goshortreads", "-p", target.target_pid) as short, \
                Recipe("goshortreads", "-a", "-p", target.target_pid) as every, \
                Recipe("goshortreads", "-j", "-M", "1", "-p", target.target_pid) as first:
            for recipe in short, every, first:
                recipe.attached()
            target.go()
            got, all_, objects = rows(short.rest(), 5), rows(every.rest(), 5), first.rest()
            expect(target.wait() == 0, f"the target ended otherwise: {target.said()}")
        told = [line.split()[1:] for line in target.out.text().splitlines() if line[:6] == "short "]
    expect([row[2:4] for row in got] == told and len(told) == 1, f"{got}, in truth {told}")
    expect(len([row for row in all_ if row[2] != "0"]) > 170, f"{len(all_)} reads with -a")
    lines = [json.loads(line) for line in objects.splitlines()]
    expect([[str(line["got"]), str(line["asked"])] for line in lines] == told and "stack" not in lines[0], f"{lines}")


@test(version=recipe_versions)
def recipe_slower_names(version):
    """Functions without the path of their package, unless asked for; pointers with their types, or followed. A number
    in front of the pattern is the threshold."""
    serve = "net/http.serverHandler.ServeHTTP"
    with Target("recipes", version, "strip") as target:
        pid = target.target_pid
        with Recipe("gofuncslower", "0", "-p", pid, serve) as short, \
                Recipe("gofuncslower", "--full-names", "-p", pid, "0us", serve) as full, \
                Recipe("gofuncslower", "-j", "-u", "0", "-p", pid, serve) as objects, \
                Recipe("gofuncslower", "9s", "-p", pid, serve) as none:
            for recipe in short, full, none:
                recipe.attached()
            objects.wait_line("Tracing")
            target.go()
            texts = [recipe.rest() for recipe in (short, full, objects, none)]
        expect(target.wait() == 0, f"the target failed: {target.said()}")
    calls = rows(texts[0], 5)
    expect(calls and {row[3] for row in calls} == {"http.serverHandler.ServeHTTP"}, texts[0])
    expect({row[3] for row in rows(texts[1], 5)} == {serve} and not rows(texts[3], 5), f"{texts}")
    expect({json.loads(line)["func"] for line in texts[2].splitlines()} == {serve}, texts[2])
    for *_, args in calls:
        expect(re.search(r"[ =]\(\*http\.response\)\(0x\w+\) (req=)?&http\.Request\{Method:\"", args), args)

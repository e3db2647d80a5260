# SPDX-License-Identifier: Apache-2.0
"""goargdist: counts by value and histograms, against what the fixture itself has counted."""

import collections
import json
import os
import re

from harness import Target, Tool, expect, json_lines, newest, run, test, tool_path

# how the fixture calls it: the mode, the PROBE, and the SIGNATURE, which stripped programs lack
PROBES = {
    "string": ("main.takeString{} s", "(s string)"),
    "int": ("main.takeInt{} n", "(n int)"),
    "small": ("main.takeSmall{} n, u, loud", "(n int8, u uint16, loud bool)"),
    "key": ("main.takeKey{} k", "(k main.Key)"),
    "pointer": ("main.takePointer{} k.Name, k.N, len(b)", "(k *main.Key, b []byte)"),
    "point": ("main.takePoint{} p.X", "(p *main.Point)"),
    "slice": ("main.takeSlice{} list", "(list []string)"),
    "any": ("main.takeAny{} v", "(v any)"),
    "error": ("r:main.put{} $err, goret1", "(s string, n int) (int, error)"),
    "returned": ("r:main.fail{}", "(n int) int"),
}


def probes_of(flavour, names=tuple(PROBES)):
    return {PROBES[name][0].format(PROBES[name][1] if flavour == "strip" else ""): name for name in names}


def measure(version, flavour, *args, words=(), room=None):
    """What the target tells, and the tool, which has ended"""
    env = dict(os.environ, GOTOOLS_ROOM=str(room)) if room else None
    with Target("dist", version, flavour, args=words) as target:
        with Tool("goargdist", "-p", target.target_pid, *args, env=env) as tool:
            tool.tracing()
            target.go()
            expect(target.wait() == 0, target.said())
            expect(tool.wait() == 0, tool.said())
            lines = target.out.text().splitlines()
            return [json.loads(line) for line in lines if line.startswith("{")], tool


def modes(probes, letter="-C"):
    return [word for probe in probes for word in (letter, probe)]


def true_counts(truth, name):
    return {json.dumps(row["values"]): row["count"] for row in truth if row["probe"] == name}


def counts(records):
    return {json.dumps(list(row["values"].values())): row["count"] for row in records}


def check(truth, records, probes):
    for probe, name in probes.items():
        of_probe = [r for r in records if r.get("probe", probe) == probe]
        got, want = counts(of_probe), true_counts(truth, name)
        expect(want and len(got) == len(of_probe) and got == want,
               f"{name}: {sorted(set(got.items()) ^ set(want.items()))[:6]}")


@test(version=["1.15", "1.19", "1.24", "1.27"], flavour=["plain", "strip"])
def argdist(version, flavour):
    """Each value as often as eight goroutines have given it at once; keys in the order of the contract"""
    probes = probes_of(flavour)
    truth, tool = measure(version, flavour, "-j", *modes(probes))
    records = json_lines(tool.out.text())
    check(truth, records, probes)
    expect(all(list(r) == ["type", "values", "count", "probe"] and r["type"] == "argdist" for r in records),
           f"{records[:2]}")
    panicked = sum(row["count"] for row in truth if row["probe"] == "panicked")
    expect(f"goargdist: {panicked} calls not counted: ended by a panic, so without results: "
           f"{panicked} of main.fail" in tool.err.text(), tool.err.text())


@test(name=["string", "key", "pointer", "slice", "any", "error"])
def argdist_keys(name, version="1.27"):
    """Equal values are one key in the kernel, wherever their text is in memory: there are no more keys than
    values."""
    probes = probes_of("plain", [name])
    truth, tool = measure(version, "plain", "-j", *modes(probes), room=24)
    records = json_lines(tool.out.text())
    check(truth, records, probes)
    expect(all(list(r) == ["type", "values", "count"] for r in records), f"{records[:2]}")
    expect("not counted" not in tool.err.text(), tool.err.text())


@test()
def argdist_full():
    """More values than the map has room for: what is counted and what is not are all calls."""
    _, tool = measure(newest(), "plain", "-j", "-C", "main.takeString s", words=["3000"], room=500)
    records = json_lines(tool.out.text())
    lost = re.search(r"^goargdist: (\d+) calls not counted: the map of values is full", tool.err.text(), re.M)
    expect(lost and len(records) == 500, f"{len(records)} values; {tool.err.text()}")
    expect(sum(r["count"] for r in records) + int(lost[1]) == 3000, f"{lost[0]}")


def log2_row(n):
    size = max(abs(n).bit_length(), 1)
    low, high = (1 << (size - 1) if size > 1 else 0), (1 << size) - 1
    return (low, high) if n >= 0 else (-high, -max(low, 1))


@test(version=["1.15", "1.27"])
def argdist_histogram(version):
    """Rows as bcc has them, negative ones below; as many as there were calls"""
    truth, tool = measure(version, "plain", "-j", "-H", "main.takeInt n")
    [record] = json_lines(tool.out.text())
    want = collections.Counter()
    for row in truth:
        if row["probe"] == "int":
            want[log2_row(row["values"][0])] += row["count"]
    expect(list(record) == ["type", "expr", "count", "buckets"], f"{record}")
    expect(record["type"] == "argdist" and record["expr"] == "n" and record["count"] == 800, f"{record}")
    expect({(low, high): n for low, high, n in record["buckets"]} == want, f"{record}, not {want}")
    expect(record["buckets"] == sorted(record["buckets"]), f"{record}")


@test()
def argdist_histogram_text():
    """bcc's layout; the latency of each call that returned"""
    truth, tool = measure(newest(), "plain", "-H", "main.takeInt n", "-H", "r:main.fail $latency")
    text = tool.out.text()
    expect(re.search(r"^\[\d\d:\d\d:\d\d\]\nmain.takeInt n\n"
                     r"     n                   : count     distribution\n"
                     r"      -511 -> -256       : \d+ +\|\*+ *\|$", text, re.M), text)
    latency = text.partition("r:main.fail $latency\n")[2]
    expect(latency.startswith("     $latency            : count     distribution\n"), text)
    returned = sum(row["count"] for row in truth if row["probe"] == "returned")
    rows = re.findall(r"-> \d+ +: (\d+) ", latency)
    expect(sum(map(int, rows)) == returned, f"{rows}, not {returned}")


@test()
def argdist_text():
    """The most frequent last; of -T the others are a line; without EXPRs: calls, or the first result"""
    truth, tool = measure(newest(), "plain", "-T", "2", "-C", "main.takeKey", "-C", "r:main.put",
                          "-C", "main.takePointer (len(b) > 20) k.Name, len(b)")
    text = tool.out.text()
    expect("\nmain.takeKey\n\tCOUNT      EVENT\n\t800        total calls\n" in text, text)
    put = collections.Counter()
    for row in truth:
        if row["probe"] == "error":
            put[row["values"][1]] += row["count"]
    most = sorted(put.items(), key=lambda item: (item[1], f"goret1 = {item[0]}"))[-2:]
    others = 800 - sum(n for _, n in most)
    want = (f"\nr:main.put\n\tCOUNT      EVENT\n\t{others:<10} ({len(put) - 2} other values)\n"
            + "".join(f"\t{n:<10} goret1 = {value}\n" for value, n in most))
    expect(want in text, f"{want} is not in {text}")
    long = sorted((row["count"], row["values"]) for row in truth if row["probe"] == "pointer" and row["values"][2] > 20)
    expect(all(f'\t{n:<10} k.Name = "k\\x1b{value[0][2:]}", len(b) = {value[2]}\n' in text for n, value in long), text)


@test()
def argdist_cut():
    """Strings that are not read whole: said, and how many; -Z reads them."""
    _, tool = measure(newest(), "plain", "-C", "main.long s")
    expect('\t800        s = "' + 80 * "x" + '"...\n' in tool.out.text(), tool.out.text())
    expect("goargdist: values of 800 calls were cut, and count as one where they begin alike: only 80 bytes of a "
           "string were read\nhint: -Z SIZE reads more" in tool.err.text(), tool.err.text())
    _, tool = measure(newest(), "plain", "-Z", "101", "-C", "main.long s")
    expect(len(re.findall(r'^\t\d+ +s = "x{100}\d"$', tool.out.text(), re.M)) == 3, tool.out.text())
    expect("cut" not in tool.err.text(), tool.err.text())


@test()
def argdist_intervals():
    """Counts of intervals add up to all; with -c each has what those before it had."""
    for options, final in (("-i", "20ms"), False), (("-c", "-i", "20ms"), True):
        with Target("dist", newest()) as target:
            with Tool("goargdist", "-j", *options, "-p", target.target_pid, "-C", "main.takeInt n") as tool:
                tool.tracing()
                target.go()
                expect(target.wait() == 0, target.said())
                expect(tool.wait() == 0, tool.said())
            truth = [json.loads(line) for line in target.out.text().splitlines()[1:]]
            got = collections.Counter()
            for record in json_lines(tool.out.text()):
                value = json.dumps(list(record["values"].values()))
                got[value] = record["count"] + (0 if final else got[value])
            want = true_counts(truth, "int")
            expect(got == want, f"{options}: {set(got.items()) ^ set(want.items())}")


@test()
def argdist_number():
    """-n ends it."""
    with Target("dist", newest()) as target:
        done = run([tool_path("goargdist"), "-p", str(target.target_pid), "-n", "3", "-i", "50ms", "-C",
                    "main.takeInt n"])
        expect(done.returncode == 0 and len(re.findall(r"^\[[\d:]+\]$", done.stdout, re.M)) == 3, done.stdout)


@test()
def argdist_variables():
    """Variables as keys and in histograms"""
    truth, tool = measure(newest(), "plain", "-j", "-C", "r:main.put $func, $comm, $pid, goarg2 * 2",
                          "-C", "main.takeInt $goid", "-C", "main.take* $func")
    records = json_lines(tool.out.text())
    of_put = [r["values"] for r in records if "$comm" in r["values"]]
    expect(len(of_put) == 23 and all(v["$func"] == "main.put" and v["$comm"].startswith("dist") for v in of_put),
           f"{of_put}")
    expect(len({v["$pid"] for v in of_put}) == 1 and {v["goarg2 * 2"] for v in of_put} == set(range(0, 46, 2)),
           f"{of_put}")
    goids = [r["count"] for r in records if list(r["values"]) == ["$goid"]]
    expect(goids == [100] * 8, f"{goids}")
    funcs = {r["values"]["$func"]: r["count"] for r in records if list(r["values"]) == ["$func"]}
    expect(len(funcs) == 8 and set(funcs.values()) == {800}, f"{funcs}")


ERRORS = [
    (["-C", "b:main.f(int x):int:x#label"], "are those of bcc's argdist\nhint: 'b:main.f x'", 1),
    (["-C", "r:b:main.f(int x):int:$retval:$entry(x)>2"], "argdist\nhint: 'r:b:main.f (x>2) goret1'", 1),
    (["-H", "r:b:main.f():u64:$latency"], "hint: 'r:b:main.f $latency'", 1),
    (["-C", 'b:main.f "%d", n'], "col 10: values are counted, there is no format", 1),
    (["-H", "b:main.f"], "a histogram is of one EXPR, there are 0\nhint: ", 1),
    (["-H", "b:main.f x, y"], "a histogram is of one EXPR, there are 2", 1),
    (["b:main.f x"], "no -C PROBE or -H PROBE given", 2),
    (["-C", "b:main.f", "-H", "b:main.f x", "b:main.g"], '"b:main.g" has neither -C nor -H before it', 2),
    (["-T", "0", "-C", "b:main.f"], '-T: "0" is not a number from 1 to', 2),
    (["-C", "b:main.f ,"], 'col 10: expected "(PREDICATE)", an EXPR or the end, found ","', 1),
]


@test()
def argdist_errors():
    for args, message, status in ERRORS:
        done = run([tool_path("goargdist"), *args])
        expect(done.returncode == status and message in done.stderr, f"{args}: {done.returncode}: {done.stderr}")

# SPDX-License-Identifier: Apache-2.0
"""What parameters point to, as it is when the call returns: as the program itself finds it then, on
the heap and on stacks that have moved meanwhile."""

import collections
import re

from harness import Target, expect, json_lines, test

from gotrace import Tracer, rows

PROBES = {
    "fill": '"%d %q", goret1, after(b[:goret1])',
    "(*source).Read": '"%d %t %q", n, err == nil, after(p[:n])',
    "array": '"%q %x %q", after(p[:goret1]), after(p[2:5]), after(p)[20:]',
    "box": '"%d %s %d %v %v %x", after(p.N), after(p).Name, *after(p.Next), after(p.List[1:3]), '
           'after(p.List[n % 4]), after(p.Buf)',
    "words": '"%v", after(s[:goret1])',
    "numbers": '"%d %s %t", after(*n), *after(s), after(*ok)',
    "entries": '"%d", after(len(m))',
    "held": '"%+v", after(v)',
    "write": '"%d %q %q %q %d %d", goret1, b[:goret1], after(b[1:goret1]), s[:goret1 / 2], len(b[1:]), '
             'cap(b[2:])',
    "job": '"%d %q %d", goret1, after(j.Buf[:goret1]), after(j.Tags[2])',
    "fails": '"%q", after(b[:goret1])',
    "levels": '"%d %q", goret1, after(b[:goret1])',
}
SIGNATURES = {
    "fill": "(b []byte, n, deep int) int", "(*source).Read": "(p []byte) (n int, err error)",
    "array": "(p *[24]byte, n, deep int) int",
    "words": "(s []string, n, deep int) int", "numbers": "(n *int, s *string, ok *bool, deep int)",
    "entries": "(m map[int]int, n, deep int) int", "write": "(b []byte, s string, n, deep int) int",
    "fails": "(b []byte, deep int) int", "levels": "(b []byte, n int) int",
}
BUILT = [(v, "plain") for v in ("1.15", "1.19", "1.23", "1.24", "1.27")] + [
    ("1.15", "nl"), ("1.27", "nl"), ("1.19", "strip"), ("1.27", "strip")]


def true_calls(text):
    lines = [line.split("\t") for line in text.splitlines() if line.startswith("main.")]
    return [(name[len("main."):], said) for name, said in lines]


def without_addresses(text):
    return re.sub(r"=0x[0-9a-f]+", "=0x", text)


def probes(flavour):
    known = SIGNATURES if flavour == "strip" else dict.fromkeys(PROBES, "")
    return {name: f":main.{name}{signature}" for name, signature in known.items()}


def run(built_as, tails, words=()):
    """(what gotrace printed of each call, what it was in truth, how many buffers had moved, and how
    many were above a stack that moved)"""
    version, flavour = built_as
    with Target("after", version, flavour, args=words) as target:
        argv = [f"r{head} {tails[name]}" for name, head in probes(flavour).items() if name in tails]
        with Tracer("-p", target.target_pid, *argv) as tracer:
            tracer.attached()
            target.go()
            text = tracer.rest()
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            said = target.out.text()
    got = [(row.func[len("main."):], row.text) for row in rows(text)]
    true = [call for call in true_calls(said) if call[0] in tails and call[0] in probes(flavour)]
    moved, above = (next(int(line.split()[1]) for line in said.splitlines() if line.startswith(word))
                    for word in ("moved ", "above "))
    return got, true, moved, above


@test(built_as=BUILT)
def trace_after(built_as):
    """Line by line"""
    got, true, moved, above = run(built_as, PROBES)
    wrong = [f"{g}, in truth {t}" for g, t in zip(got, true) if g != t]
    expect(not wrong, f"{len(wrong)} of {len(true)} wrong: " + "; ".join(wrong[:8]))
    expect(len(got) == len(true), f"{len(got)} calls, {len(true)} in truth")
    expect(moved > 40, f"only {moved} buffers moved")
    expect(above == 8, f"only {above} buffers were above a stack that moved")


@test(version=["1.15", "1.19", "1.27"])
def trace_after_whole(version):
    """Without a format, what the call has changed is shown as it has become."""
    every = ["fill", "write", "numbers", "fails"]
    with Target("after", version) as target:
        with Tracer("-p", target.target_pid, *(f"r:main.{name}" for name in every)) as tracer:
            tracer.attached()
            target.go()
            text = tracer.rest()
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            true = [(name[len("whole "):], said) for name, said in true_calls(target.out.text())
                    if name.startswith("whole ")]
    got = [(row.func[len("main."):], without_addresses(row.text)) for row in rows(text)]
    wrong = [f"{g}, in truth {t}" for g, t in zip(got, true) if g != t]
    expect(not wrong, f"{len(wrong)} of {len(true)} wrong: " + "; ".join(wrong[:8]))
    expect(len(got) == len(true), f"{len(got)} calls, {len(true)} in truth")


@test()
def trace_after_json():
    """Both, where it differs"""
    with Target("after", "1.27", args=["calls=2"]) as target:
        with Tracer("-j", "-p", target.target_pid, "r:main.numbers", "r:main.fill") as tracer:
            tracer.attached()
            target.go()
            events = json_lines(tracer.rest())
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            true = [said for name, said in true_calls(target.out.text()) if name == "numbers"]
    got = []
    for event in events:
        args = {arg["name"]: arg for arg in event["args"]}
        if event["func"] == "main.numbers":
            got.append(f'{args["n"]["after"]} {args["s"]["after"]} {str(args["ok"].get("after", False)).lower()}')
            expect(str(args["n"]["value"]).startswith("0x") and "after" not in args["deep"], f"{event}")
    expect(got == true, f"{got}, in truth {true}")


@test(version=["1.19", "1.27"])
def trace_after_threads(version):
    """Many goroutines at once, which change threads"""
    got, true, moved, _ = run((version, "plain"), PROBES, ["goroutines=20", "calls=6"])
    got, true = collections.Counter(got), collections.Counter(true)
    expect(got == true, f"too many: {list((got - true).items())[:5]}, missing: {list((true - got).items())[:5]}")
    expect(moved > 250, f"only {moved} buffers moved")


@test()
def trace_after_gccgo():
    """Stacks there never move."""
    got, true, moved, _ = run(("gccgo", "nl"), PROBES)
    wrong = [f"{g}, in truth {t}" for g, t in zip(got, true) if g != t]
    expect(not wrong, f"{len(wrong)} of {len(true)} wrong: " + "; ".join(wrong[:8]))
    expect(len(got) == len(true) and not moved, f"{len(got)} calls, {len(true)} in truth, {moved} moved")


PREDICATES = {  # of main.fill: which calls they are true of, by what these answered and left
    '(after(b[0]) == \'h\')': lambda n, text: text[:1] == "h",
    '(after(b[:goret1]) == "vyb")': lambda n, text: text == "vyb",
    '(after(b[:3]) != "vyb" && goret1 > 2)': lambda n, text: n > 2 and text[:3] != "vyb",
    '(len(after(b[2:n])) > 4)': lambda n, text: len(text) > 6,
}


def unquoted(said):
    n, _, text = said.partition(" ")
    return int(n), "" if text.startswith("<") else text.strip('"')


@test(version=["1.15", "1.27"])
def trace_after_predicates(version):
    """Which calls are printed at all"""
    with Target("after", version) as target:
        probes_ = [f'r:main.fill {p} "{i} %d %q", goret1, after(b[:goret1])' for i, p in enumerate(PREDICATES)]
        with Tracer("-p", target.target_pid, *probes_) as tracer:
            tracer.attached()
            target.go()
            text = tracer.rest()
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            calls = [said for name, said in true_calls(target.out.text()) if name == "fill"]
    for i, holds in enumerate(PREDICATES.values()):
        got = [row.text[2:] for row in rows(text) if row.text.startswith(f"{i} ")]
        true = [said for said in calls if int(said.split()[0]) >= 0 and holds(*unquoted(said))]
        expect(got == true and true, f"{list(PREDICATES)[i]}: {got[:8]} ..., in truth {true[:8]} ...")


@test()
def trace_after_nameless():
    """Parameters without a name are known by number."""
    with Target("after", "1.27", "strip", args=["calls=2"]) as target:
        with Tracer("-p", target.target_pid, "r:main.fill([]byte, int, int) int") as tracer:
            tracer.attached()
            target.go()
            got = [row.text for row in rows(tracer.rest())]
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            true = [said for name, said in true_calls(target.out.text()) if name == "whole fill"]
    true = [re.sub(r"\b(b|n|deep)=", "", said.replace("after(b)=", "after(goarg1)=")) for said in true]
    expect(got == true, f"{got[:5]}, in truth {true[:5]}")

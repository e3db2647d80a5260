# SPDX-License-Identifier: Apache-2.0
"""gotrace in gccgo's programs: words as C passes them, and values by what GCC's DWARF says of them.
A value is what the program says it is, or is said to be unknown."""

import re

from harness import Target, expect, test, versions

from gotrace import Tracer, rows, trace_fixture

PARTS = {"call0": [":main.Call0*"], "call1": [":main.Call1*"], "call2": [":main.Call2*"],
         "methods": [":main.Make*.func1", ":main.(*Point).Call*", ":main.Point.Call*",
                     ":main.Color.Call*", ":main.(*Nested).Call*", ":main.Embeds.Call*",
                     ":main.IDs.Call*", ":main.Empty.Call*", ":main.(*Node).Call*",
                     ":main.Rates.Call*"]}
NAMES = {"call0": r"^main.Call0", "call1": r"^main.Call1", "call2": r"^main.Call2",
         "methods": r"^main.(\w+|\(\*\w+\)).Call"}
# Of what other packages declare GCC does not tell the package, nor of maps and channels what is in
# them; libgo's types are not the program's. Function literals outside of functions are counted by
# gc's name for them. A result without a size is none.
UNKNOWN = re.compile(r"<float in register>|<optimised out>|\?(?= |$)|"
                     r"\bmap(?=\()|\bmain\.glob(?=\.)|(?<=main\.adder)\.")
NOTHING = (r" -> (\w+=)?(main\.Empty\{\}|main\.Nothing\{E:main\.Empty\{\}, Z:\[0\]int\{\}\}|"
           r"\[0\]int\{\}|struct \{\}\{\})$")


def built():
    if len(versions()) > 5:
        return [(part, flavour) for part in PARTS for flavour in ("plain", "nl")]
    return [("call0", "plain"), ("methods", "nl")]


def is_right(said, text):
    """`text`, as gotrace prints it, is `said`, but for what it says it does not know."""
    said = re.sub(NOTHING, "", said)
    pattern, at = "", 0
    for unknown in UNKNOWN.finditer(text):
        pattern += re.escape(text[at:unknown.start()]) + ".*?"
        at = unknown.end()
    return bool(re.fullmatch(pattern + re.escape(text[at:]), said))


def truth(text, part):
    lines = [line.split("\t") for line in text.splitlines() if line.count("\t") == 2]
    given = [(name, said) for name, how, said in lines if how == "p"]
    answered = [said for _, how, said in lines if how == "r"]
    both = [(name, f"{said} -> {answer}".strip() if answer else said)
            for (name, said), answer in zip(given, answered)]
    return [(name, said) for name, said in both if re.search(NAMES[part], name)]


@test(built_as=built)
def gccgo_args(built_as):
    """Arguments as they were at entry, and results. What has no effect GCC does not call at all."""
    part, flavour = built_as
    text, said = trace_fixture("args", "gccgo", *("r" + p for p in PARTS[part]), flavour=flavour)
    true, wrong, seen, exact = {}, [], 0, 0
    for name, text_of in truth(said, part):
        true.setdefault(name, []).append(text_of)
    for row in rows(text):
        name = row.func
        if name in true:
            seen += 1
            expect(true[name], f"{name} is seen too often")
            should = true[name].pop(0)
            exact += row.text.rstrip() == should
            if not is_right(should, row.text.rstrip()):
                wrong.append(f"{name}: {row.text} | in truth: {should}")
    missing = [name for name, left in true.items() if left]
    expect(not wrong, f"{len(wrong)} wrong: " + "; ".join(wrong[:12]))
    expect(len(missing) <= len(true) // (10 if flavour == "plain" else 1000),
           f"not seen: {' '.join(missing)}")
    expect(exact > seen // 3, f"{exact} of {seen} are wholly known")


def said_of(text, name):
    lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return [said for what, said in lines if what == name]


@test(flavour=["plain", "nl", "sw"])
def gccgo_words(flavour):
    """arg1 to arg12, with debug information and without, also where the stack grows"""
    words = ", ".join(f"arg{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13))
    deep = f':main.Deep "{" ".join(["%d"] * 12)}", {words}'
    text, said = trace_fixture("words", "gccgo", ':main.add (arg1 > 0) "%d %d", arg1, arg2', deep,
                               flavour=flavour)
    true = [w.replace("nine", "4") for w in said_of(said, "Deep")]
    got = [row.text for row in rows(text) if row.func == "main.Deep"]
    expect(len(true) == 1501, f"{len(true)} calls")
    expect(got == true, f"{len(got)} calls, of {len(true)}; "
           f"{[(t, g) for t, g in zip(true, got) if t != g][:3]}")
    added = [row.text for row in rows(text) if row.func == "main.add"]
    expect(added == ["42 13"], f"main.add: {added}")


@test()
def gccgo_expressions():
    """Names, fields, predicates, STRCMP, results, latency"""
    deep = ('r:main.Deep (n % 500 == 0 && STRCMP("nine", s)) "%d %s %d %d %v %d", n, s, w.a, goarg9[0],'
            ' goret1 - retval, $latency > 0').replace("r:main", "r::main")
    text, said = trace_fixture("words", "gccgo", deep, 'r::main.add "%d+%d=%d", x, goarg2, goret1')
    true = [w.split() for w in said_of(said, "Deep")]
    want = [f"{w[0]} nine {w[9]} {ord('n')} 0 1" for w in true if int(w[0]) % 500 == 0]
    got = [row.text for row in rows(text) if row.func == "main.Deep"]
    expect(sorted(got) == sorted(want), f"{got}, not {want}")
    added = [row.text for row in rows(text) if row.func == "main.add"]
    expect(added == ["42+13=55", f"-1+{1 << 40}={(1 << 40) - 1}"], f"main.add: {added}")


def held_lines(target_said):
    """What interfaces hold, in truth: of the library's types, and of the program's own"""
    return [[line.split("\t")[1] for line in target_said.splitlines() if line.startswith(whose + "\t")]
            for whose in ("library's", "own")]


def of_println(text):
    seen = [row.text for row in rows(text) if row.func == "fmt.Println"]
    return [re.fullmatch(r"a=\[\]interface \{\}\{(.*)\}", one)[1] for one in seen]


@test(flavour=["plain", "static", "nl"])
def gccgo_held(flavour):
    """In a function of the library's and in the program's: types of either are known in both."""
    println = ":fmt.Println" if flavour == "static" else "go:fmt.Println"
    text, said = trace_fixture("held", "gccgo", println, ":main.show", flavour=flavour)
    library, own = held_lines(said)
    expect(len(library) == 24 and len(own) == 7, f"{len(library)} and {len(own)} values")
    got = of_println(text)
    expect(got == library + own, f"{[(t, g) for t, g in zip(library + own, got) if t != g]}")
    got = [re.sub(r'^whose="\S+" value=', "", row.text) for row in rows(text) if row.func == "main.show"]
    expect(got == library + own, f"{[(t, g) for t, g in zip(library + own, got) if t != g]}")


@test()
def gccgo_held_anywhere():
    """Which program runs is not known: its own types are not, those of the library are."""
    with Target("held", "gccgo", "plain") as target, Tracer("go:fmt.Println") as tracer:
        tracer.attached()
        target.go()
        expect(target.wait() == 0, target.said())
        tracer.stop()
        library, own = held_lines(target.out.text())
        got = of_println("\n".join(line for line in tracer.out.text().splitlines()
                                   if line.startswith(f"{target.target_pid} ")))
    expect(got[:len(library)] == library,
           f"{[(t, g) for t, g in zip(library, got) if t != g]}")
    expect(got[len(library):] == ["<unknown type>"] * len(own), f"{got[len(library):]}")

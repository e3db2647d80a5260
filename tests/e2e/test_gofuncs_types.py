# SPDX-License-Identifier: Apache-2.0
"""What gofuncs says of parameters and results, against what the program's reflect says of them."""

import json

from harness import each_release, expect, fixture, newest, run, test, tool_path, versions
from test_signatures import check_names, minor, truth

PLACES = {  # (of parameters, of results), in registers
    "main.texts": ([["rax", "rbx"], ["rcx", "rdi"], ["rsi"]], [["rax"]]),
    "main.boolean": ([["al"]], [["al"]]),
    "main.uints": ([["al"], ["bx"], ["ecx"], ["rdi"], ["rsi"], ["r8"]], [["ax"]]),
    "main.floats": ([["xmm0"], ["xmm1"]], [["xmm0"]]),
    "main.slices": ([["rax", "rbx", "rcx"], ["rdi", "rsi", "r8"], ["r9", "r10", "r11"]],
                    [["rax", "rbx", "rcx"]]),
    "main.array2": ([["[sp+8]"], ["rax"]], [["rax"]]),
    "main.structIn": ([["eax", "rbx", "rcx"], ["rdi"]], [["eax", "rbx", "rcx"]]),
    "main.(*pair).Pointer": ([["rax"], ["rbx", "rcx"], ["xmm0"]], [["rax", "rbx"]]),
    "main.nothing": ([], []),
}
STACK_PLACES = {
    "main.texts": ([["[sp+8]"], ["[sp+24]"], ["[sp+40]"]], [["[sp+48]"]]),
    "main.uints": ([["[sp+8]"], ["[sp+10]"], ["[sp+12]"], ["[sp+16]"], ["[sp+24]"], ["[sp+32]"]],
                   [["[sp+40]"]]),
    "main.nothing": ([], []),
}


def listed(path, pattern="main.*"):
    """{name: what gofuncs -j says of the function}"""
    done = run([tool_path("gofuncs"), "-j", f"{path}:{pattern}"])
    expect(done.returncode == 0, done.stderr)
    records = map(json.loads, done.stdout.splitlines())
    return {r["func"]: r["functions"][0] for r in records if r["functions"]}


def check_sizes(values, true, types, where):
    got, want = [v["size"] for v in values], [types[t]["size"] for t in true]
    for i, value in enumerate(values):
        if value["type"] is None:  # may have padding at either end
            want[i] = max(want[i], min(value["size"], want[i] + 7))
    expect(got == want, f"{where}: sizes {got}, in truth {want}")


def check_types(values, true, where, whole):
    """`whole`: each type is known; otherwise it may be missing, but not wrong"""
    for value, want in zip(values, true):
        if value["type"] is None and not whole and value["name"] == "_":
            continue
        expect(value["type"] == want, f"{where}: {value}, in truth {want}")


def check_places(got, where, places):
    if where in places:
        said = tuple([v["in"] for v in got[key]] for key in ("args", "results"))
        expect(said == places[where], f"{where}: in {said}")


def check_function(types, true, got, version):
    name, names = true["func"], true["results"]
    expect(got["types_from"] == "debuginfo", f"{name}: from {got['types_from']}")
    check_sizes(got["args"], true["in"], types, name)
    check_sizes(got["results"], true["out"], types, name)
    check_types(got["args"], true["in"], name, whole=False)
    check_types(got["results"], true["out"], name, whole=True)
    numbers = " ".join(f"~r{i}" for i in range(len(true["out"])))
    check_names([{"param": v["name"]} for v in got["args"]], true["params"], name)
    check_names([{"param": v["name"]} for v in got["results"]], names or numbers, name)
    check_places(got, name, PLACES if minor(version) >= 17 else STACK_PLACES)


@test(version=versions, flavour=["plain", "nl", "pie"], where=each_release("plain"))
def gofuncs_types(version, flavour):
    path = fixture("signatures", version, flavour)
    types, functions = truth(path)
    known = listed(path)
    for true in functions:
        got = known[true["func"]]
        expect(got["types_from"] != "none", f"{true['func']}: nothing known")
        check_function(types, true, got, version)


def places(values):
    return [place for v in values for place in v["in"]]


@test(version=lambda: [v for v in versions() if minor(v) >= 17])
def gofuncs_types_stripped(version):
    """Of a stripped program: sizes in order, and never another place than DWARF tells."""
    stripped = listed(fixture("signatures", version, "strip"))
    whole = listed(fixture("signatures", version))
    types, functions = truth(fixture("signatures", version))
    placed = 0
    for true in functions:
        name, got = true["func"], stripped[true["func"]]
        expect(got["types_from"] in ("rtti", "argtables"), f"{name}: from {got['types_from']}")
        if got["args"][-1:] and got["args"][-1]["name"] == "...":  # tables end at ten values
            got["args"].pop()
            expect(got["args"], f"{name}: nothing told")
        else:
            expect(len(got["args"]) == len(true["in"]), f"{name}: {got['args']}")
        if got["types_from"] == "rtti":
            check_types(got["args"], true["in"], name, whole=True)
            check_types(got["results"], true["out"], name, whole=True)
        else:
            expect(got["results"] is None, f"{name}: results {got['results']}")
        for arg, of in zip(got["args"], whole[name]["args"]):
            said = arg["in"][:1] if of["in"][:1] and of["in"][0].startswith("[") else arg["in"]
            want = of["in"] if arg["size"] is not None else of["in"][:len(said)]  # cut short
            expect(not said or said == want, f"{name}: {arg}, by DWARF {of}")
            placed += bool(said)
            expect(0 <= of["size"] - (arg["size"] or 0) <= 8 or arg["size"] is None,
                   f"{name}: {arg}, by DWARF {of}")
    expect(placed > 100, f"only {placed} parameters have a place")


@test()
def gofuncs_types_as_text():
    """The lines of -v are under 80 columns where they can be, and say what -j says."""
    path = fixture("signatures", newest())
    done = run([tool_path("gofuncs"), "-v", f"{path}:main.*Pointer", f"{path}:main.floatsMany"])
    for line in ("    args     p *main.pair (rax), s string (rbx, rcx), x float64 (xmm0)\n",
                 "    results  ~r0 error (rax, rbx)\n", "    types    debug information\n",
                 "\n             "):
        expect(line in done.stdout, f"no {line!r} in {done.stdout}")
    lines = [ln for ln in done.stdout.splitlines() if ln.startswith(("    args", "         "))]
    expect(max(map(len, lines)) < 80, f"{lines}")


ORIGINS = {  # of the fixture args: text of -v, from of -j
    "main.call003": (["    places   goarg1 to goarg5: saved registers", "             goarg6: not told"],
                     ["saved"] * 5 + ["none"]),
    "main.call027": (["    places   goarg1 to goarg3: saved registers"], ["saved"] * 3),
    "main.call190": (["    places   goarg1 to goarg3: what the code reads"], ["code"] * 3),
    "main.blank183": (["    places   goarg1, goarg2: the likeliest place, a guess"], ["guess"] * 2),
}


@test(version=["1.19", "1.27"])
def gofuncs_origins(version):
    """How the place of each parameter is known; a guess is marked as one."""
    path = fixture("args", version, "strip")
    known = listed(path)
    for name, (lines, origins) in ORIGINS.items():
        done = run([tool_path("gofuncs"), "-v", f"{path}:{name}"])
        said = done.stdout.splitlines()
        expect([arg["from"] for arg in known[name]["args"]] == origins, f"{name}: {known[name]['args']}")
        at = next((i for i, ln in enumerate(said) if ln.startswith("    places")), None)
        got = said[at:at + len(lines)] if at else []
        expect(got == lines, f"{name}: {said}")
        args = next(ln for ln in said if ln.startswith("    args"))
        expect(args.count("?") == origins.count("guess"), args)

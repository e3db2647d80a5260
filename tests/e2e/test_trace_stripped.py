# SPDX-License-Identifier: Apache-2.0
"""Arguments in stripped programs, of functions that only the compiler's argument tables tell of:
what gotrace prints, against the words that the program passes."""

import collections
import itertools
import json
import re

from harness import Target, expect, fixture, plain_name, run, test, tool_path, versions

from gotrace import Tracer, rows, texts, trace_fixture
from test_gofuncs_types import listed
from test_trace_real import Client, same
from words import Reader, Wrong, count_words, leaves

PATTERNS = [":main.call*", ":main.make*.func1", ":main.blank*", ":main.Gen*"]


def some_of(*every):
    """1.19 and 1.27; all of them with --all"""
    return [v for v in every if v in versions() and (len(versions()) > 5 or v in ("1.19", "1.27"))]


class Tally:
    """What is printed of many calls"""

    def __init__(self):
        self.params, self.words, self.others = (collections.Counter() for _ in range(3))
        self.guesses, self.wrong = 0, {}

    def add_rest(self, values):
        for value in values:
            self.params["left out"] += 1
            for leaf in leaves(value):
                of = self.others if leaf["is"] in ("float", "complex") else self.words
                of["left out"] += len(leaf["words"])

    def add_call(self, name, values, text):
        reader = Reader(text)
        for i, value in enumerate(values):
            if i and text[reader.at:] == "" and text.endswith("..."):
                self.add_rest(values[i:])
                break
            try:
                if i:
                    reader.skip(" ")
                if text[reader.at:] == "..." and count_words(value):
                    self.add_rest(values[i:])
                    reader.at = len(text)
                    break
                self.params["right" if reader.parameter(value) else "unknown"] += 1
            except Wrong as why:
                self.params["wrong"] += 1
                self.wrong.setdefault(name, f"{name}: {why} in {text} | in truth {values}")
                return
        self.words.update(reader.words)
        self.others.update(reader.others)
        self.guesses += reader.guesses

    def share(self, of):
        """Per cent right, of what the compiler's tables tell: they end after ten values"""
        told = sum(n for what, n in of.items() if what != "left out")
        return 100 * of["right"] / max(1, told)

    def line(self, title):
        parts = [f"{name} {self.share(of):.1f} % ({', '.join(f'{n} {what}' for what, n in of.items())})"
                 for name, of in (("shapes", self.params), ("words", self.words),
                                  ("floats", self.others)) if of]
        return f"Go {title}: {'; '.join(parts)}; {self.guesses} marked as guesses"


def tally(version, flavour="strip"):
    text, said = trace_fixture("args", version, *PATTERNS, flavour=flavour)
    truth = {}
    for line in said.splitlines():
        if line.count("\t") == 2 and line.split("\t")[1] == "w":
            name, _, values = line.split("\t")
            truth.setdefault(name, []).append(json.loads(values))
    result = Tally()
    for row in rows(text):
        values = truth[plain_name(row.func)].pop(0)
        text = row.text.rstrip()
        if "[...]" in row.func:  # a dictionary, or a parameter, is left out
            text = text.removeprefix("... ")
        result.add_call(row.func, values, text)
    return result


@test(version=lambda: some_of("1.19", "1.22", "1.24", "1.27"))
def trace_stripped(version):
    """Never wrong; and of integers, pointers and shapes, hardly anything that is not known"""
    result = tally(version)
    print(f"# {result.line(version)}", flush=True)
    expect(not result.wrong, f"{len(result.wrong)} wrong: " + "; ".join(list(result.wrong.values())[:9]))
    for of in result.words, result.params:
        expect(result.share(of) >= 97, result.line(version))


def placed(version):
    """Of a whole program's functions: how the places that its stripped copy tells compare with those
    that its debug information does"""
    stripped, whole = (listed(fixture("web", version, flavour), "*") for flavour in ("strip", "plain"))
    told, wrong = collections.Counter(), []
    for name, of in whole.items():
        got = stripped.get(name, {"types_from": ""})
        if of["types_from"] != "debuginfo" or got["types_from"] != "argtables":
            continue
        if "[...]" in name or name == "reflect.callMethod":  # has a hidden parameter; is ABI0
            continue
        args = [a for a in got["args"] if a["name"] != "..." or a is got["args"][-1]]
        hidden = "[" in name and len(args) != len(got["args"])
        for arg, true in itertools.zip_longest(args, of["args"]):
            if hidden or not true or not true["size"]:
                continue
            said = arg["in"] if arg else []
            if true["in"][:1] and true["in"][0].startswith("["):
                said = said[:1]
            if said and true["in"] and said != true["in"][:len(said)]:
                wrong.append(f"{name}: {arg}, in truth {true}")
            told[arg["from"] if said else "unknown" if arg and arg["name"] != "..." else "left out"] += 1
    return told, wrong


@test(version=lambda: some_of("1.19", "1.22", "1.24", "1.27"))
def gofuncs_stripped_places(version):
    """A net/http program: thousands of functions"""
    told, wrong = placed(version)
    print(f"# Go {version}, net/http: {dict(told)}", flush=True)
    expect(not wrong, f"{len(wrong)} wrong: {wrong[:5]}")
    unknown = told["unknown"] + told["left out"]
    expect(unknown < 0.03 * sum(told.values()), f"{told}")


PAIRS = [  # PROBE, without its colon, what it prints of both calls
    ('main.call030 "%s|%v|%q|%d", goarg2, goarg2, goarg2, len(goarg2)',
     '?two words|?"two words"|?"two words"|9'),
    ('main.call030 (STRCMP("two words", goarg2)) "%s", goarg2', "?two words"),
    ('main.call030 (goarg2 == "two words" && len(goarg1) == 0) "%-12s|%.3q", goarg2, goarg2',
     '?two words  |?"two"'),
    ('main.call030 (STRCMP("two word", goarg2)) "%s", goarg2', None),
    ('main.call021 "%v|%s|%v|%q|%s", goarg3, goarg3, goarg4, goarg5, goarg5',
     'main.Reason("why")|why|3|' + "|".join(2 * ['main.Failure{Code:7, Text:"bad "}'])),
    ('main.blank183 "%v|%s|%d", goarg1, goarg2, len(goarg1)',
     '?"0123456789012345678901234567890123456789"|?boom|?40'),
    ('main.call003 "%v", goarg3', re.compile(r"\{0x[0-9a-f]+, 0x8\}")),  # "quo\"te\n\x01": no text
    ('main.call105 "%v", goarg1', re.compile(r'\{\*errors.errorString\("boom"\), 3, 0x[0-9a-f]+\}')),
]


@test(version=["1.19", "1.27"])
def trace_stripped_pairs(version):
    """Two words whose type nobody knows: text is marked as a guess, interfaces are certain."""
    text, _ = trace_fixture("args", version, *(":" + probe for probe, _ in PAIRS), flavour="strip")
    got = texts(text)
    want = [line for _, line in PAIRS if line] * 2
    expect(len(got) == len(want), f"{got}")
    for probe, line in PAIRS:
        said = [t for t in got if line and re.fullmatch(line if isinstance(line, re.Pattern)
                                                        else re.escape(line), t)]
        expect(not line or len(said) >= 2, f"{probe}: {line}, not in {got}")


@test(version=["1.27"])
def trace_guess_refused(version):
    """A predicate cannot be marked as a guess."""
    path = fixture("args", version, "strip")
    done = run([tool_path("gotrace"), f"{path}:main.blank183 (len(goarg1) == 3)"], timeout=60)
    expect(done.returncode == 1 and "is only a guess\nhint: give a SIGNATURE\n" in done.stderr, f"{done}")


@test(version=["1.27"])
def trace_stripped_json(version):
    """In JSON a guess is an object with one key."""
    text, _ = trace_fixture("args", version, "-j", ":main.call006", ":main.call021", flavour="strip")
    first, second = [json.loads(line) for line in text.splitlines()][:2]
    strings = first["args"][2]["value"]
    expect(strings == [{"guess": "a"}, {"guess": "b"}], f"{strings}")
    held = [arg["value"] for arg in second["args"]]
    expect(held[:4] == [[0, 0], [0, 0], "why", 3], f"{held}")
    text, _ = trace_fixture("args", version, "-j", ":main.blank183", ':main.blank183 "%d", len(goarg1)',
                            flavour="strip")
    lists = [json.loads(line) for line in text.splitlines()]
    values = [arg["value"] for call in lists if "args" in call for arg in call["args"]][:2]
    expect(values == [{"guess": "0123456789012345678901234567890123456789"}, {"guess": "boom"}],
           f"{values}")
    expect([call["values"] for call in lists if "values" in call] == [[{"guess": 40}]] * 2, f"{lists}")


CONTRADICTIONS = [  # SIGNATURE; what it takes; what the argument table says
    ("main.add(a string)", "a string: 8+8 bytes in rax, rbx", "8 bytes in rax; 8 bytes in rbx"),
    ("main.add(a, b int, c bool)",
     "a int: 8 bytes in rax; b int: 8 bytes in rbx; c bool: 1 byte in cl",
     "8 bytes in rax; 8 bytes in rbx"),
    ("main.add(a float64, b int)", "a float64: 8 bytes in xmm0; b int: 8 bytes in rax",
     "8 bytes in rax; 8 bytes in rbx"),
    ("main.add(a int32, b int)", "a int32: 4 bytes in eax; b int: 8 bytes in rbx",
     "8 bytes in rax; 8 bytes in rbx"),
    ("main.escapes(x int)", "x int: 8 bytes in rax", "8+8 bytes in rax, rbx"),
    ("main.leaf(f float64)", "f float64: 8 bytes in xmm0", "8 bytes in rax"),
    ("main.(*Store).Get(k int)", "*main.Store: 8 bytes in rax; k int: 8 bytes in rbx",
     "8 bytes in rax; 8+8 bytes in rbx, rcx"),
    ("main.greet(n int, name string)", "n int: 8 bytes in rax; name string: 8+8 bytes in rbx, rcx",
     "8+8 bytes in rax, rbx; 8 bytes in rcx; 1+8 bytes in dil, rsi"),
]


@test(version=["1.19", "1.27"])
def trace_contradiction(version):
    """A SIGNATURE that the argument table contradicts is refused, and both are shown."""
    path = fixture("traced", version, "strip")
    for signature, takes, says in CONTRADICTIONS:
        done = run([tool_path("gotrace"), f"{path}:{signature}"], timeout=60)
        said = done.stderr.splitlines()
        name = signature.rsplit("(", 1)[0]
        expect(done.returncode == 1 and len(said) == 2, f"{signature}: {done}")
        expect(f": {name} does not take ({takes})" in said[0], f"{signature}: {said}")
        expect(said[1].startswith(f"hint: its argument table says ({says}); "), f"{signature}: {said}")


@test(version=["1.19", "1.27"])
def trace_last_left_out(version):
    """The last parameters may be left out: the others are where they are."""
    text, _ = trace_fixture("traced", version, ':main.add(a int) "%d", a', ':main.leaf(n int)',
                            flavour="strip", words=["stacks"])
    expect(sorted(texts(text)) == ["42", "n=14"], f"{texts(text)}")


@test(version=lambda: some_of("1.15", "1.19", "1.22", "1.24", "1.27"))
def trace_stripped_types(version):
    """A SIGNATURE's types are looked up by name in the stripped program: their fields can be asked
    for. A type that is not there is said to be missing, and its pointers are addresses."""
    request = ":main.ServeHTTP(w http.ResponseWriter, req *net/http.Request)"
    probes = [f'{request} "%s %s %d", req.Method, req.URL.Path, req.ContentLength',
              f'{request} (STRCMP("POST", req.Method)) "post %s", req.URL.Path',
              ':main.handle(method, path string, size int64) "handle %s %s", method, path',
              ':main.ServeHTTP(w http.ResponseWriter, req *main.Missing) "at %v", req']
    with Target("web", version, "strip") as target, Tracer("-p", target.target_pid, *probes) as tracer:
        tracer.attached()
        target.go()
        client = Client(int(target.wait_line("port").split()[1]), 7)
        for i in range(9):
            client.ask(i)
        client.connection.close()
        target.go()
        got = texts(tracer.rest())
        target.wait()
        err = tracer.err.text()
    sizes = [i if i % 3 == 1 else 0 for i in range(9)]
    true = [f"{asked} {size}" for asked, size in zip(client.asked, sizes)]
    true += [f"handle {asked}" for asked in client.asked]
    true += [f"post {asked.split()[1]}" for asked in client.asked if asked.startswith("POST")]
    same([t for t in got if not t.startswith("at ")], true, "requests")
    at = [t for t in got if re.fullmatch("at 0x[0-9a-f]+", t)]
    expect(len(at) == 9, f"{got}")
    expect('gotrace: type "main.Missing" is not in the program: its pointers are shown as addresses'
           in err.splitlines(), err)


@test(version=["1.15", "1.27"])
def trace_receiver_by_name(version):
    """The name of a method that no interface asks for tells its receiver's type: fields can be asked for."""
    path = fixture("stacks", version, "strip")
    text, _ = trace_fixture("stacks", version, ':main.(*base).method "%s", goarg1.name', flavour="strip", words=["stacks"])
    expect(texts(text) == ["a", "b"] * 3, f"{texts(text)}")
    done = run([tool_path("gotrace"), f'{path}:main.(*base).method "%s", nam'], timeout=60)
    expect(re.search(r"hint: .* goarg1 \*main\.base, goarg2", done.stderr), f"{done}")


@test(version=["1.15", "1.27"])
def trace_pointers_followed(version):
    """Without a format, pointers to structs are followed, but not a receiver: its type is said where it has no
    name. With many functions or JSON pointers are addresses. Under %+v no receiver stands before the arguments."""
    def ask(name, probe, flavour, *options):
        return trace_fixture(name, version, *options, probe, flavour=flavour, words=["stacks"] if name == "stacks" else [])[0]

    def are(text, *patterns, func=None):
        got = texts(text, func)
        expect(len(got) == len(patterns) and all(re.fullmatch(p, t) for p, t in zip(patterns, got)), f"{got}")

    deeply = r"p=&main\.Opts\{Loud:true, Level:3\} .* s=&main\.Store\{Name:.* none=nil"
    are(ask("traced", ":main.deeply", "plain"), deeply)
    are(ask("traced", ":main.*", "plain"), r"p=0x[0-9a-f]+ .* s=0x[0-9a-f]+ none=nil", func="main.deeply")
    speaks = [r"\(\*main\.base\)\(0x[0-9a-f]+\) \d+"] * 6
    are(ask("stacks", ":main.(*base).speak", "strip"), *speaks)
    are(ask("stacks", ':main.(*base).speak "%+v", goargs', "strip"), *[r"0x[0-9a-f]+ \d+"] * 6)
    values = [json.loads(r)["args"] for r in ask("traced", ":main.deeply", "plain", "-j").splitlines()]
    expect([re.sub("0x[0-9a-f]+", "0x", a[0]["value"]) for a in values] == ["0x"], f"{values}")

# SPDX-License-Identifier: Apache-2.0
"""Arguments in stripped programs, of functions that only the compiler's argument tables tell of:
what gotrace prints, against the words that the program passes."""

import collections
import json
import re

from harness import expect, plain_name, test, versions

from gotrace import rows, texts, trace_fixture
from words import Reader, Wrong, count_words, leaves

PATTERNS = [":main.call*", ":main.make*.func1", ":main.blank*", ":main.Gen*"]


class Tally:
    """What is printed of many calls"""

    def __init__(self):
        self.params, self.words, self.others = (collections.Counter() for _ in range(3))
        self.guesses, self.wrong = 0, {}

    def add_rest(self, values):
        for value in values:
            self.params["unknown"] += 1
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
        counter = getattr(self, of)
        return 100 * counter["right"] / max(1, sum(counter.values()))

    def line(self, title):
        return (f"{title}: parameters {dict(self.params)}, words {dict(self.words)}, "
                f"floats {dict(self.others)}, {self.guesses} guesses")


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


@test(version=lambda: [v for v in versions() if v in ("1.19", "1.22", "1.24", "1.27")])
def trace_stripped(version):
    """Never wrong; and of integers, pointers and shapes, hardly anything that is not known"""
    result = tally(version)
    print(f"# {result.line(version)}", flush=True)
    expect(not result.wrong, f"{len(result.wrong)} wrong: " + "; ".join(list(result.wrong.values())[:9]))
    expect(result.words["right"] > 700, result.line(version))


PAIRS = [  # PROBE, without its colon, what it prints of both calls
    ('main.call030 "%s|%v|%q|%d", goarg2, goarg2, goarg2, len(goarg2)',
     '?two words|?"two words"|?"two words"|9'),
    ('main.call030 (STRCMP("two words", goarg2)) "%s", goarg2', "?two words"),
    ('main.call030 (goarg2 == "two words" && len(goarg1) == 0) "%-12s|%.3q", goarg2, goarg2',
     '?two words  |?"two"'),
    ('main.call030 (STRCMP("two word", goarg2)) "%s", goarg2', None),
    ('main.call021 "%v|%s|%v|%q|%s", goarg3, goarg3, goarg4, goarg5, goarg5',
     'main.Reason("why")|why|3|' + "|".join(2 * ['main.Failure{Code:7, Text:"bad "}'])),
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
def trace_stripped_json(version):
    """In JSON a guess is an object with one key."""
    text, _ = trace_fixture("args", version, "-j", ":main.call006", ":main.call021", flavour="strip")
    first, second = [json.loads(line) for line in text.splitlines()][:2]
    strings = first["args"][2]["value"]
    expect(strings == [{"guess": "a"}, {"guess": "b"}], f"{strings}")
    held = [arg["value"] for arg in second["args"]]
    expect(held[:4] == [[0, 0], [0, 0], "why", 3], f"{held}")

# SPDX-License-Identifier: Apache-2.0
"""Breaks drawn by lot: what they change, and which tests they are tried with"""

import json
import os
import tempfile

from harness import TESTS, expect, test

# pylint: disable=wrong-import-order
import breaks
import coverage
import lottery

CODE = """#include <a>
BPF_ARRAY(room, u64, 6);
#if SIZE > 8
#define SIZE 16 /* > 3 */
#endif
static int sum(const struct row *row, size_t n)
{
	size_t i = 0, all = 0;

	if (!row || !shown(row, "a < b"))
		return -1;
	while (i < n)
		all += row[i++].ns; // if (x)
	json_member_uint(json, "ns", all);
	done(row, n);
	free(row);
	fprintf(out, "%zu ns\\n", all > max ? all : max);
	return all;
}
"""
SLIPS = {
    ("negate", '!(!row || !shown(row, "a < b"))'), ("logic", "&&"), ("compare", "<="), ("compare", ">="), ("assign", "="),
    ("constant", "17"), ("constant", "15"), ("constant", "1"), ("swap", "n < i"), ("swap", "n, row"), ("swap", "max > all"),
    ("drop", ";"), ("text", '"ns_"'), ("text", "us"), ("take", "max : all"),
}


@test()
def mutants_slips():
    """One thing for another, in code alone: no comment, no text but keys and units, nothing that frees"""
    got = {(slip.kind, slip.new) for slip in breaks.slips("a.c", CODE)}
    expect(SLIPS <= got and not {k for k, _ in got} - set(breaks.WEIGHTS), f"missing {SLIPS - got}")
    expect(not any(new in ("9", "7", "2", "4") for _, new in got), f"{got}")
    dropped = [CODE[s.start:s.end] for s in breaks.slips("a.c", CODE) if s.kind == "drop"]
    expect(dropped == ["return -1;", "all += row[i++].ns;", 'json_member_uint(json, "ns", all);', "done(row, n);",
                       'fprintf(out, "%zu ns\\n", all > max ? all : max);', "return all;"], f"{dropped}")
    for slip in breaks.slips("a.c", CODE):
        expect(slip.put(CODE).count("\n") == CODE.count("\n"), f"lines have moved: {slip.kind}")


@test()
def mutants_library():
    """What is built of common/ is what CMake calls the library, and no tool has that name."""
    with open(os.path.dirname(TESTS) + "/CMakeLists.txt", encoding="utf-8") as file:
        expect(f"add_library({lottery.COMPILED} STATIC" in file.read(), lottery.COMPILED)


@test()
def mutants_drawn():
    """The same seed, the same breaks, each once; another seed, others"""
    def order(seed, text=CODE):
        return [(slip.kind, slip.start, slip.new) for slip in breaks.drawn({"a.c": text, "b.c": ""}, seed)]

    every = order(1)
    expect(every == order(1) != order(2), "by seed")
    expect(sorted(every) == sorted(order(2)) == sorted((s.kind, s.start, s.new) for s in breaks.slips("a.c", CODE)), "each once")


class Copy:
    """What a break is tried in: here it fails the test `fails` as often as `times`."""

    def __init__(self, fails, times=9):
        self.fails, self.times, self.build, self.tried, self.texts = fails, times, "", [], {"common/a/b.c": "one\ntwo\n"}

    def read(self, path):
        return self.texts[path]

    def write(self, path, data):
        self.texts[path] = data.decode()

    def first_failing(self, near):
        self.tried.append(near)
        if not any(self.fails == name.rstrip("$") for name in near) or not self.times:
            return "", ""
        self.times -= 1
        return self.fails, "not ok"


class Lottery(lottery.Lottery):
    """Builds nothing."""

    def built(self, path):
        return self.copy.read(path).replace("same", "one")

    def is_there(self, test):
        return True


@test()
def mutants_near():
    """Tests that execute the line where it was when the map was made; units first, those of its room before
    others; what fails by chance has caught nothing"""
    with tempfile.TemporaryDirectory() as folder:
        for top, text in (folder + "/tree", "one\ntwo\n"), (folder, "new\none\nnew\ntwo\n"):
            os.makedirs(top + "/common/a")
            with open(top + "/common/a/b.c", "w", encoding="ascii") as file:
                file.write(text)
        with open(folder + "/map.json", "w", encoding="ascii") as file:
            json.dump({"tests": [["e2e/x/1.27", 2], ["unit/z", 1], ["unit/b", 1], ["e2e/y", 1]], "sets": [[0, 1, 2], [0], []],
                       "lines": {"common/a/b.c": {"1": 1, "2": 0}}}, file)
        where = coverage.Map(folder, folder)
        expect([where.line_then("common/a/b.c", n) for n in (1, 2, 3, 4)] == [0, 1, 1, 2], "lines have moved")
        for fails, times, said, tried in (("unit/b", 9, "unit/b", [["unit/b$", "unit/z$"]]),
                                          ("e2e/x/1.27", 9, "e2e/x/1.27", [["unit/b$", "unit/z$"], ["e2e/x/1.27$"], ["e2e/x/1.27$"]]),
                                          ("e2e/x/1.27", 1, "", [["unit/b$", "unit/z$"], ["e2e/x/1.27$"], ["e2e/x/1.27$"]])):
            copy = Copy(fails, times)
            copy.texts["common/a/b.c"] = "new\none\nnew\ntwo\n"
            lots = Lottery(copy, where, folder)
            outcome = lots.try_texts({"common/a/b.c": "new\none\nnew\nthree\n"}, "title", ValueError)
            expect((outcome.caught, copy.tried, outcome.room) == (said, tried, "common/a"), f"{outcome.caught} {copy.tried}")
            expect("-two\n+three\n" in outcome.patch and "two" in copy.texts["common/a/b.c"], outcome.patch)
            expect(lots.try_texts({"common/a/b.c": "new\nsame\nnew\ntwo\n"}, "title", ValueError) is None, "the same code")


def write_files(folder, texts):
    for path, text in texts.items():
        os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
        with open(f"{folder}/{path}", "w", encoding="ascii") as file:
            file.write(text)


@test()
def mutants_kernel_side():
    """Of the kernel's side: the tests that execute anything of whoever loads a program which the file is part of, and
    unit tests that load it, or include the file, themselves; those first whose names have most words of the file's"""
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, {"bpf-src/goone.bpf.c": '#include "parts/deep_calls.h"\n', "bpf-src/gotwo.bpf.c": "int two;\n",
                             "bpf-src/parts/deep_calls.h": '#include "words.h"\n', "bpf-src/parts/words.h": "int words;\n",
                             "tools/gothree.c": 'file = "goone.bpf.c";\n', "common/a/loader.c": '"goone.bpf.c"\n',
                             "tools/gotwo.c": 'file = "gotwo.bpf.c";\n', "tools/goone.c": "int one;\n",
                             "tests/unit/a/test_own.c": 'load("goone.bpf.c");\n', "tests/unit/a/test_no.c": "int no;\n",
                             "tests/unit/a/test_words.c": '#include "bpf-src/parts/words.h"\n',
                             "map.json": json.dumps({
                                 "tests": [["e2e/calls", 1], ["e2e/deep_calls", 9], ["e2e/quick", 1], ["e2e/two", 1], ["e2e/one", 1]],
                                 "sets": [[0, 2], [1], [3], [4]],
                                 "lines": {"tools/gothree.c": {"1": 0}, "common/a/loader.c": {"1": 1}, "tools/gotwo.c": {"1": 2},
                                           "tools/goone.c": {"1": 3}}})})
        lots = Lottery(Copy(""), coverage.Map(folder, folder), folder)
        for path in "bpf-src/goone.bpf.c", "bpf-src/parts/deep_calls.h", "bpf-src/parts/words.h":
            found = lots.tests_of(path, [1])
            want = {"unit/own", "e2e/calls", "e2e/deep_calls", "e2e/quick"}
            expect({name for name, _ in found} == want, f"{path}: {found}")
            units = lots.units_near(found, path)
            expect(units == (["unit/words$"] if "words" in path else []) + ["unit/own$"], f"{path}: {units}")
        near = lots.others_near(lots.tests_of("bpf-src/parts/deep_calls.h", [1]), "bpf-src/parts/deep_calls.h")
        expect(near == ["e2e/deep_calls$", "e2e/calls$", "e2e/quick$"], f"{near}")

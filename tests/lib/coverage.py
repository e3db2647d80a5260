# SPDX-License-Identifier: Apache-2.0
"""Which tests execute a line of the C code: made once, by the tests of a build with --coverage, and kept
outside the repository. A source that has changed since is followed line by line."""

import difflib
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import urllib.parse

FLAGS = "-O0 -g0 --coverage -fprofile-update=atomic"  # optimised, lines are mixed up
VERSIONS = "1.27"  # of Go, in the tests that trace: with more, they take as many times as long
RESULT = re.compile(r"(?:not )?ok (\w+/.*?)(?:: .*?)?(?:  # ([\d.]+) s.*)?$")
AT_ONCE = 200  # files that gcov is given
STATEMENT_LINES = 4  # that one may have
HEADER, ARCS = 16, 0x01a10000  # of GCC's gcov-io.h: bytes before the first record, the tag of counters


def run(argv, **kwargs):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace", check=False, **kwargs)


def make(source, folder, units_alone=False):
    """Builds the tree, runs all tests, or unit tests alone, and writes folder/map.json."""
    tree, build, covered = folder + "/tree", folder + "/build", folder + "/covered"
    for old in tree, covered:
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns(".git", "__pycache__", "build"))
    flags = ["-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS={FLAGS}"]
    targets = [os.path.basename(c)[:-2] for c in glob.glob(tree + "/tests/unit/*/test_*.c") if units_alone]
    for argv in ["cmake", "-S", tree, "-B", build, "-G", "Ninja", *flags], ["ninja", "-C", build, *targets]:
        done = run(argv)
        if done.returncode:
            raise OSError(f"{argv[0]} fails: {done.stdout[-2000:]}")
    seconds, traced = {}, ["--group", "cli e2e", "--times", "--all", "--build", build, "--versions", VERSIONS]
    run_tests([tree + "/tests/unit-run", "unit", build], build, covered, seconds)
    if not units_alone:
        run_tests([tree + "/tests/e2e/harness.py", *traced], build, covered, seconds)
    write(folder, tree, build, covered, seconds)


def run_tests(argv, build, covered, seconds):
    """Runs tests, and notes how long each took."""
    strip = str(build.count("/"))
    env = dict(os.environ, GOTOOLS_COVERED=covered, GCOV_PREFIX_STRIP=strip)
    for line in run(argv, env=env).stdout.splitlines():
        found = RESULT.match(line)
        if found:
            seconds[found[1]] = float(found[2] or 1)
        if line.startswith("not ok"):
            print(line, flush=True)


def write(folder, tree, build, covered, seconds):
    """Makes one map of what gcov tells of each test: {path: {line: number of a set}}, sets of tests, tests."""
    tests, lines = [], {}
    for name in sorted(os.listdir(covered)):
        test = urllib.parse.unquote(name)
        if not test.startswith(("cli/", "e2e/")):  # a unit test's program
            test = "unit/" + os.path.basename(test).removeprefix("test_")
        tests.append([test, round(seconds.get(test, 1), 1)])
        for path, counts in line_counts(tree, build, f"{covered}/{name}"):
            of_file = lines.setdefault(path, {})
            for line, count in counts.items():
                of_file.setdefault(line, set()).update([len(tests) - 1] if count else [])
    sets, numbers = [], {}
    for of_file in lines.values():
        for line, found in of_file.items():
            key = tuple(sorted(found))
            if key not in numbers:
                numbers[key] = len(sets)
                sets.append(key)
            of_file[line] = numbers[key]
    with open(folder + "/map.json", "w", encoding="utf-8") as file:
        json.dump({"tests": tests, "sets": sets, "lines": lines}, file)


def line_counts(tree, build, covered):
    """(path in the tree, {line: how often it was executed}) of the files of which one test executed something"""
    data = [path for path in glob.glob(covered + "/**/*.gcda", recursive=True)
            if ".dir/tests/" not in path and counts_anything(path)]
    for path in data:
        notes = os.path.splitext(path)[0] + ".gcno"
        if not os.path.lexists(notes):
            os.symlink(build + notes.removeprefix(covered), notes)
    for i in range(0, len(data), AT_ONCE):
        for said in run(["gcov", "--json-format", "--stdout", *data[i:i + AT_ONCE]]).stdout.splitlines():
            for file in json.loads(said)["files"] if said.startswith("{") else []:
                path = os.path.relpath(os.path.join(build, file["file"]), tree)
                if not path.startswith(("..", "tests")):
                    yield path, {line["line_number"]: line["count"] for line in file["lines"]}


def counts_anything(path):
    """Is a counter in gcov's data above 0? Where all of a function are 0, GCC writes their length negated."""
    with open(path, "rb") as file:
        data = file.read()
    at = HEADER
    while at + 8 <= len(data):
        tag, size = struct.unpack_from("=Ii", data, at)
        if tag == ARCS and size > 0:
            return True
        at += 8 + max(size, 0) if tag else 4
    return False


class Map:
    """The map, for a tree that may have changed since it was made"""

    def __init__(self, folder, source):
        with open(folder + "/map.json", encoding="utf-8") as file:
            self.__dict__.update(json.load(file))
        self.tree, self.source, self.moved = folder + "/tree", source, {}

    def line_then(self, path, line):
        """Which line it was; of a new one the line before it"""
        if path not in self.moved:
            texts = []
            for top in self.tree, self.source:
                try:
                    with open(f"{top}/{path}", encoding="utf-8") as file:
                        texts.append(file.read().splitlines())
                except FileNotFoundError:
                    texts.append([])
            self.moved[path] = difflib.SequenceMatcher(None, *texts, autojunk=False).get_matching_blocks()
        before = 0
        for then, now, count in self.moved[path]:
            if now < line <= now + count:
                return then + line - now
            if line > now + count:
                before = then + count
        return before

    def tests_of(self, path, line):
        """[(test, seconds)] that execute a line, or one beside it, as a statement may have several. Of a table, or a
        declaration: that execute anything of its file"""
        line, of_file = self.line_then(path, line), self.lines.get(path, {})
        near = [of_file.get(str(at)) for at in range(line - STATEMENT_LINES + 1, line + STATEMENT_LINES)]
        near = [number for number in near if number is not None]
        if not near:
            return self.tests_in(path)
        return [tuple(self.tests[i]) for i in sorted({i for number in near for i in self.sets[number]})]

    def tests_in(self, path):
        """[(test, seconds)] that execute anything of a file"""
        found = {i for number in self.lines.get(path, {}).values() for i in self.sets[number]}
        return [tuple(self.tests[i]) for i in sorted(found)]

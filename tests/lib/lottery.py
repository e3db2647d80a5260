# SPDX-License-Identifier: Apache-2.0
"""Breaks drawn by lot, and patches: each is tried with the tests that execute what it changes."""

import collections
import difflib
import glob
import os
import re
import shutil
import subprocess
import tempfile

from breaks import drawn

ROOMS = ["common", "bpf-src", "tools"]
UNITS, OTHERS = 12, 24    # tests that are tried, of those that execute a line
KERNEL_UNITS, KERNEL_OTHERS = 24, 48  # ... that load a program: which lines of it they execute is not known
COMPILED = "gotools-common"  # the library of all of common/
SAME_KIND = re.compile(r"[a-z]{4,}")
HANGS = ", or another, hangs"
NOT_COMPILED = "does not compile: "


def sources(top, paths):
    """{path: text} of the C files of these paths, or of all"""
    found = {}
    for path in paths or ROOMS:
        here = os.path.join(top, path.rstrip("/"))
        for file in glob.glob(here + "/**/*.[ch]", recursive=True) if os.path.isdir(here) else [here]:
            if not file.startswith(top + "/bpf-src/include/"):  # kernel's own
                with open(file, encoding="utf-8") as text:
                    found[os.path.relpath(file, top)] = text.read()
    return found


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "common" else parts[0]


class Outcome:
    """What became of a break: the test that caught it, "" if none did; None: it is not to be counted"""

    def __init__(self, title, room, caught, patch, ran=0):
        self.title, self.room, self.caught, self.patch, self.ran = title, room, caught, patch, ran


class Lottery:
    """Tries breaks in a copy of the tree, with the tests that a map names."""

    def __init__(self, copy, where, source, units_alone=False):
        self.copy, self.where, self.source, self.units_alone = copy, where, source, units_alone
        self.right = {}  # target: its bytes without a break

    def units_near(self, found, path):
        """Unit tests: the module's own, those of its room, all others; whole names, as no others are built"""
        module, room = os.path.splitext(os.path.basename(path))[0], os.path.basename(os.path.dirname(path))

        def far(test):
            name = test.split("/")[1]
            own = glob.glob(f"{self.source}/tests/unit/{room}/test_{name}.c")
            return (name != module, not name.startswith(module), test not in included, not own, name)
        included = self.units_with(path)
        near = sorted({t for t, _ in found if t.startswith("unit/") and self.is_there(t)} | included, key=far)
        return [test + "$" for test in near[:KERNEL_UNITS if path.startswith("bpf-src/") else UNITS]]

    def units_with(self, path):
        """Unit tests that include a file of bpf-src/, by whatever others, or are a module's own, which may execute
        it in a child, of which coverage knows nothing"""
        if not path.startswith("bpf-src/"):
            module = os.path.splitext(os.path.basename(path))[0].removesuffix("_internal")
            names = glob.glob(f"{self.source}/tests/unit/*/test_{module}.c")
            return {"unit/" + os.path.basename(name)[5:-2] for name in names}
        users = [f'"{user}"' for user in self.users_of(path)]
        tests = sources(self.source, ["tests/unit"]).items()
        return {"unit/" + os.path.basename(test)[5:-2] for test, text in tests
                if os.path.basename(test).startswith("test_") and any(user in text for user in users)}

    def is_there(self, test):
        return glob.glob(f"{self.source}/tests/unit/*/test_{test.split('/')[1]}.c")

    def others_near(self, found, path):
        """Tests that run tools: those first whose names share most words with the file's, and the quick ones; none
        twice before each has come once"""
        words, taken, rows = set(SAME_KIND.findall(path)), collections.Counter(), []
        for test, seconds in sorted((t for t in found if not t[0].startswith("unit/")), key=lambda t: t[1]):
            name = "/".join(test.split("/")[:2])
            rows.append((taken[name], -len(words & set(SAME_KIND.findall(name))), seconds, test))
            taken[name] += 1
        return [row[-1] + "$" for row in sorted(rows)[:KERNEL_OTHERS if path.startswith("bpf-src/") else OTHERS]]

    def tests_of(self, path, lines):
        """[(test, seconds)] that execute any of these lines; of the kernel's side, that load the program"""
        found = {t for line in lines for t in self.where.tests_of(path, line)}
        if not path.startswith("bpf-src/"):
            return found
        loaded = [f'"{os.path.basename(p)}"' for p in self.users_of(path) if os.path.dirname(p) == "bpf-src"]
        for user, text in sources(self.source, ["tools", "common", "tests/unit"]).items():
            if any(name in text for name in loaded):
                found |= set(self.where.tests_in(user))
                if os.path.basename(user).startswith("test_"):
                    found.add(("unit/" + os.path.basename(user)[5:-2], 1))
        return found

    def users_of(self, path):
        """The file of bpf-src/, and those that it is part of"""
        users, todo = set(), [path]
        texts = sources(self.source, ["bpf-src"])
        while todo:
            one = todo.pop()
            users.add(one)
            said = f'include "{one.removeprefix("bpf-src/")}"'
            beside = f'include "{os.path.basename(one)}"'
            todo += [p for p, text in texts.items() if p not in users and
                     (said in text or beside in text and os.path.dirname(p) == os.path.dirname(one))]
        return users

    def target(self, path):
        """What is built of a file first: (target, its path)"""
        name = os.path.splitext(os.path.basename(path))[0]
        return (name, name) if path.startswith("tools/") and path.endswith(".c") else (COMPILED, f"lib{COMPILED}.a")

    def built(self, path):
        """The bytes of what is built of a file"""
        target, name = self.target(path)
        self.copy.build_targets([target])
        with open(f"{self.copy.build}/{name}", "rb") as file:
            return file.read()

    def learn(self, paths):
        """What is built of the files, without a break"""
        for path in paths:
            if self.target(path) not in self.right:
                self.right[self.target(path)] = self.built(path)

    def try_texts(self, texts, title, trouble):
        """texts: {path: its text with the break}; an Outcome, or None"""
        before = {path: self.copy.read(path) for path in texts}
        self.learn(texts)
        patch = "".join(line for path in texts for line in difflib.unified_diff(
            before[path].splitlines(True), texts[path].splitlines(True), "a/" + path, "b/" + path))
        try:
            for path, text in texts.items():
                self.copy.write(path, text.encode())
            try:
                if all(self.built(path) == self.right[self.target(path)] for path in texts):
                    return None
            except trouble:
                return None
            try:
                caught, ran = self.caught(texts, before)
            except trouble as why:  # a test does not compile with it
                print(f"# {title}: {why}", flush=True)
                return None
        finally:
            for path, text in before.items():
                self.copy.write(path, text.encode())
        if caught == NOT_COMPILED:
            return None
        return Outcome(title, room_of(next(iter(texts))), caught, patch, ran)

    def caught(self, texts, before):
        """The test that fails, or ""; how many were run"""
        found = set()
        for path, text in texts.items():
            found |= self.tests_of(path, changed_lines(before[path], text))
        path, ran = next(iter(texts)), 0
        for near in self.units_near(found, path), [] if self.units_alone else self.others_near(found, path):
            while near:
                test, said = self.copy.first_failing(near)
                if NOT_COMPILED in said and path.startswith("bpf-src/"):
                    return NOT_COMPILED, ran
                ran += len(near)
                if not test or test.startswith("unit/") or HANGS in test or self.copy.first_failing([test + "$"])[0]:
                    break
                near = [t for t in near if t != test + "$"]  # it has failed by chance
            else:
                test = ""
            if test:
                return test, ran
        return "", ran


def changed_lines(old, new):
    """Lines of the old text that the new one has otherwise"""
    found, matcher = set(), difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    for word, first, last, _, _ in matcher.get_opcodes():
        if word != "equal":
            found |= set(range(first + 1, max(last, first + 1) + 1))
    return found


def by_lot(lottery, count, seed, paths, trouble):
    """Outcomes of `count` breaks"""
    texts = sources(lottery.source, paths)
    for slip in drawn(texts, seed):
        if not count:
            return
        text = texts[slip.path]
        old = " ".join(text[slip.start:slip.end].split())
        title = f"{slip.path}:{slip.line(text)} {slip.kind}: {old[:60]} -> {' '.join(slip.new.split())[:60]}"
        outcome = lottery.try_texts({slip.path: slip.put(text)}, title, trouble)
        if outcome:
            count -= 1
            yield outcome


def of_patches(lottery, files, trouble):
    """Outcomes of patches, which change the C code"""
    for file in files:
        with open(file, encoding="utf-8") as text:
            paths = [p for p in re.findall(r"^\+\+\+ b/(\S+)", text.read(), re.M)]
        with tempfile.TemporaryDirectory() as folder:
            for path in paths:
                os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
                with open(f"{folder}/{path}", "w", encoding="utf-8") as text:
                    text.write(lottery.copy.read(path))
            done = subprocess.run(["patch", "-s", "-p1", "-d", folder, "-i", os.path.abspath(file)], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
            if done.returncode or not paths:
                raise trouble(f"{file} does not fit: {done.stdout}")
            texts = {path: sources(folder, [path])[path] for path in paths}
        yield lottery.try_texts(texts, os.path.basename(file), trouble) or \
            Outcome(os.path.basename(file), room_of(paths[0]), "the compiler, or changes nothing", "")


def report(outcomes, folder):
    """Prints each outcome as it comes, then survivors as patches, and the score by room. False: one survived"""
    done, survivors = [], []
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for outcome in outcomes:
        done.append(outcome)
        print(f"caught {outcome.title} by {outcome.caught}" if outcome.caught else
              f"survived {outcome.title} ({outcome.ran or 'no'} tests)", flush=True)
        if not outcome.caught:
            survivors.append(outcome)
            with open(f"{folder}/{len(survivors):03}.patch", "w", encoding="utf-8") as file:
                file.write(outcome.patch)
    for number, outcome in enumerate(survivors, 1):
        print(f"\nsurvivor {number}: {outcome.title}\n{outcome.patch}", end="")
    print()
    for room in sorted({outcome.room for outcome in done}):
        of_room = [outcome for outcome in done if outcome.room == room]
        caught = sum(1 for outcome in of_room if outcome.caught)
        print(f"{room:24}{caught:4} of {len(of_room):3}")
    share = 100 * (len(done) - len(survivors)) // max(len(done), 1)
    print(f"{len(done) - len(survivors)} caught, {len(survivors)} survived: {share} %; patches in {folder}")
    return not survivors

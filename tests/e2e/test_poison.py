# SPDX-License-Identifier: Apache-2.0
"""Names that somebody has chosen to harm those who read them: what every tool makes of them."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unicodedata

from harness import PATIENCE, TESTS, Skip, expect, newest, run, test, tool_path
from poison import LENGTH, MARK, NAMES, badly_called, poisoned

ACTED_ON = {0x61c, 0x200e, 0x200f, 0xfeff, *range(0x2028, 0x202f), *range(0x2066, 0x206a)}
EMITTED = ["bpftrace", "bpftrace:latency", "bpftrace:args", "bpftrace:skeleton", "uprobe_events",
           "perf"]
# what they must have come across, as it is shown
SEEN = [r"\x1b]0;title\x07", r"\u009b31m", r"\u202e\u2066\u200f\u2028", r"\xff\xfe\xc0\x80", r"\n//"]
# of a function, what gotrace refuses with words of the program's
PROBES = [b' "%d", nosuch', b' "%d", goarg1.nosuch', b' "%d", goarg1', b"(x int, y [4]string)",
          b" (goarg1 > 3)"]


class Output:
    """What a command wrote"""

    def __init__(self, tool, *args, cwd, status=0):
        argv = [tool if tool.startswith("/") else tool_path(tool), *args]
        self.what = " ".join([os.path.basename(tool), *map(repr, args)])
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False, cwd=cwd)
        self.out, self.err = (self.checked(text) for text in (done.stdout, done.stderr))
        expect(status in (None, done.returncode), f"{self.what}: {done.returncode}: {self.err[-500:]}")
        expect(not os.path.exists(f"{cwd}/{MARK}"), f"{self.what} ran a command")

    def checked(self, data):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            expect(False, f"{self.what}: {error}: {data[max(error.start - 40, 0):error.end]}")
        for i, c in enumerate(text):
            expect(c in "\n\t" or unicodedata.category(c) != "Cc" and ord(c) not in ACTED_ON,
                   f"{self.what}: U+{ord(c):04x} in {text[max(i - 40, 0):i]!r}")
        return text

    def shows(self, *some):
        for text in some:
            expect(text in self.out + self.err,
                   f"{self.what} does not show {text}: {(self.out + self.err)[-500:]}")
        return self

    def objects(self, kind):
        """JSON and nothing else, a line each"""
        found = [json.loads(line) for line in self.out.splitlines()]
        expect(found and all(f["type"] == kind for f in found), f"{self.what}: {self.out[-500:]}")
        return found

    def lines_are(self, *patterns):
        """Each line is of one of these shapes"""
        for line in self.out.splitlines():
            expect(any(re.fullmatch(p, line) for p in patterns), f"{self.what}: a line {line!r}")
        return self


def without_text(script):
    """Of a script for bpftrace what is neither comment nor string"""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*', lambda m: "''" if m[0][0] == '"' else "", script)


def no_words(output, text):
    for word in ("pwned", "system", "touch", "XXX", "forged", "title"):
        expect(word not in text, f"{output.what}: {word} stands alone: {text[:2000]}")


def flavours():
    return [newest(), "1.19"]


@test(version=flavours)
def poison_lists(version):
    with tempfile.TemporaryDirectory() as folder:
        path = poisoned(folder, version)
        Output("gofuncs", path + ":main.*", cwd=folder).shows(*SEEN).lines_are(r"main\..*")
        details = Output("gofuncs", "-v", "--inlined", path + ":main.*", cwd=folder)
        details.shows(*SEEN, "debug information", r"\x1b\n\x9b")
        details.lines_are(r"main\..*", r"    (?:[a-z]| ).*")
        rows = Output("gofuncs", "-j", "--inlined", path + ":main.*", cwd=folder).objects("func")
        expect(sum(r["func"].startswith("main.funcXX") and "\x1b]0;title\x07" in r["func"]
                   for r in rows) == 1,
               f"{rows}")


@test(version=flavours)
def poison_emitted(version):
    """No line of a script is anybody's but ours."""
    place = r"uprobe:/[\w/.+@-]+:0x[0-9a-f]+"
    fetch = r"(?: \w+=[%+][\w%()+-]+:[sux]\d+)*"
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = poisoned(folder, version)
        for tracer in EMITTED:
            for inlined in ([], ["--inlined"]):
                out = Output("gofuncs", f"--emit={tracer}", *inlined, path + ":main.*", cwd=folder)
                if tracer == "uprobe_events":
                    out.lines_are(r"# .*", rf"p:gotools/\w+ /[\w/.+@-]+:0x[0-9a-f]+{fetch}")
                elif tracer == "perf":
                    out.lines_are(r"# [^'\"`$;&|<>!]*", r"# filter of \w+: [!(]+flags [ &!()\w]*", r"perf probe -f -x /[\w/.+@-]+ --add "
                                  rf"'gotools:\w+=0x[0-9a-f]+{fetch}'")
                else:
                    out.lines_are(rf"{place}(?: //.*| \{{.*|,|, //.*)?", rf"(?:{place})? /[^/]*/(?: \{{.*)?", r"//.*", r"[{}]|END",
                                  r"BEGIN(?: \{ printf\(.*)?", r"\t.*", "")
                    no_words(out, without_text(out.out))


@test(version=lambda: [newest()])
def poison_scripts_run(version):
    """bpftrace and a shell read the scripts, and run what is ours: with their names three calls of
    each function."""
    if not shutil.which("bpftrace"):
        raise Skip("bpftrace is not installed")
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = poisoned(folder, version)
        for tracer in EMITTED[:4]:
            out = Output("gofuncs", f"--emit={tracer}", path + ":main.func*", cwd=folder)
            with open(folder + "/script", "w", encoding="utf-8") as file:
                file.write(out.out)
            ran = run(["/usr/bin/bpftrace", "--unsafe", folder + "/script", "-c", path + " now"],
                      cwd=folder)
            expect(ran.returncode == 0 and not os.path.exists(f"{folder}/{MARK}"),
                   f"{tracer}: {ran.returncode}, {os.listdir(folder)}: {ran.stderr[-800:]}")
            if tracer == "bpftrace":
                counts = re.findall(r"^@calls\[\d+:.*\]: 3$", ran.stdout, re.M)
                expect(len(set(counts)) == len(NAMES), ran.stdout)


@test(version=lambda: [newest()])
def poison_shell(version):
    """A shell that runs perf's lines runs perf alone."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = poisoned(folder, version)
        out = Output("gofuncs", "--emit=perf", path + ":main.*", cwd=folder)
        with open(folder + "/perf", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho \"$*\" >>words\n")
        os.chmod(folder + "/perf", 0o755)
        done = run(["sh", "-c", out.out], cwd=folder, env={"PATH": folder + ":/usr/bin:/bin"})
        expect(not done.stderr, done.stderr)
        with open(folder + "/words", encoding="utf-8") as words:
            expect(len(words.readlines()) == out.out.count("\nperf "), "perf was not run")
        for line in out.out.splitlines():
            if line[0] == "#":  # which some shells take for a command, if it is typed
                run(["bash", "-c", ":" + line[1:]], cwd=folder)
        expect(not os.path.exists(f"{folder}/{MARK}"), "a comment ran a command")


@test(version=lambda: [newest()])
def poison_counted(version):
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = poisoned(folder, version)
        command = [":main.*", "--", path, "now"]
        Output("gofunccount", "-D", "--inlined", *command, cwd=folder).shows(*SEEN)
        rows = Output("gofunccount", "-j", *command, cwd=folder)
        text = [line for line in rows.out.splitlines() if line.startswith('{"type"')]
        counts = {r["func"]: r["count"] for r in map(json.loads, text)}
        expect(list(counts.values()).count(3) >= 2 * len(NAMES) and "forged" not in counts,
               f"{counts}")
        Output("gofunclatency", "-F", *command, cwd=folder).shows(*SEEN)
        Output("gofunclatency", "-v", *command, cwd=folder)
        out = Output("gofunclatency", "-j", "-F", *command, cwd=folder).out
        timed = [json.loads(x) for x in out.splitlines() if x.startswith('{"type"')]
        expect(sum(r["count"] == 3 for r in timed) >= 2 * len(NAMES), f"{timed}")


@test(version=lambda: [newest()])
def poison_traced(version):
    """Values as well are what the program makes them."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = poisoned(folder, version)
        command = ["--", path, "now"]
        Output("gotrace", "r::main.func*", *command, cwd=folder).shows(*SEEN, "main.typeXX")
        Output("gotrace", "-v", "-U", "-a", ":main.func*", *command, cwd=folder).shows(*SEEN)
        Output("gotrace", "-A", "-T", "r::main.func* \"%s %v %+v\", $func, err, goarg1", *command,
               cwd=folder)
        out = Output("gotrace", "-j", "-U", "r::main.func*", *command, cwd=folder).out
        calls = [json.loads(x) for x in out.splitlines() if x.startswith('{"type"')]
        expect(len(calls) == 3 * len(NAMES), f"{len(calls)} calls")
        Output("goerrors", "main.func*", *command, cwd=folder).shows(r"\x1b[31m")
        Output("gofuncslower", "-u", "0", "main.func*", *command, cwd=folder)


@test(version=lambda: [newest()])
def poison_errors(version):
    """Messages that quote names, and those that offer near ones"""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = poisoned(folder, version)
        at = os.fsencode(path) + b":"
        for i, name in enumerate(NAMES):
            near = b"main.func" + b"X" * (LENGTH - 4 - len(name)) + name[:-1] + b"~"
            tool = ("gofuncs", "gofunccount", "gofunclatency", "gotrace")[i % 4]
            said = Output(tool, at + near, cwd=folder, status=1)
            expect(tool == "gotrace" or "near names: main.funcXX" in said.err, said.err)
        for one in (b"title*", b"\xe2\x80\xae*", b"\xff\xfe*", b"//", b"forged*"):
            for probe in PROBES:
                Output("gotrace", "-d", "0.1", at + b"main.func*" + one + probe, cwd=folder,
                       status=None)
        # the file that a stripped one names for its debug information
        link = os.path.join(os.fsencode(folder), b"\x1b[31m\n\xe2\x80\xae\xff.debug")
        shutil.copy(path, link)
        done = run(["objcopy", "--strip-all", b"--add-gnu-debuglink=" + link, path])
        expect(done.returncode == 0, done.stderr)
        os.remove(link)
        for probe in PROBES + [b' "%d", param']:
            Output("gotrace", "-d", "0.1", at + b"main.func*title*" + probe, cwd=folder,
                   status=None)


@test(version=lambda: [newest()])
def poison_path(version):
    """A program's path, and the name of its process"""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = badly_called(folder, poisoned(folder, version))
        command = ["--", path, "now"]
        Output("gofuncs", path + b":main.main", cwd=folder).shows("main.main")
        Output("gofuncs", path + b":main.nosuch", cwd=folder, status=1)
        Output("gofuncs", path + b"x:main.main", cwd=folder, status=1)
        for tracer in EMITTED:
            out = Output("gofuncs", f"--emit={tracer}", path + b":main.main", cwd=folder, status=1)
            expect(not out.out, out.out)
        Output("gofunccount", "-D", ":main.*", *command, cwd=folder)
        Output("gofunclatency", path + b":main.*", *command, cwd=folder)
        Output("gotrace", ":main.main", "r::main.func*", *command, cwd=folder)
        Output("gotrace", "-j", ":main.main", "r::main.func*", *command, cwd=folder)
        for recipe in ("goerrors", "gofuncslower", "gohttpsnoop", "gopanics"):
            words = [b":main.*"] if recipe in ("goerrors", "gofuncslower") else []
            Output(recipe, *words, "--show", *command, cwd=folder, status=None)

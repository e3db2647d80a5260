# SPDX-License-Identifier: Apache-2.0
"""What Tab and Enter run: an interactive bash, and functions whose names are commands."""

import os
import pty
import select
import signal
import tempfile
import time

from harness import TESTS, expect, test

# one that is not ours would leave a file of this name
MARK = "pwned"
HOSTILE = [
    "';>pwned;'", "'\t;>pwned #", "\";>pwned;\"", "$(>pwned)", "`>pwned`",
    "\\';>pwned;\\'", "\\\";>pwned;\\\"", ";>pwned;", "&>pwned&",
    "|>pwned|", "!true", "\"!true\"", "\n;>pwned;", "\\n';>pwned;'", "<(>pwned)",
    ">pwned", "\x16\n>pwned\n", "\x1b\n>pwned\n", "\r>pwned\r", "${x:=$(>pwned)}",
    "'$(>pwned)'", "\"$(>pwned)\"", "\"'$(>pwned)'\"", "\xc2\x9b;>pwned;",
    "'\x0a>pwned\x0a'", "'&&>pwned&&'", "'||>pwned||'", "'$'\\n'>pwned",
]
HARMLESS = ["(*T).Foo", "Map[...]", "Größe", "a-fm", "v2%2ey"]
# what is typed before the word, and what begins it
LINES = ["'", "\"", "", "\"it's\" '", "it\\'s '", "'a' \"", "\"a\"'b' '", "\"a\\\" b\" '"]
ODD_LINES = ["$'", "$\"", "\"$(true '", "`true '", "$(true \"", "\"`true \"", "{ true '"]
STUB = """#!/bin/bash
for last; do :; done
last=${last#*:} last=${last%\\*}
while IFS= read -r -d '' name; do
	[[ $name == "$last"* ]] && printf '%s\\n' "$name"
done <"$NAMES"
"""
TAKEN = """#!/bin/bash
printf '%s\\n' "$@" >>taken
"""


class Bash:
    """An interactive one, in `folder`, that has read the completions"""

    def __init__(self, folder):
        env = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": folder, "TERM": "dumb",
               "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "NAMES": f"{folder}/names",
               "INPUTRC": "/dev/null", "HISTFILE": "/dev/null"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.chdir(folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], env)
        self.said, self.synced = b"", 0
        # not in the prompt, which is shown again below a list of names
        self.line("PROMPT_COMMAND='printf \"<on\"\"e>\"' PS1='$ ' PS2='<tw''o>'")
        self.until(b"<one>")
        for line in ("bind 'set bell-style none'", "bind 'set show-all-if-ambiguous on'",
                     "bind 'set enable-bracketed-paste off'", "bind 'set page-completions off'",
                     f". {TESTS}/../tools/bash-completion/gotools"):
            self.run(line)

    def line(self, text):
        os.write(self.fd, text.encode() + b"\r")

    def until(self, *marks, nudge=b""):
        """The mark that came first; `nudge` is typed until one does"""
        end = time.monotonic() + 20
        while not any(mark in self.said for mark in marks):
            expect(time.monotonic() < end, f"no prompt: {self.said[-300:]}")
            if select.select([self.fd], [], [], 0.2)[0]:
                self.said += os.read(self.fd, 65536)
            elif nudge:  # a signal that comes while the prompt is written waits for a key
                os.write(self.fd, nudge)
        found = next(mark for mark in marks if mark in self.said)
        self.said = self.said[self.said.index(found) + len(found):]
        return found

    def run(self, text):
        """A line, and Ctrl-C where it has not ended with it"""
        self.line(text)
        if self.until(b"<one>", b"<two>") == b"<two>":
            os.write(self.fd, b"\x03")
            self.until(b"<one>", nudge=b"\x03")
            self.synced += 1
            self.line(f"printf '<%s>' {self.synced}")
            self.until(f"<{self.synced}>".encode())
            self.until(b"<one>")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def prepare(folder, names):
    """Tools, the names that gofuncs knows, and a program"""
    os.mkdir(folder + "/bin")
    for name, text in (("gofuncs", STUB), ("gofunccount", TAKEN), ("gotrace", TAKEN)):
        with open(f"{folder}/bin/{name}", "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(f"{folder}/bin/{name}", 0o755)
    with open(folder + "/names", "wb") as out:
        for name in names:
            out.write(name.encode() + b"\0")


def taken(folder):
    """The words that a tool was given since"""
    path = folder + "/taken"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as lines:
        words = lines.read().splitlines()
    os.remove(path)
    return words


@test(tool=["gofunccount", "gotrace"])
def completion_runs_nothing(tool):
    """A function whose name is a command, after Tab and Enter, in quotes of every kind"""
    names = [f"main.h{i:02}{name}" for i, name in enumerate(HOSTILE)]
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, names)
        bash = Bash(folder)
        try:
            bash.run("true \"; >pwned; \"")
            for begin in LINES + ODD_LINES if tool == "gofunccount" else LINES[:3]:
                for i, name in enumerate(HOSTILE):
                    bash.run(f"{tool} {begin}app:main.h{i:02}\t")
                    if begin in LINES[:2]:
                        bash.run(f"{tool} {begin}app:main.h{i:02}\t{begin}")
                    expect(not os.path.exists(f"{folder}/{MARK}"),
                           f"{name!r} ran a command after {begin}")
        finally:
            bash.close()


@test()
def completion_of_harmless_names():
    """They arrive as they are called, in quotes of every kind."""
    names = [f"main.h{i:02}{name}" for i, name in enumerate(HARMLESS)]
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, names)
        bash = Bash(folder)
        try:
            for begin in LINES:
                for i, name in enumerate(names):
                    plain = name.split("[", maxsplit=1)[0].replace("%2e", ".")
                    offered = [f"app:{part}" for part in (plain, plain[:plain.rfind(".") + 1])]
                    bash.run(f"gofunccount {begin}app:main.h{i:02}\t")
                    got = taken(folder)
                    expect(got and got[-1] in offered, f"{name}: {got} after {begin}")
        finally:
            bash.close()


@test()
def completion_of_odd_files():
    """A program or a folder whose name is a command is not offered either."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, [])
        os.mkdir(folder + "/d")
        for i, name in enumerate(HOSTILE):
            if "/" not in name:
                with open(f"{folder}/d/h{i:02}{name}", "w", encoding="utf-8"):
                    os.chmod(f"{folder}/d/h{i:02}{name}", 0o755)
        bash = Bash(folder)
        try:
            bash.run("true \"; >pwned; \"")
            for begin in LINES[:3]:
                for i, name in enumerate(HOSTILE):
                    bash.run(f"gofunccount {begin}d/h{i:02}\t")
                    expect(not os.path.exists(f"{folder}/{MARK}"),
                           f"file {name!r} ran a command after {begin}")
        finally:
            bash.close()

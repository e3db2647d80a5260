# SPDX-License-Identifier: Apache-2.0
"""gotop in a terminal of tmux's: what it shows of programs that run, what keys do, and how it leaves the terminal."""

import os
import pty
import re
import signal
import subprocess
import tempfile
import time

from harness import PATIENCE, Failure, Target, expect, newest, run, test, tool_path, two_versions

HEAD = "    PID COMMAND     GORS  RUN RUNQ  THR  HEAP  GOAL ALLOC  GC PAUSE   RSS  CPU"


class Screen:
    """A terminal of 80 columns and 24 lines, in which gotop runs"""

    def __init__(self, *args, size=(80, 24)):
        self.folder = tempfile.TemporaryDirectory(prefix="bcc-gotools-")
        self.socket = self.folder.name + "/tmux"
        command = " ".join([tool_path("gotop"), *map(str, args)])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", size[0], "-y", size[1],
                  f"echo before; {command}; echo ended with $?; exec sleep 1000")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *map(str, args)], stdout=subprocess.PIPE, check=True,
                              stdin=subprocess.DEVNULL, text=True, env=dict(os.environ, LC_ALL="C.UTF-8")).stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def text(self):
        return self.tmux("capture-pane", "-p")

    def until(self, pattern, message=""):
        """The screen, once it has what is looked for"""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, text := self.text(), re.M):
            if time.monotonic() > end:
                raise Failure(f"{message} no {pattern!r} on the screen: {text}")
            time.sleep(0.05)
        return text

    def press(self, key, pattern):
        """A key that changes nothing if it comes twice: one may be lost while the size changes."""
        end = time.monotonic() + PATIENCE
        self.keys(key)
        while not re.search(pattern, self.text(), re.M):
            if time.monotonic() > end:
                raise Failure(f"{key}: no {pattern!r} on the screen: {self.text()}")
            time.sleep(0.5)
            self.keys(key)

    def rows(self):
        return re.findall(r"^ *(\d+) (\S+) +(\d+) ", "\n".join(self.text().splitlines()[3:-1]), re.M)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")
        self.folder.cleanup()


def row(target, goroutines):
    return rf"^ *{target.target_pid} stats +{goroutines} "


@test(version=two_versions)
def gotop_rows(version):
    """Programs that run, those that come and go, and one chosen row that stays so"""
    with Target("stats", version, "strip") as one, Screen("-n", "stats", "-i", "200ms") as screen:
        text = screen.until(row(one, 41))
        expect(text.splitlines()[2] == HEAD, text)
        expect(all(len(line) <= 80 for line in text.splitlines()), text)
        with Target("stats", version, "strip", args=["waiting=7"]) as two:
            text = screen.until(row(two, 8), "one that has come:")
            expect(re.search(row(one, 41), text, re.M) and re.match(r"gotop \d\d:\d\d:\d\d  \d+ Go programs, \d+ goro", text), text)
        screen.until(rf"\A(?![\s\S]*^ *{two.target_pid} )", "one that has ended:")
        screen.keys("q")
        screen.until(r"^before\nended with 0$")


@test()
def gotop_keys():
    """Sorted, reversed, filtered; and no key is taken for another"""
    with Target("stats", newest(), "strip") as one, Target("stats", newest(), "strip", args=["waiting=7"]) as two, \
            Screen("-i", "200ms", one.target_pid, two.target_pid) as screen:
        pids = [str(t.target_pid) for t in (one, two)]
        screen.until(r"^gotop [\d:]+  2 Go programs, 49 goroutines, \d+% CPU, sorted by CPU$")
        screen.keys(">")
        screen.until(r"sorted by PID$")
        expect([r[0] for r in screen.rows()] == sorted(pids, key=int), f"{screen.text()}")
        screen.keys("Right", "Right")
        screen.until(r"sorted by GORS$")
        expect([r[0] for r in screen.rows()] == pids, f"{screen.text()}")
        screen.keys("r")
        screen.until(r"sorted by GORS, reversed$")
        expect([r[0] for r in screen.rows()] == pids[::-1], f"{screen.text()}")
        screen.keys("/", pids[1])
        screen.until(rf"^filter: {pids[1]}_$")
        screen.keys("Enter")
        screen.until(rf"1 Go program, 8 goroutines[\s\S]*^filter: {pids[1]}$")
        expect([r[0] for r in screen.rows()] == pids[1:], f"{screen.text()}")
        screen.keys("Escape")
        screen.until(r"2 Go programs, ")
        screen.keys("C-c")
        screen.until(r"^ended with 0$")


@test()
def gotop_stacks():
    """Enter shows the chosen one's goroutines, h its heap, and q leads back."""
    with Target("stats", newest(), "strip") as one, Target("stats", newest(), "strip", args=["waiting=7"]) as two, \
            Screen("-i", "200ms", one.target_pid, two.target_pid) as screen:
        screen.until(r"2 Go programs, ")
        screen.keys("<", "<", "<", "Home", "Down")
        screen.until(r"sorted by GC$")
        order = [r[0] for r in screen.rows()]
        screen.keys("Enter")
        text = screen.until(rf"process {order[1]}: goroutines by stack[\s\S]*^{order[1]} stats \(go{newest()}\): \d+ goro")
        expect("main.main" in text and re.search(r"^line 1 of \d+$", text, re.M), text)
        screen.tmux("resize-window", "-x", 60, "-y", 10)
        screen.until(r"\A(.*\n){9}line 1 of ")
        screen.press("End", r"^line (?!1 of)\d+ of \d+$")
        screen.press("Home", r"^line 1 of ")
        for key, line in ("Down", 2), ("Down", 3), ("Up", 2), ("PageDown", 8), ("PageUp", 2), ("PageUp", 1), ("Up", 1):
            screen.keys(key)
            screen.until(rf"^line {line} of ", key)
        screen.keys("Right")
        screen.until(rf"\A(?![\s\S]*{order[1]} stats)[\s\S]*goroutines: 1 in")
        screen.keys("Left", "Left")
        screen.until(rf"^{order[1]} stats")
        screen.keys("q")
        screen.until(r"2 Go programs, ")
        screen.keys("h")
        screen.until(rf"process {order[1]}: heap by stack[\s\S]*^goheap: it samples no allocations")
        screen.keys("Escape")
        screen.until(r"2 Go programs, ")
        expect("GOAL ALLOC" in screen.text() and "PAUSE" not in screen.text(), screen.text())
        for target in one, two:
            target.child.kill()
        screen.until(r"^ended with 0$")


@test()
def gotop_ends():
    """By a signal the terminal is left as it was, and -d ends it."""
    with Target("stats", newest(), "strip") as target:
        with Screen("-d", "1", target.target_pid) as screen:
            screen.until(r"^before\nended with 0$")
        with Screen("-d", "3", target.target_pid) as screen: # from a view as well
            screen.until(row(target, 41))
            screen.keys("Enter")
            screen.until(r"goroutines by stack")
            screen.until(r"^before\nended with 0$")
        with Screen(target.target_pid) as screen:
            screen.until(row(target, 41))
            pane = int(screen.tmux("display-message", "-p", "#{pane_pid}"))
            child = int(run(["pgrep", "-P", str(pane)]).stdout.split()[0])
            os.kill(child, signal.SIGTERM)
            screen.until(r"^before\n(Terminated\n)?ended with 0$")


@test()
def gotop_loses_its_terminal():
    """Under nohup no signal tells that the terminal is gone."""
    with Target("stats", newest(), "strip") as target:
        ours, its = pty.openpty()
        child = subprocess.Popen([tool_path("gotop"), str(target.target_pid)], stdin=its, stdout=its, stderr=its,
                                 env=dict(os.environ, TERM="xterm"), start_new_session=True,
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        os.close(its)
        seen = b""
        while b"41" not in seen:
            seen += os.read(ours, 4096)
        os.close(ours)
        try:
            expect(child.wait(PATIENCE) == 0, f"ended with {child.returncode}")
        finally:
            child.kill()


@test()
def gotop_refuses():
    for args, status, words in (
            ([], 1, "gotop: stdin and stdout are not a terminal\nhint: gostat prints the same as lines: 'gostat --all'\n"),
            (["main.*"], 2, 'gotop: "main.*" is not a process ID\n'),
            (["-i", "x"], 2, 'gotop: interval of "x": not a positive number of seconds\n'),
            (["1", "-n", "x"], 2, "gotop: PID, -n NAME and --all exclude each other\n")):
        done = run([tool_path("gotop"), *args])
        expect(done.returncode == status and done.stderr.startswith(words), f"{args}: {done.returncode}: {done.stderr}")
    with Screen(99999999) as screen:
        screen.until(r'gotop: .*99999999[\s\S]*^ended with [12]$')

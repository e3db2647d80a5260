# SPDX-License-Identifier: Apache-2.0
"""Columns of names: as wide as the longest that fits, in what a terminal makes of them."""

import fcntl
import os
import pty
import re
import socket
import struct
import tempfile
import termios
import threading
import unicodedata

from harness import Target, expect, newest, private_copy, run, test, tool_path, tracks
from processes import Process

LONG = "Usual"
SMALLEST = {"gofunccount": 36, "gotrace": 16}


def columns(text):
    """What a terminal takes for it"""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def on_screen(width, *command):
    """What a command prints on a terminal of so many columns"""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    pieces = []

    def read():
        try:
            while piece := os.read(ours, 65536):
                pieces.append(piece)
        except OSError:
            pass  # the last writer has closed it
    reader = threading.Thread(target=read)
    reader.start()
    done = run(["sh", "-c", 'tty=$1; shift; exec "$@" >"$tty"', "sh", os.ttyname(theirs), *command])
    os.close(theirs)
    reader.join()
    os.close(ours)
    return b"".join(pieces).decode().replace("\r\n", "\n"), done


def counts(words=(), width=None):
    """(the table's lines, the truth) of gofunccount on the fixture"""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "columns", newest())
        command = [tool_path("gofunccount"), "main.*", "--", path, "now", *words]
        text, done = on_screen(width, *command) if width else (None, run(command))
        text = text or done.stdout
        expect(done.returncode == 0, done.stderr)
        truth = {t["func"]: t["calls"] for t in tracks(text)}
        table = [line for line in text.split("\nFUNC", 1)[1].split("Detaching")[0].splitlines() if line]
        seen = {line.split()[0]: int(line.split()[1]) for line in table[1:]}
        expect({k: seen.get(k, 0) for k in truth} == truth, f"{seen}, in truth {truth}")
        return ["FUNC" + table[0], *table[1:]], truth


def expect_aligned(lines, names, least):
    """Counts end where COUNT does, one blank and at most eight digits behind the widest name."""
    ends = {columns(line) for line in lines}
    widest = max([least, *map(columns, names)])
    expect(ends == {widest + 9}, f"ends {ends} for names of {widest}: {lines}")


@test()
def count_columns():
    """In a pipe, there is no screen that a long name would not fit."""
    for words in [], ["long"]:
        lines, truth = counts(words)
        expect_aligned(lines, [n for n in truth if words or LONG not in n], 36)


@test(width=[80, 57, 40, 200])
def count_columns_on_screen(width):
    """A name that does not fit sticks out, and the column is that of the others."""
    lines, truth = counts(["long"], width)
    fitting = [n for n in truth if columns(n) + 9 < width]
    out = [line for line in lines if columns(line.split()[0]) > max(36, width - 10)]
    expect_aligned([line for line in lines if line not in out], fitting, 36)
    expect((width < 120) == any(LONG in line for line in out), f"{out}")
    for line in out:
        expect(re.fullmatch(r"\S+ +\d+", line) and len(line.split(" ", 1)[1]) == 8, line)


@test()
def short_names_as_ever():
    """bcc's layout, to the letter"""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "columns", newest())
        done = run([tool_path("gofunccount"), "main.größe", "main.main", "--", path, "now"])
    expect(f"\n{'FUNC':36} {'COUNT':>8}\n{'main.main':36} {1:8}\n{'main.größe':36} {1200:8}\n"
           in done.stdout, done.stdout)


@test(width=[0, 80, 120, 90])
def func_column(width):
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "columns", newest())
        command = [tool_path("gotrace"), 'main.* "here"', "--", path, "now"]
        text, done = on_screen(width, *command) if width else (None, run(command))
    lines = [line for line in (text or done.stdout).splitlines() if re.match(r"PID|\d", line)]
    room = (width or 80) - 65
    names = {line.split()[4] for line in lines[1:]}
    wanted = max([16, *(columns(n) for n in names if columns(n) <= room)])
    expect(len(lines) > 1200 and len(names) >= 6, f"{lines[:5]}")
    expect(lines[0] == f"PID     TID     GOID    COMM            {'FUNC':{wanted}} -", lines[0])
    for line in lines[1:]:
        before = line[:line.rindex("here")]
        expect(columns(before) == 41 + max(wanted, columns(line.split()[4])), line)


@test(options=["-n", "-j", "-U"])
def whole_lines(options):
    """Each write ends with a line: a COMMAND may write to the same terminal, and would in the midst of one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # each write is a message
    writes = []

    def read():
        while piece := ours.recv(1 << 20):
            writes.append(piece)
    reader = threading.Thread(target=read)
    reader.start()
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "columns", newest())
        words = [options, *(["columns"] if options == "-n" else [])]
        done = run(["bash", "-c", 'out=$1; shift; exec "$@" >&"$out"', "bash", str(theirs.fileno()),
                    tool_path("gotrace"), *words, f'main.* "%s", "{"x" * 200}"', "--", path, "now"],
                   pass_fds=[theirs.fileno()])
    theirs.close()
    reader.join()
    ours.close()
    expect(done.returncode == 0 and sum(map(len, writes)) > 3 * 65536, f"{done}, {len(writes)} writes")
    expect(all(piece.endswith(b"\n") for piece in writes), f"{[piece[-40:] for piece in writes]}")


@test()
def average_with_a_decimal():
    """-u: calls that take less than a microsecond are told from those that take nearly two."""
    with Target("steady", newest(), args=["threads=1"]) as target:
        with Process([tool_path("gofunclatency"), "-u", "-d", "0.5", f"{target.path}:main.digest"]) as tool:
            expect(tool.wait() == 0, tool.said())
            text = tool.out.text()
    avg, total, count = map(float, re.search(
        r"^avg = (\d+\.\d) usecs, total: (\d+) usecs, count: (\d+)$", text, re.M).groups())
    expect(total / count - 0.1 <= avg <= (total + 1) / count, f"{avg} of {total} by {count}")


@test()
def average_in_milliseconds():
    """-m: what takes less than a millisecond is not 0."""
    with Target("steady", newest(), args=["threads=1"]) as target:
        with Process([tool_path("gofunclatency"), "-m", "-d", "0.5", f"{target.path}:main.digest"]) as tool:
            expect(tool.wait() == 0, tool.said())
            text = tool.out.text()
    avg, total, count = map(float, re.search(
        r"^avg = (\d+\.\d{3}) msecs, total: (\d+) msecs, count: (\d+)$", text, re.M).groups())
    expect(avg > 0 and total / count - 0.001 <= avg <= (total + 1) / count, f"{avg} of {total} by {count}")


@test(options=[[], ["-A"], ["--full-names"], ["-j"]])
def names_without_paths(options):
    """FUNC has packages without their path; JSON, and what is asked for so, has it."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "columns", newest())
        done = run([tool_path("gotrace"), *options, 'encoding/json.Marshal "here"', "--", path, "now"])
    name = "json.Marshal" if options in ([], ["-A"]) else "encoding/json.Marshal"
    pattern = rf'"func":"{name}"' if "-j" in options else rf"^\d.* {re.escape(name)} +here$"
    expect(re.search(pattern, done.stdout, re.M), f"{done}")

# SPDX-License-Identifier: Apache-2.0
"""Bad input: what is said, and the exit status. 1 is failure, 2 bad usage; 0 never."""

import os
import re
import struct
import subprocess
import tempfile
import threading
import time

from harness import Target, Tool, expect, fixture, newest, private_copy, run, test, tool_path

TRACERS = ["gofunccount", "gofunclatency"]
ALL = TRACERS + ["gofuncs"]


def fails(tool, args, status, pattern, **kwargs):
    """stderr is one error that begins with the tool's name, and stdout says nothing."""
    result = run([tool_path(tool), *args], **kwargs)
    expect(result.returncode == status,
           f"{args}: status {result.returncode}, not {status}: {result.stderr}{result.stdout}")
    expect(result.stderr.startswith(f"{tool}: "), f"stderr begins otherwise: {result.stderr}")
    expect(re.search(pattern, result.stderr), f"stderr lacks {pattern}: {result.stderr}")
    expect(result.stdout == "", f"stdout: {result.stdout}")


def made(content):
    """A file with this content; the caller removes it."""
    file = tempfile.NamedTemporaryFile(prefix="bcc-gotools-", suffix=".bin")
    file.write(content)
    file.flush()
    os.chmod(file.name, 0o755)
    return file


def elf_header(bits):
    ident = b"\x7fELF" + bytes([1 if bits == 32 else 2, 1, 1]) + bytes(9)
    machine = 3 if bits == 32 else 62
    if bits == 32:
        return ident + struct.pack("<HHIIIIIHHHHHH", 2, machine, 1, 0, 52, 0, 0, 52, 32, 0, 40, 0, 0)
    return ident + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0)


FILES = {  # name: content or None for no file, what the error says
    "text": (b"#!/bin/sh\nexit 0\n" * 100, "[Nn]ot an ELF"),
    "empty": (b"", "[Nn]ot an ELF|empty|truncated"),
    "bits32": (elf_header(32), "32-bit"),
    "header": (elf_header(64)[:40], "truncated|malformed|[Nn]ot an ELF"),
    "nothing": (elf_header(64), "[Nn]ot a program|malformed|truncated"),
}


@test(tool=ALL, name=list(FILES))
def bad_file(tool, name):
    content, pattern = FILES[name]
    with made(content) as file:
        fails(tool, [f"{file.name}:main.*"], 1, pattern)


@test(tool=ALL)
def no_such_file(tool):
    fails(tool, ["/nonexistent/app:main.*"], 1, r'/nonexistent/app.*[Nn]o such file')
    fails(tool, ["nonexistent-app:main.*"], 1, "nonexistent-app")


@test(tool=ALL)
def not_go(tool):
    fails(tool, ["/bin/ls:main.*"], 1, "/bin/ls.*not a Go program")


@test(tool=ALL)
def folder(tool):
    fails(tool, ["/tmp:main.*"], 1, "/tmp")


@test(tool=ALL)
def truncated(tool):
    """A real program that ends in the middle: an error, or what is left, but no crash."""
    with tempfile.TemporaryDirectory() as place:
        path = private_copy(place, "recurse", newest())
        size = os.path.getsize(path)
        for part in 0.02, 0.3, 0.6:
            os.truncate(path, int(size * part))
            fails(tool, [f"{path}:main.*"], 1, ".")
            path = private_copy(place, "recurse", newest())


@test(tool=ALL)
def no_match(tool):
    with tempfile.TemporaryDirectory() as place:
        path = private_copy(place, "recurse", newest())
        fails(tool, [f"{path}:main.pingOnse"], 1, r'main\.pingOnse"?.*(.|\n)*hint: .*main\.pingOnce')
        fails(tool, [f"{path}:zzz.nothing*"], 1, r"zzz\.nothing\*")


@test(tool=TRACERS)
def one_without_a_match(tool):
    """Of several, those that match nothing are named, and the others are traced."""
    with Target("process", newest()) as target:
        with Tool(tool, "-j", f"{target.path}:main.workCal", f"{target.path}:main.workCall",
                  f"{target.path}:zzz.*") as tracer:
            tracer.tracing()
            target.go()
            target.truth()
            expect(sum(r.get("count", 0) for r in tracer.stop()) == 100, "not 100 calls")
            said = [line for line in tracer.err.text().splitlines() if line.startswith("warning: ")]
            expect(len(said) == 2 and 'no function matches "main.workCal"' in said[0] and "main.workCall" in said[0]
                   and 'no function matches "zzz.*"' in said[1], tracer.err.text())
        fails(tool, [f"{target.path}:main.workCal", f"{target.path}:zzz.*"], 1,
              'no function matches "main.workCal"(.|\n)*hint: near names: main.workCall')


@test(tool=ALL + ["gotrace"])
def two_words(tool):
    """BINARY and PATTERN as two; a PID without -p"""
    fails(tool, ["app", "main.main"], 1, "hint: BINARY and PATTERN are one word: 'app:main.main'")
    fails(tool, ["/bin/ls", "main.*"], 1, r"hint: BINARY and PATTERN are one word: '/bin/ls:main\.\*'")
    fails(tool, ["main.main", "main.run"], 1, "hint: give BINARY:PATTERN")
    fails(tool, ["20273", "main.main"], 1, "hint: for the process with this PID: -p 20273")
    fails(tool, ["20273:main.main"], 1, "hint: for the process with this PID: -p 20273")


@test(recipe=["gohttpsnoop", "gopanics"])
def pid_of_a_recipe(recipe):
    fails(recipe, ["20273"], 1, "hint: for the process with this PID: -p 20273")


@test(tool=ALL)
def wrapper_of_a_method(tool):
    """No hint offers what the compiler made; who asks for it is told what it is."""
    path = fixture("recipes", newest(), "strip")
    fails(tool, [f"{path}:net/http.(*serverHandler).ServeHTPP"], 1,
          r"hint: near names: net/http\.serverHandler\.ServeHTTP\n")
    result = run([tool_path(tool), *([] if tool == "gofuncs" else ["-d", "0.1"]),
                  f"{path}:net/http.(*serverHandler).ServeHTTP"])
    # it is traced, though nobody runs this file
    expect((result.returncode == 0 or "no process ran" in result.stderr) and "net/http.(*serverHandler).ServeHTTP is a wrapper made by the compiler, for calls "
           "through an interface: other calls go to net/http.serverHandler.ServeHTTP\n" in result.stderr, f"{result}")


@test(tool=ALL)
def bad_regex(tool):
    with tempfile.TemporaryDirectory() as place:
        path = private_copy(place, "recurse", newest())
        fails(tool, ["-r", f"{path}:main.(*"], 1, r"main\.\(\*|regular expression")


USAGE = [  # arguments, what the error says; status 2
    (["--nonsense", "x:main.*"], "nonsense"),
    (["-Q", "x:main.*"], "Q"),
    ([], "PATTERN|pattern|BINARY"),
    (["-p"], "-p"),
    (["-p", "abc", ":main.*"], "abc"),
    (["-p", "-3", ":main.*"], "-3"),
    (["-p", "0", ":main.*"], "0"),
    (["-p", "99999999999999999999", ":main.*"], "99999999999999999999"),
]
TRACER_USAGE = [
    (["-i", "0", "x:main.*"], "0"),
    (["-i", "-1", "x:main.*"], "-1"),
    (["-d", "0", "x:main.*"], "0"),
    (["-d", "-5", "x:main.*"], "-5"),
    (["-d", "soon", "x:main.*"], "soon"),
    (["-d", "1x", "x:main.*"], "1x"),
    (["x:main.*", "--"], "COMMAND|command|--"),
    (["-p", "1", "x:main.*", "--", "true"], "-p"),
]


@test(tool=ALL, number=range(len(USAGE)))
def usage(tool, number):
    args, pattern = USAGE[number]
    fails(tool, args, 2, re.escape(pattern) if pattern.startswith("-") else pattern)


@test(tool=TRACERS, number=range(len(TRACER_USAGE)))
def tracer_usage(tool, number):
    args, pattern = TRACER_USAGE[number]
    fails(tool, args, 2, re.escape(pattern) if pattern.startswith("-") else pattern)


@test()
def both_units():
    fails("gofunclatency", ["-u", "-m", "x:main.*"], 2, "-u.*-m|-m.*-u")


@test(tool=["gofunccount"])
def bad_cpu(tool):
    fails(tool, ["-c", "4095", "/bin/ls:main.*"], 2, "no CPU 4095")
    fails(tool, ["-c", "x", "/bin/ls:main.*"], 2, "x")


def unprivileged(*argv):
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *argv]


@test(tool=TRACERS)
def no_root(tool):
    """Said before anything else is found fault with."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        path = private_copy(place, "recurse", newest())
        copy = private_copy_of_tool(place, tool)
        result = run(unprivileged(copy, f"{path}:main.*"))
        expect(result.returncode == 1 and result.stdout == "", f"{result}")
        expect(re.search("root|privilege|CAP_|permitted", result.stderr), result.stderr)


@test()
def lists_without_root():
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        path = private_copy(place, "recurse", newest())
        copy = private_copy_of_tool(place, "gofuncs")
        result = run(unprivileged(copy, f"{path}:main.pingOnce"))
        expect(result.returncode == 0 and result.stdout.strip() == "main.pingOnce", f"{result}")


def private_copy_of_tool(place, tool):
    copy = os.path.join(place, tool)
    with open(tool_path(tool), "rb") as source, open(copy, "wb") as to:
        to.write(source.read())
    os.chmod(copy, 0o755)
    return copy


@test(tool=TRACERS)
def no_such_pid(tool):
    gone = subprocess.Popen(["true"])
    gone.wait()
    fails(tool, ["-p", str(gone.pid), ":main.*"], 1, str(gone.pid))


@test(tool=TRACERS)
def pid_not_go(tool):
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        fails(tool, ["-p", str(sleeper.pid), ":main.*"], 1, "not a Go program")
        sleeper.kill()


@test(tool=TRACERS)
def pid_of_another(tool):
    """BINARY is a Go program, but not one that the process runs: nothing could ever be seen."""
    with tempfile.TemporaryDirectory() as place, subprocess.Popen(["sleep", "60"]) as sleeper:
        path = private_copy(place, "recurse", newest())
        result = run([tool_path(tool), "-d", "1", "-p", str(sleeper.pid), f"{path}:main.*"])
        sleeper.kill()
        said = f'{tool}: process {sleeper.pid} does not run "{path}": to trace what it runs, leave BINARY out'
        expect(result.returncode == 0 and said in result.stderr.splitlines(), f"{result}")


@test(tool=TRACERS)
def no_such_command(tool):
    with tempfile.TemporaryDirectory() as place:
        path = private_copy(place, "recurse", newest())
        fails(tool, [f"{path}:main.*", "--", "/nonexistent/command"], 1, "/nonexistent/command")
        fails(tool, ["main.*", "--", "nonexistent-command"], 1, "nonexistent-command")


@test(tool=TRACERS)
def replaced_while_traced(tool):
    """A new file at the path of the traced one: what runs already is traced on, without a crash."""
    with Target("process", newest()) as target:
        with Tool(tool, "-j", "-F" if tool == "gofunclatency" else "-T",
                  f"{target.path}:main.workCall") as tracer:
            tracer.tracing()
            with open(target.path, "rb") as file:
                content = file.read()
            with open(target.path + ".new", "wb") as file:
                file.write(content)
            os.chmod(target.path + ".new", 0o755)
            os.rename(target.path + ".new", target.path)
            at_once = f'{tool}: "{target.path}" was replaced on disk: only processes of the old file are seen'
            end = time.monotonic() + 5
            while at_once not in tracer.err.text().splitlines():
                expect(time.monotonic() < end, f"not told at once: {tracer.err.text()}")
                time.sleep(0.02)
            target.go()
            target.truth()
            record = [r for r in tracer.stop() if r.get("func") == "main.workCall"][0]
            expect(record["count"] == 100, f"{record}")
            expect(f'{tool}: "{target.path}" was replaced while it was traced: only processes of the old file '
                   "were seen" in tracer.err.text().splitlines(), tracer.err.text())


@test(tool=ALL)
def help_and_version(tool):
    for option in "-h", "--help", "--help all", "--help=all", "-h all":
        result = run([tool_path(tool), *option.split()])
        expect(result.returncode == 0 and "usage: " in result.stdout.lower(), f"{result}")
        expect(max(map(len, result.stdout.splitlines())) <= 100, "help is wider than 100 columns")
        expect(("\noptions:\n" in result.stdout) == ("all" in option), f"{option}: {result}")
    fails(tool, ["--help=some"], 2, "--help=some: only --help and --help=all are known")
    result = run([tool_path(tool), "--version"])
    expect(result.returncode == 0 and re.search(r"\d+\.\d+", result.stdout), f"{result}")


@test(tool=ALL)
def control_characters(tool):
    """What comes from outside reaches the terminal escaped."""
    result = run([tool_path(tool), "/nonexistent/\x1b[31m:main.*"])
    expect(result.returncode == 1 and "\x1b" not in result.stderr, repr(result.stderr))


@test(tool=["gofuncs"])
def reader_gone(tool):
    """A reader that has enough ends the tool, without a word."""
    with tempfile.TemporaryDirectory() as place:
        path = private_copy(place, "recurse", newest())
        with subprocess.Popen([tool_path(tool), f"{path}:*"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            timer = threading.Timer(20, child.kill)
            timer.start()
            child.stdout.readline()
            child.stdout.close()
            said = child.stderr.read()
            child.wait()
            timer.cancel()
            expect(said == b"" and child.returncode != -9, f"{child.returncode}: {said}")


@test(tool=["gofuncs"])
def full_disk(tool):
    """Output that cannot be written is a failure."""
    with tempfile.TemporaryDirectory() as place:
        path = private_copy(place, "recurse", newest())
        with open("/dev/full", "wb") as full:
            child = subprocess.run([tool_path(tool), f"{path}:*"], stdout=full, check=False,
                                   stderr=subprocess.PIPE, timeout=30)
        expect(child.returncode == 1 and b"space" in child.stderr, f"{child}")

# SPDX-License-Identifier: Apache-2.0
"""Files that change under the tools' hands: paths that lead elsewhere from one moment to the next,
bytes that are written while they are read, and what strangers put where debug information is
looked for."""

import contextlib
import os
import re
import shutil
import tempfile
import threading
import time

from harness import (Process, Target, Tool, expect, fixture, newest, private_copy, run,
                     test, tool_path)

TWO = ["1.19", "1.27"]  # versions whose code stands at other addresses
TRIES = 6


@contextlib.contextmanager
def over_and_over(change):
    """Calls change(n) all the time meanwhile."""
    end = threading.Event()

    def work():
        n = 0
        while not end.is_set():
            change(n)
            n += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def trace_shortly(*args):
    """Whatever comes of it, the tool ends by itself, and if not well, in words."""
    done = run([tool_path("gofunccount"), "-d", "0.2", *args])
    expect(done.returncode in (0, 1), f"the tool ended with {done.returncode}: {done.stderr}")
    expect(done.returncode == 0 or done.stderr.strip(), "the tool failed without a word")
    return done


# --- the wrong file ---


@test(alone=True)
def link_swapped():
    """A link leads to one program and to another by turns: neither gets the other's probes."""
    with Target("stress", TWO[0]) as one, Target("stress", TWO[1]) as two:
        link = os.path.join(one.folder.name, "link")

        def swap(n):
            os.symlink([one.path, two.path][n % 2], link + ".new")
            os.rename(link + ".new", link)
            time.sleep(0.02)

        swap(0)
        with over_and_over(swap):
            for _ in range(TRIES):
                trace_shortly(f"{link}:*")
                for target in one, two:
                    expect(target.child.poll() is None, f"a program died: {target.said()}")
        for target in one, two:
            target.go()
            expect(target.wait() == 0 and "checked" in target.out.text(), target.said())


@test(alone=True)
def executes_meanwhile():
    """The process executes another program while its own is read."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for version in TWO:
            os.mkdir(f"{folder}/{version}")
            paths.append(private_copy(f"{folder}/{version}", "hops", version, "alone"))
        with Process(paths) as target:
            pid = int(target.wait_line("ready").split()[1])
            for _ in range(TRIES):
                done = trace_shortly("-p", str(pid), ":*")
                expect(done.returncode == 0 or "has begun to execute another file" in done.stderr,
                       done.stderr)
                expect(target.child.poll() is None, f"the process died: {target.said()}")


def holds(pid, path):
    """Has the process opened the file?"""
    links = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return path in links


@test()
def command_replaced():
    """Another program is put where the command was, before it is run."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        other = os.path.join(folder, "other")
        shutil.copy(fixture("process", TWO[0]), other)

        with Tool("gofunccount", "main.*", "--", path, "once", "now") as tracer:
            while not holds(tracer.pid, path):
                expect(tracer.child.poll() is None, tracer.said())
            os.rename(other, path)
            status, said = tracer.wait(), tracer.err.text()
        expect(status == 1 and "was replaced after it was read" in said, f"{status}: {said}")


# --- written to while it is read ---


@test(alone=True)
def cut_off_while_read():
    """A program is cut off and written anew all the time."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "types", newest())
        with open(path, "rb") as file:
            content = file.read()

        def rewrite(n):
            with open(path, "r+b") as file:
                file.truncate(0 if n % 2 else len(content) // 2)
                file.write(content)

        with over_and_over(rewrite):
            for _ in range(3 * TRIES):
                done = run([tool_path("gofuncs"), "-v", f"{path}:main.*"])
                expect(done.returncode in (0, 1), f"ended with {done.returncode}: {done.stderr}")


# --- what a container's owner may put where ---


@contextlib.contextmanager
def container(**debug):
    """A process in a tree of its own, whose program has no debug information, but names a file that
    has: (process, its folder, the place of that file in it)"""
    with tempfile.TemporaryDirectory() as folder:
        whole = fixture("steady", newest())
        program, kept = os.path.join(folder, "steady"), os.path.join(folder, "kept")
        expect(run(["objcopy", "--only-keep-debug", whole, kept]).returncode == 0, "objcopy")
        expect(run(["objcopy", "--strip-debug", whole, program]).returncode == 0, "objcopy")
        expect(run(["objcopy", f"--add-gnu-debuglink={kept}", program]).returncode == 0, "objcopy")
        hidden = os.path.join(folder, ".debug")
        os.mkdir(hidden)
        with Target("steady", newest(), path=program, args=["threads=1"],
                    argv=lambda _: ["chroot", folder, "/steady"]) as target:
            yield target, folder, kept


def has_types(target):
    """Does gofuncs show parameters by their names?"""
    done = run([tool_path("gofuncs"), "-v", "-p", str(target.target_pid), "/steady:main.fib"],
               timeout=60)
    expect(done.returncode == 0 and "main.fib" in done.stdout, f"{done.returncode}: {done.stderr}")
    return "debug" in done.stdout


@test(kind=["fifo", "device", "link", "up", "loop"])
def hostile_debug_file(kind):
    """Nothing but a regular file in the container's own tree is opened."""
    with container() as (target, folder, kept):
        expect(has_types(target), "the debug information was not found")
        with tempfile.NamedTemporaryFile(dir="/tmp") as outside:
            shutil.copy(kept, outside.name)
            os.unlink(kept)
            expect(not has_types(target), "there is none any more")
            if kind == "fifo":
                os.mkfifo(kept)
            elif kind == "device":
                run(["mknod", kept, "c", "1", "5"])  # /dev/zero
            elif kind == "link":
                os.symlink(outside.name, kept)
            elif kind == "up":
                os.symlink("../" * 20 + outside.name[1:], kept)
            else:
                os.symlink("kept", kept)
            expect(not has_types(target), "a file of the host was taken for the container's")
            os.unlink(kept)
            os.mkdir(os.path.join(folder, "tmp"))
            shutil.copy(outside.name, kept)
            expect(has_types(target), "the container's own was not taken")


@test()
def link_in_a_container():
    """BINARY is a link there: it leads to the container's program, not to the host's of that name."""
    with container() as (target, folder, _):
        os.mkdir(os.path.join(folder, "bin"))
        shutil.copy(fixture("steady", newest()), os.path.join(folder, "bin", "sh"))
        os.symlink("/bin/sh", os.path.join(folder, "app"))
        for path in "/app", f"/proc/{target.target_pid}/root/app":
            done = run([tool_path("gofuncs"), "-p", str(target.target_pid), f"{path}:main.fib"])
            expect(done.stdout.strip() == "main.fib", f"{path}: {done.stderr}")


# --- written to in place while it is traced ---


WITHOUT_INOTIFY = """
import ctypes, ctypes.util, os, struct, sys
# seccomp: inotify_init1 (294) fails with EMFILE (24), all else goes
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 294), (6, 0, 0, 0x50000 | 24), (6, 0, 0, 0x7fff0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, prog, 0, 0):
    sys.exit("no seccomp")
os.execv(sys.argv[1], sys.argv[1:])
"""


@test(inotify=["with", "without"], interval=[None, "0.3"])
def written_in_place(inotify, interval):
    """Probes are taken away when their file is written to, also where the kernel tells of nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        tool = [tool_path("gofunccount"), *(["-i", interval] if interval else []), f"{path}:main.*"]
        if inotify == "without":
            tool = ["python3", "-c", WITHOUT_INOTIFY, *tool]
        with Process(tool) as tracer:
            tracer.wait_line("Tracing ")
            with open(path, "r+b") as file:
                then = os.stat(path)
                file.seek(-1, os.SEEK_END)
                file.write(b"\0")
            if inotify == "with":  # times may be set back
                os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
            begun = time.monotonic()
            status = tracer.wait(30)
            took, said = time.monotonic() - begun, tracer.err.text()
        expect(status == 1 and "was written to while it was traced: detached" in said,
               f"{status}: {said}")
        lacks = "no inotify instance is available" in said
        expect(lacks == (inotify == "without"), said)
        expect(took < 10, f"it took {took} s")


@test()
def written_at_the_end():
    """What was written just before the end is noticed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        with Process(["python3", "-c", WITHOUT_INOTIFY, tool_path("gofunccount"),
                      f"{path}:main.*"]) as tracer:
            tracer.wait_line("Tracing ")
            with open(path, "ab") as file:
                file.write(b"\0")
            tracer.signal(2)
            status, said = tracer.wait(30), tracer.err.text()
        expect(status == 1 and "was written to while it was traced" in said, f"{status}: {said}")

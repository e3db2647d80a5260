# SPDX-License-Identifier: Apache-2.0
"""What the figures are taken with: our tools, compilers, targets, bare programs."""

import glob
import os
import shutil
import struct

from process import Failed, Process, run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def cache_folder():
    xdg = os.environ.get("XDG_CACHE_HOME")
    return os.environ.get("BCC_GOTOOLS_CACHE") or (
        os.path.join(xdg, "bcc-gotools") if xdg else "/var/cache/bcc-gotools")


class Record:
    """What record.so wrote down of one run of a tool."""

    def __init__(self, folder):
        self.folder, self.tree = folder, os.path.join(folder, "tree")
        self.offsets = os.path.join(folder, "offsets")  # of the links that the tool kept
        self.events = []
        if os.path.exists(os.path.join(folder, "times")):
            with open(os.path.join(folder, "times"), encoding="ascii") as times:
                for line in times:
                    what, *numbers = line.split()
                    self.events.append((what, *map(int, numbers)))
        made = [event for event in self.events if event[0] == "link"]
        if not made:
            raise Failed("the tool made no uprobe_multi link")
        # the first try is with all probes; what is smaller before it only asks what the kernel has
        tries = [event for event in self.events if event[0] != "close"]
        most = max(event[4] for event in tries)
        self.attach_ns = (next(e[2] for e in tries if e[4] == most), made[-1][3])
        self.probes = self._keep_offsets()

    def _keep_offsets(self):
        """Links may be made and dropped again on the way: those left when all is attached."""
        kept, place = {}, 0
        for what, fd, start, _, count in self.events:
            if what == "link":
                kept[fd] = (place, count)
                place += count
            elif what == "close" and start < self.attach_ns[1]:
                kept.pop(fd)
        with open(os.path.join(self.folder, "asked"), "rb") as asked:
            words = asked.read()
        with open(self.offsets, "wb") as out:
            for first, count in kept.values():
                out.write(words[first * 8:(first + count) * 8])
        return sum(count for _, count in kept.values())

    def seconds(self):
        """Attaching and detaching: from first system call to last, of each."""
        closes = [e for e in self.events if e[0] == "close" and e[2] >= self.attach_ns[1]]
        if not closes:
            raise Failed("the tool left its links for the kernel to close")
        attach, detach = self.attach_ns, (closes[0][2], closes[-1][3])
        return (attach[1] - attach[0] + detach[1] - detach[0]) / 1e9


class World:
    """Everything is built in `dir`, a folder of its own; `tools` holds gofunccount and the rest."""

    def __init__(self, folder, tools):
        self.dir, self.tools = folder, tools
        self.pairs = []  # of start and memory, which come from the same runs
        self.record = os.path.join(folder, "record.so")
        for name in ("bare_compile", "bare_attach"):
            self._cc(f"{name}.c", self.path(name), "-lbcc")
        self._cc("record.c", self.record, "-shared", "-fPIC", "-ldl")

    def _cc(self, source, out, *flags):
        run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-o", out,
             os.path.join(HERE, source), *flags])

    def path(self, name):
        return os.path.join(self.dir, name)

    def tool(self, name):
        return os.path.join(self.tools, name)

    def goroot(self, version):
        return run([os.path.join(ROOT, "tests", "toolchain"), version]).strip()

    def target(self, version, role, source="../fixtures/priced.go"):
        """A copy of the traced program of its own: probes act on a file, for all who run it."""
        built = self.path(f"{os.path.basename(source).removesuffix('.go')}-{version}")
        if not os.path.exists(built):
            goroot = self.goroot(version)
            env = {**os.environ, "GOROOT": goroot, "GOTOOLCHAIN": "local", "GO111MODULE": "off",
                   "GOFLAGS": "", "CGO_ENABLED": "0", "GOCACHE": os.path.join(cache_folder(), "gocache")}
            run([os.path.join(goroot, "bin", "go"), "build", "-o", built,
                 os.path.join(HERE, source)], env=env)
        return shutil.copy(built, self.path(f"{role}-{version}"))

    def compiler(self, version):
        """A copy of Go's compiler: some 20,000 functions."""
        found = glob.glob(self.goroot(version) + "/pkg/tool/*/compile")
        if not found:
            raise Failed(f"Go {version} has no pkg/tool/*/compile")
        return shutil.copy(found[0], self.path(f"compile-{version}"))

    def prometheus(self):
        """Debian's prometheus, stripped, 63,000 functions; fetched, never installed."""
        return os.path.join(run([os.path.join(ROOT, "tests", "prometheus")]).strip(), "prometheus")

    def recorded(self, name, argv, word="Tracing"):
        """Runs a tool until it traces, interrupts it; what it asked for meanwhile."""
        folder = self.path(name)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        tool = Process(argv, {"LD_PRELOAD": self.record, "BENCH_RECORD": folder})
        tool.wait_for(word)
        tool.interrupt()
        return Record(folder)


def symbol_bytes(program):
    """Bytes of all function names, from the header of .gopclntab (Go 1.18 and later)."""
    for line in run(["readelf", "-SW", program]).splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 4 and words[1].endswith(".gopclntab"):
            with open(program, "rb") as image:
                image.seek(int(words[4], 16))
                header = struct.unpack("<6Q", image.read(48))
            return header[5] - header[4]
    raise Failed(f"{program}: no .gopclntab")


def text_bias(program):
    """Virtual address less file offset of the code."""
    for line in run(["readelf", "-lW", program]).splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and words[-2] == "E":
            return int(words[2], 16) - int(words[1], 16)
    raise Failed(f"{program}: no executable segment")


def entry_and_returns(program, function):
    """File offsets of a function's start and its RETs, as one finds them with objdump."""
    addrs, exits, bias = [], [], text_bias(program)
    for line in run(["objdump", "-d", f"--disassemble={function}", program]).splitlines():
        words = line.split("\t")
        if len(words) > 2:
            addrs.append(int(words[0].strip(" :"), 16) - bias)
            if words[2].split()[0] in ("ret", "retq"):
                exits.append(addrs[-1])
    return addrs[0], exits


def have(program):
    return shutil.which(program) is not None

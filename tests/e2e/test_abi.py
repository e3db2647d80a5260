# SPDX-License-Identifier: Apache-2.0
"""Where parameters are passed, against what compilers did with some hundred made-up functions."""

import hashlib
import os
import random
import tempfile

from harness import Skip, expect, fixture, run, some_versions, test, tool_path, toolchain, versions

SCALARS = ("bool int8 int16 int32 int64 int uint8 uint16 uint32 uint64 uint uintptr float32 float64 "
           "complex64 complex128 string byte rune error any unsafe.Pointer").split()
WORDS = "*int; *[4]byte; map[string]int; chan bool; <-chan int; func(int)(string,error)".split("; ")
HEAD = """package main

import "unsafe"

type any = interface{}

var keep unsafe.Pointer

//go:noinline
func touch(p ...interface{}) { keep = unsafe.Pointer(&p) }

"""


def a_type(rng, depth=0):
    """A type as text, without spaces, that Go and signature understand alike"""
    choice = rng.random() if depth < 3 else rng.random() * 0.7
    if choice < 0.5:
        return rng.choice(SCALARS)
    if choice < 0.7:
        return rng.choice(WORDS)
    if choice < 0.78:
        return "[]" + a_type(rng, depth + 1)
    if choice < 0.86:
        return f"[{rng.choice([0, 1, 1, 2, 3])}]" + a_type(rng, depth + 1)
    names = (rng.choice(["_", f"f{i}"]) for i in range(rng.choice([0, 1, 1, 2, 2, 3, 4])))
    return "struct{" + ";".join(f"{n} {a_type(rng, depth + 1)}" for n in names) + "}"


def a_list(rng, prefix, most):
    count = rng.choice(range(most + 1))
    return [(rng.choice(["_", prefix + str(i)]) if rng.random() < 0.2 else prefix + str(i),
             a_type(rng)) for i in range(count)]


def joined(pairs):
    return ", ".join(f"{name} {kind}" for name, kind in pairs)


def used(pairs):
    return "touch(" + ", ".join(name for name, _ in pairs if name != "_") + ")"


class Program:
    """Source of a program, and what its functions' signatures are"""

    def __init__(self, minor, count):
        self.rng, self.minor = random.Random(minor), minor
        self.source, self.all, self.lines = [], [], []
        for number in range(count):
            kind = number % 8
            if kind == 6 and minor >= 18:
                self.generic(number)
            elif kind == 7 and minor >= 18:
                self.generic_method(number)
            elif kind == 5:
                self.method(number)
            elif kind == 4:
                self.crowded(number)
            else:
                self.function(number)

    def add(self, name, dictionary, params, results, declared, reference):
        """`declared`: of the source, what stands between "func" and the results"""
        self.lines.append(f"{name}\t{dictionary}\t({joined(params)}) ({joined(results)})")
        self.source.append(f"//go:noinline\nfunc {declared} ({joined(results)}) "
                           f"{{ {used(params)}; return }}\n")
        self.all.append(reference)

    def function(self, number):
        params, results = a_list(self.rng, "p", 8), a_list(self.rng, "r", 4)
        self.add(f"main.F{number}", -1, params, results, f"F{number}({joined(params)})",
                 f"F{number}")

    def crowded(self, number):
        """So many numbers that either kind of register runs out"""
        kinds = self.rng.choice(["float32 float64 complex64", "int8 string", "complex128 int []int"])
        lists = [[(f"{prefix}{i}", self.rng.choice(kinds.split()))
                  for i in range(self.rng.randrange(25))] for prefix in "pr"]
        self.add(f"main.F{number}", -1, *lists, f"F{number}({joined(lists[0])})", f"F{number}")

    def method(self, number):
        kind, params, results = a_type(self.rng), a_list(self.rng, "p", 5), a_list(self.rng, "r", 3)
        if kind[0] == "*" or kind in ("error", "any", "unsafe.Pointer"):
            kind = "struct{a int8;b string}"
        self.source.append(f"type T{number} {kind}\n")
        self.add(f"main.T{number}.M", -1, [("t", kind), *params], results,
                 f"(t T{number}) M({joined(params)})", f"T{number}.M")

    def generic(self, number):
        params, results = a_list(self.rng, "p", 6), a_list(self.rng, "r", 3)
        self.add(f"main.G{number}", 0, params, results, f"G{number}[P any]({joined(params)})",
                 f"G{number}[int]")

    def generic_method(self, number):
        params, results = a_list(self.rng, "p", 6), a_list(self.rng, "r", 3)
        kind = self.rng.choice(["struct{s string;p []P}", "struct{a,b,c,d,e,f,g,h int;v P}"])
        self.source.append(f"type B{number}[P any] {kind}\n")
        self.add(f"main.B{number}.M", 0 if self.minor < 20 else 1,
                 [("t", kind.replace("P", "int")), *params], results,
                 f"(t B{number}[P]) M({joined(params)})", f"B{number}[int].M")

    def text(self):
        head = HEAD.replace("type any = interface{}\n", "") if self.minor >= 18 else HEAD
        return (head + "".join(self.source) + "\nvar all = []interface{}{" +
                ", ".join(self.all) + "}\n\nfunc main() { touch(all) }\n")


def built(version, arch, source):
    """The program's path; made anew when source or compiler differ"""
    goroot = toolchain(version)
    cache = os.path.dirname(goroot)
    digest = hashlib.sha256((source + version).encode()).hexdigest()[:12]
    out = f"{cache}/fixtures/abi-{version}-{arch}-{digest}"
    if os.path.exists(out):
        return out
    os.makedirs(cache + "/fixtures", exist_ok=True)
    env = dict(os.environ, GOROOT=goroot, GOTOOLCHAIN="local", GO111MODULE="off", GOFLAGS="",
               GOCACHE=cache + "/gocache", CGO_ENABLED="0", GOARCH=arch)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/main.go", "w", encoding="utf-8") as file:
            file.write(source)
        made = run([goroot + "/bin/go", "build", "-o", folder + "/out", folder + "/main.go"],
                   env=env, timeout=400)
        expect(made.returncode == 0, f"go build: {made.stderr[:400]}")
        os.chmod(folder + "/out", 0o755)
        run(["mv", folder + "/out", out])
    return out


def counts(result):
    lines = result.stdout.strip().split("\n")
    expect(result.returncode == 0 and lines[-1].startswith("functions "),
           (result.stderr + result.stdout)[:400])
    words = lines[-1].split()
    return dict(zip(words[::2], map(int, words[1::2]))), lines[:-1]


def machines():
    """Building the standard library for another machine takes its time"""
    return [(v, "amd64") for v in versions()] + [(v, "arm64") for v in some_versions()]


@test(compiler=machines)
def abi_of_signatures(compiler):
    version, arch = compiler
    minor = int(version.split(".")[1])
    program = Program(minor, 400)
    path = built(version, arch, program.text())
    result = run([tool_path("e2e-abi"), path, str(minor)], input="\n".join(program.lines) + "\n",
                 stdin=None)
    got, differences = counts(result)
    expect(not differences, f"{len(differences)} differ: " + " | ".join(differences)[:600])
    expect(got["functions"] >= 400 and not got["missing"], f"compared: {got}")
    if minor >= (17 if arch == "amd64" else 18):
        expect(got["spills"] > 250, f"compared: {got}")


@test(version=versions)
def abi_of_debuginfo(version):
    """Every function of a program with net/http of which DWARF knows the signature"""
    minor = int(version.split(".")[1])
    path = fixture("server" if minor > 15 else "args", version)  # that needs a newer net/http
    got, differences = counts(run([tool_path("e2e-abi"), path, str(minor), "debuginfo"]))
    expect(not differences, f"{len(differences)} differ: " + " | ".join(differences)[:600])
    expect(got["functions"] > (4000 if minor > 15 else 1000), f"compared: {got}")
    expect(got["spills"] > 3000 or minor < 17, f"compared: {got}")


# --- results ---

LEAVES = {  # type: its n-th value
    **{kind: kind + "({n})" for kind in SCALARS if "int" in kind or "float" in kind or
       kind in ("byte", "rune")},
    "bool": "true", "complex64": "complex({n},{n}.5)", "complex128": "complex({n},{n}.5)",
    "[]byte": "backing[:{n}:{n}+1]", "*byte": "&backing[{n}]", "any": "any(&backing[{n}])",
    "unsafe.Pointer": "unsafe.Pointer(&backing[{n}])", "map[string]int": "nil", "chan int": "nil",
    "func(int)error": "nil", "string": None,
}


class Results:
    """Functions that return constants"""

    def __init__(self, minor, count):
        self.rng, self.minor, self.number = random.Random(minor), minor, 0
        self.source, self.lines = [], []
        for number in range(count):
            self.number = 0
            results = [self.value() for _ in range(self.rng.choice([1, 1, 2, 3, 4, 6, 9]))]
            kinds, values = (", ".join(part) for part in zip(*results))
            params = joined(a_list(self.rng, "p", 3))
            self.lines.append(f"main.R{number}\t({params}) ({kinds})")
            self.source.append(f"//go:noinline\nfunc R{number}({params}) ({kinds}) "
                               f"{{ return {values} }}\n")

    def leaf(self):
        self.number += 1
        kind = self.rng.choice(list(LEAVES))
        value = LEAVES[kind] or '"' + "x" * self.number + '"'
        return kind, value.format(n=self.number)

    def value(self, depth=0):
        """Type and value, as text"""
        choice = self.rng.random()
        if depth > 2 or choice < 0.6 or self.number > 60:
            return self.leaf()
        if choice < 0.75:
            return self.array(depth)
        fields = [self.value(depth + 1) for _ in range(self.rng.choice([0, 1, 2, 2, 3, 4]))]
        kind = "struct{" + ";".join(f"f{i} {f[0]}" for i, f in enumerate(fields)) + "}"
        return kind, kind + "{" + ",".join(value for _, value in fields) + "}"

    def array(self, depth):
        length = self.rng.choice([0, 1, 1, 2, 3])
        before, (kind, value) = self.number, self.value(depth + 1)
        if length != 1:  # every element is another value of the same kind
            self.number = before
            kind = self.rng.choice([k for k in LEAVES if LEAVES[k]])
            value = ",".join(LEAVES[kind].format(n=before + 1 + i) for i in range(length))
            self.number += length
        return f"[{length}]{kind}", f"[{length}]{kind}{{{value}}}"

    def text(self):
        names = ", ".join(line.split("\t")[0][len("main."):] for line in self.lines)
        head = HEAD.replace("type any = interface{}\n", "") if self.minor >= 18 else HEAD
        return (head + "var backing [256]byte\n\n" + "".join(self.source) +
                f"\nvar all = []interface{{}}{{{names}}}\n\nfunc main() {{ touch(all) }}\n")


@test(version=versions)
def abi_of_results(version):
    minor = int(version.split(".")[1])
    program = Results(minor, 300)
    path = built(version, "amd64", program.text())
    result = run([tool_path("e2e-results"), path, str(minor)], stdin=None,
                 input="\n".join(program.lines) + "\n")
    if result.returncode == 77:
        raise Skip("the programs are of another machine")
    got, differences = counts(result)
    expect(not differences, f"{len(differences)} differ: " + " | ".join(differences)[:600])
    expect(got["functions"] == 300 and not got["wrong"], f"compared: {got}")

# SPDX-License-Identifier: Apache-2.0
"""The tests' own promises: results that are not lost, processes that end, default signals."""

import os
import re
import shutil
import sys
import tempfile
import time

from harness import OPTIONS, REGISTRY, TESTS, each_release, expand, expect, run, test, versions

TRY = """
import os, signal, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
from processes import Failure, Process, run
from results import Runner, Skip
{body}
sys.exit(0 if Runner(2).run(list({{k: v for k, v in globals().items() if k.startswith("t_")}}.items())) else 1)
"""
IGNORING = ["sh", "-c", "trap '' INT HUP TERM USR1; exec \"$@\"", "sh"]


def results(body, before=()):
    """What a run of the tests (functions called t_...) in `body` prints, and its status"""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/try.py"
        with open(path, "w", encoding="utf-8") as file:
            file.write(TRY.format(body=body))
        done = run([*before, sys.executable, path, TESTS + "/lib"], timeout=60)
    return done.stdout, done.returncode, done.stderr


@test()
def harness_results():
    """Each line whole, whatever a test prints or does"""
    out, status, err = results("""
def t_passes(): print("printed without an end", end="")
def t_fails(): raise Failure("two\\nlines")
def t_skips(): raise Skip("why")
def t_crashes(): os.kill(os.getpid(), signal.SIGSEGV)
def t_exits(): os._exit(0)
def t_errs(): [][0]
def t_child_writes(): subprocess.run(["echo", "-n", "ok "])
def t_many(): return [f"ok many/{n}" for n in range(9)] + ["not ok many/x: y"]
""")
    lines = sorted(line for line in out.splitlines() if not line.startswith("# "))
    expect(status == 1 and "not ok t_fails: two lines" in lines and "skip t_skips: why" in lines, f"{out} {err}")
    for name in "t_crashes", "t_exits":
        expect(any(line.startswith(f"not ok {name}: the process") for line in lines), out)
    expect(any(line.startswith("not ok t_errs: IndexError") for line in lines), out)
    expect("ok t_passes" in lines and "ok t_child_writes" in lines, out)
    expect(len(lines) == 17 and "not ok many/x: y" in lines and "ok many/8" in lines, f"{len(lines)}: {out}")


@test()
def harness_default_signals():
    """Children get default signals, in a run whose parent has them ignored too."""
    out, status, err = results("""
def t_ignored():
    said = run(["grep", "SigIgn", "/proc/self/status"]).stdout.split()[1]
    if int(said, 16): raise Failure(said)
def t_interrupted():
    with Process(["sleep", "50"]) as child:
        child.signal(signal.SIGINT)
        if child.wait(5) != -signal.SIGINT: raise Failure("goes on")
def t_not_ours(): os.kill(os.getppid(), signal.SIGINT); time.sleep(0.3)
""", IGNORING)
    expect(status == 0 and out.count("ok t_") == 3, f"{status}: {out} {err}")


SELDOM_UNIT = """#!/bin/sh
echo $0 >>FOLDER/ran
[ $(grep -cx $0 FOLDER/ran) = 1 ] || { echo "1..1\\nok 1 - a"; exit; }
echo "1..1\\nnot ok 1 - a\\n# for once"
exit 1
"""
SELDOM = """
from harness import expect, test

def ran(name):
    with open("FOLDER/ran", "a+") as file:
        file.write(__file__ + "/" + name + "\\n")
        file.seek(0)
        return file.read().splitlines().count(__file__ + "/" + name)

@test()
def seldom():
    expect(ran("seldom") > 1, "for once")

@test()
def seldom_more():
    ran("seldom_more")
"""


def alive(marker):
    return run(["pgrep", "-f", marker]).stdout.split()


@test()
def harness_ends_processes():
    """What a test has started ends with it: orphans, sessions of their own, those of a test that crashes"""
    marker = f"sleep 77{os.getpid() % 10000:04d}"
    start = f"""run(["sh", "-c", "setsid {marker} >/dev/null 2>&1 & ({marker} >/dev/null 2>&1 &)"])"""
    out, status, err = results(f"""
def t_fails():
    {start}
    raise Failure("so")
def t_crashes():
    {start}
    os.kill(os.getpid(), signal.SIGKILL)
def t_last(): pass
""")
    expect(status == 1 and "ok t_last" in out and not alive(marker), f"{status}: {out} {err} {alive(marker)}")
    out, status, err = results(f"""
def t_run():
    {start}
    os.kill(os.getppid(), signal.SIGTERM)
    time.sleep(9)
""")
    expect(status == 1 and not alive(marker), f"an ended run leaves {alive(marker)}: {out} {err}")


@test()
def harness_output_bound():
    """A process that prints without end fails its test, and is not kept."""
    out, status, _ = results("""
def t_prints(): run(["yes"])
def t_no_line(): run(["cat", "/dev/zero"])
""")
    expect(status == 1 and out.count("prints more than can be kept") == 2, out)


@test()
def harness_counting():
    """A "not ok" counts wherever it stands; nothing run, and nothing of a name, are failures."""
    def count(names, *commands):
        script = f"names=({names}); . {TESTS}/lib/results.sh; {'; '.join(commands)}; summary"
        done = run(["bash", "-c", script])
        return done.returncode, done.stdout.splitlines()[-1]

    expect(count("", "lines a printf 'ok a/b\\nskip a/c: d\\n'") == (0, "1 passed, 0 failed, 1 skipped"), "plain")
    expect(count("", "lines a printf 'ok a/bnot ok a/c: d\\n'")[0] == 1, "glued")
    expect(count("", "lines a printf 'ok a/b\\nnot ok a/c'") == (1, "1 passed, 1 failed"), "no end of line")
    expect(count("", "lines a sh -c 'echo ok a/b; exit 3'") == (1, "1 passed, 1 failed"), "a crash")
    expect(count("", "lines a true")[0] == 1 and count("", "true")[0] == 1, "nothing run")
    for names, status in ("a", 0), ("a/b", 0), ("nonsense", 1), ("a/b a/d", 1), ("'a/*'", 0), ("a b", 1):
        expect(count(names, "lines a echo 'ok a/b  # 1.0 s'")[0] == status, f"asked for {names}")


def again(first, then):
    """The end of a run of which `first` is said, when `then` is what runs a test ($2) again, and what it says"""
    script = f". {TESTS}/lib/results.sh; again_() {{ {then}; }}; lines e2e printf '{first}'; again again_; summary"
    done = run(["bash", "-c", script])
    return done.returncode, done.stdout


@test()
def harness_flaky():
    """A test that fails is run again, once: if it passes, it is named, and the run has not failed."""
    status, out = again("ok e2e/a\\nnot ok e2e/b: who knows: why  # 1 s\\n", "echo '# said'; echo \"ok $2  # 2 s\"")
    expect((status, out.splitlines()[1:]) == (0, ["not ok e2e/b: who knows: why  # 1 s", "# again: # said",
           "# again: ok e2e/b  # 2 s", "flaky e2e/b: who knows: why  # 1 s", "2 passed, 0 failed"]), out)
    for then in "echo not ok $2: again; return 1", "echo ok $2; return 1", "echo ok e2e/a", "return 0", "echo skip $2: so":
        status, out = again("ok e2e/a\\nok e2e/cnot ok e2e/b: x\\n", then)
        expect(status == 1 and "flaky" not in out and out.endswith("\n1 passed, 1 failed\n"), f"{then}: {out}")
    status, out = again("not ok e2e/b: x\\nskip e2e/s: so\\nnot ok e2e/c: y\\n", "[ $2 = e2e/c ] && echo ok $2")
    expect(status == 1 and "flaky e2e/c: y" in out and out.endswith("\n1 passed, 1 failed, 1 skipped\n"), out)
    cases = "; ".join(f"echo ok u/t/{case}" for case in "abc")
    status, out = again("ok u/t/a\\nnot ok u/t/all: 1 of 3 cases\\n", cases)
    expect(status == 0 and out.endswith("\n3 passed, 0 failed\n"), f"a crash: {out}")
    for number, status in (10, 0), (11, 1):
        many = "".join(f"not ok e2e/{n}: x\\n" for n in range(number))
        expect(again(many, "echo ok $2")[0] == status, f"{number} that are flaky")
    status, out = again("not ok e2e/b: x\\n", "echo ok $2' '$1")
    expect(1 < int(out.split("ok e2e/b ")[1].split()[0]) <= 600, f"time is not limited: {out}")


@test()
def harness_flaky_run():
    """tests/run does so with the tests of each group, and names no other whose name begins alike."""
    with tempfile.TemporaryDirectory() as folder:
        def write(name, text):
            os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
            with open(f"{folder}/{name}", "w", encoding="ascii") as file:
                file.write(text.replace("FOLDER", folder))
            os.chmod(f"{folder}/{name}", 0o755)

        for name in "run", "unit-run", "e2e/harness.py", *(f"lib/{name}" for name in os.listdir(f"{TESTS}/lib")):
            if os.path.isfile(f"{TESTS}/{name}"):
                write(f"tests/{name}", "")
                shutil.copy(f"{TESTS}/{name}", f"{folder}/tests/{name}")
        for name in "bin/cmake", "bin/ninja", "tests/lint/tidy":
            write(name, "#!/bin/sh\n")
        for build in "plain", "asan":
            write(f"build/{build}/test_one", SELDOM_UNIT)
            write(f"build/{build}/test_one_more", SELDOM_UNIT.replace("= 1 ]", "= 0 ]"))
        for group in "cli", "e2e":
            write(f"tests/{group}/test_{group}.py", SELDOM)
        env = dict(os.environ, BCC_GOTOOLS_BUILD=folder + "/build", PATH=f"{folder}/bin:{os.environ['PATH']}")
        done = run(["bash", f"{folder}/tests/run", "--no-install", "--every"], env=env)
        lines = done.stdout.splitlines()
        expect((done.returncode, lines[-1]) == (0, "10 passed, 0 failed"), f"{done}")
        expect(re.fullmatch(r"# took 0\.\d minutes, 0\.\d of a processor", lines[-2]), f"{done}")
        # those of cli and e2e run beside each other
        expect(sorted(line for line in lines if line.startswith("flaky ")) ==
               [f"flaky {name}: for once" for name in ("asan/one/a", "cli/seldom", "e2e/seldom", "unit/one/a")], f"{done}")
        with open(f"{folder}/ran", encoding="ascii") as file:
            ran = sorted(line.split("/")[-1].strip() for line in file)
        expect(ran == ["seldom"] * 4 + ["seldom_more"] * 2 + ["test_one"] * 4 + ["test_one_more"] * 2, f"{ran}")
        # otherwise units run under sanitizers, but for those that those change
        os.rename(f"{folder}/build/plain/test_one", f"{folder}/build/plain/test_budget_watch")
        done = run(["bash", f"{folder}/tests/run", "--no-install"], env=env)
        ran = sorted(re.findall("ok ((?:unit|asan)/.*)/a$", done.stdout, re.M))
        expect(ran == ["asan/one", "asan/one_more", "unit/budget_watch"], f"{ran} {done}")


@test()
def harness_each_release():
    """One flavour of each release, others of the oldest and the newest: of all, where all releases are asked for"""
    every = ["1.15", "1.19", "1.21", "1.22", "1.24", "1.27"]
    for chosen, thin in (every[::2], ["1.15", "1.24"]), (every[-1:], every[-1:]), (every, every):
        OPTIONS.versions, OPTIONS.all = chosen, True
        REGISTRY.clear()
        test(version=versions, flavour=["pie", "strip"], where=each_release("strip"))(alive)
        want = {f"cli/alive/{v}/strip" for v in chosen} | {f"cli/alive/{v}/pie" for v in thin}
        names = [name for name, *_ in expand()]
        expect(set(names) == want and len(names) == len(want), f"{names}")


@test()
def harness_enough():
    """Of variants that differ by how a program is built one, where neither all nor certain tests are asked for, some
    of the newest Go and some of an older; others each, but for those that are seldom run"""
    def variants(tools=("a", "b"), **options):
        REGISTRY.clear()
        OPTIONS.versions, OPTIONS.all, OPTIONS.names = ["1.15", "1.19", "1.27"], False, []
        test(tool=tools, version=versions, flavour=["pie", "strip"], **options)(alive)
        few = [name.split("/")[2:] for name, *_ in expand()]
        OPTIONS.names = ["cli/alive"]
        return few, len([*expand()])
    few, every = variants()
    expect(every == 12 and [name for name, *_ in few] == ["a", "b"], f"{few} of {every}")
    few, every = variants(tools=range(40))
    expect(len(few) == 40 and every == 240, f"{few} of {every}")
    expect({(version, flavour) for _, version, flavour in few} == {
        (v, f) for v in ("1.15", "1.19", "1.27") for f in ("pie", "strip")}, f"{few}")
    expect(10 < sum(version == "1.27" for _, version, _ in few) < 30, f"{few}")
    few, every = variants(seldom=lambda tool, **_: tool == "b")
    expect(every == 12 and [tool for tool, *_ in few] == ["a"], f"{few} of {every}")
    few, every = variants(seldom=lambda version, **_: version != "1.27")
    expect(every == 12 and {version for _, version, _ in few} == {"1.27"} and len(few) == 2, f"{few} of {every}")


@test()
def harness_no_units():
    """A folder without unit tests, and names that none has"""
    with tempfile.TemporaryDirectory() as folder:
        done = run([TESTS + "/unit-run", "unit", folder])
        expect(done.returncode == 1 and "not ok unit: no unit tests" in done.stdout, f"{done}")
    done = run([TESTS + "/e2e/harness.py", "--group", "cli", "--build", "/", "cli/nonsense"])
    expect(done.returncode == 1 and re.search("^not ok cli: no test", done.stdout), f"{done}")


@test()
def harness_unit_cases():
    """Skipped, failed, not come to: as cmocka says it"""
    tap = "1..4\nok 1 - a\nnot ok 2 # SKIP b\nok 3 - c # SKIP\nnot ok 4 - d\n# why\n"
    with tempfile.TemporaryDirectory() as folder:
        for number, (said, want) in enumerate({
                tap: ["ok u/t/a", "skip u/t/b:", "skip u/t/c:", "not ok u/t/d: why"],
                "1..2\nok 1 - a\n": ["ok u/t/a", "not ok u/t/all: exit status 1, 1 of 2 cases"],
                "": ["not ok u/t/all: exit status 1, 0 of 0 cases"]}.items()):
            path = f"{folder}/{number}/test_t"
            os.mkdir(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nprintf '{said}'\nexit 1\n")
            os.chmod(path, 0o755)
            done = run([TESTS + "/unit-run", "u", os.path.dirname(path)])
            got = [line for line in done.stdout.splitlines() if not line.startswith("# ")]
            expect(got == want and done.returncode == 1, f"{got}, not {want}: {done.stderr}")


@test()
def harness_time_limit():
    """A hanging child does not hold up its test beyond what was said."""
    begun = time.monotonic()
    out, _, _ = results("""
def t_hangs(): run(["sh", "-c", "sleep 50 & exec sleep 50"], timeout=0.5)
def t_holds(): run(["sh", "-c", "sleep 50 & exit 0"], timeout=0.5)
""")
    expect(out.count("timed out") == 2 and time.monotonic() - begun < 20, out)


TINY = """
rule cc
  command = cc -c -MD -MF $out.d -o $out -c $in
  depfile = $out.d
  deps = gcc
build a.o: cc ../a.c
build b.o: cc ../b.c
"""


@test()
def lint_remembers():
    """clang-tidy sees again what has changed, and all that it did not pass, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        def write(name, text):
            os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
            with open(f"{folder}/{name}", "w", encoding="ascii") as file:
                file.write(text)

        def looked_at():
            write("log", "")
            for argv in ["ninja", "-C", build], ["sh", "-c", f"ninja -C {build} -t compdb > {build}/compile_commands.json"]:
                run(argv)
            done = run([TESTS + "/lint/tidy", folder, build], env=env)
            with open(folder + "/log", encoding="ascii") as file:
                return sorted(os.path.basename(line.strip()) for line in file), done.returncode

        build = folder + "/build"
        env = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", BCC_GOTOOLS_CACHE=folder + "/cache")
        write("build/build.ninja", TINY)
        write("a.c", '#include "a.h"\n')
        write("b.c", "int b;\n")
        write("a.h", "int a;\n")
        write(".clang-tidy", "x")
        write("bin/clang-tidy", f"#!/bin/sh\n[ $1 != --version ] || exit 0\nfor file; do :; done\n"
              f"echo $file >>{folder}/log\n! grep -q bad $file\n")
        os.chmod(folder + "/bin/clang-tidy", 0o755)
        steps = [(None, None, ["a.c", "b.c"], 0), (None, None, [], 0), ("a.h", "long a;\n", ["a.c"], 0),
                 ("b.c", "int bad;\n", ["b.c"], 1), (None, None, ["b.c"], 1), ("b.c", "int b;\n", [], 0),
                 (".clang-tidy", "y", ["a.c", "b.c"], 0)]
        for name, text, files, status in steps:
            if name:
                write(name, text)
            got = looked_at()
            expect(got == (files, status), f"after {name} {text}: {got}, not {(files, status)}")


def missed(argv, names):
    """What is said of each name that no test has, though there are others that one has"""
    done = run([*argv, *names], timeout=60)
    lines = [line for line in done.stdout.splitlines() if "no test is called so" in line]
    expect(done.returncode == (1 if lines else 0) and "ok " in done.stdout, f"{done}")
    return [line.split(":")[0].removeprefix("not ok ") for line in lines]


@test()
def harness_unknown_names():
    """A name that no test has is a failure, beside others too; names of groups that are run elsewhere are not."""
    argv = [f"{TESTS}/e2e/harness.py", "--group", "cli", "--build", "/nowhere"]
    known = ["cli/harness_no_units", "cli/harness_no_u*", "unit/what"]
    expect(missed(argv, known) == [], "of those that there are")
    expect(missed(argv, [*known, "cli/harness_no_unit/s", "cli/*/1.19"]) == ["cli/harness_no_unit/s", "cli/*/1.19"], "of others")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/test_one"
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho 1..1; echo 'ok 1 - a_case'\n")
        os.chmod(path, 0o755)
        argv = [f"{TESTS}/unit-run", "unit", folder]
        known = ["unit/one", "unit/o*", "unit/one/a_case", "e2e/what"]
        expect(missed(argv, known) == [], "of unit tests")
        expect(missed(argv, [*known, "unit/two", "unit/two/a_case"]) == ["unit/two"] * 2, "of other unit tests")

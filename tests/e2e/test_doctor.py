# SPDX-License-Identifier: Apache-2.0
"""gotools: what it says of programs is what they are."""

import os
import re
import shutil
import tempfile

from harness import TESTS, Target, expect, json_lines, newest, private_copy, run, test, tool_path


def checked(*args, argv=()):
    result = run([*argv, tool_path("gotools"), "doctor", "-j", *map(str, args)])
    records = json_lines(result.stdout)
    expect(all(list(r) == ["type", "check", "ok", "detail", "remedy"] and r["type"] == "check" for r in records), f"{result}")
    expect(all(r["ok"] == (r["remedy"] is None) for r in records), f"{records}")
    return result.returncode, {r["check"]: r for r in records}


@test(version=["1.15", "1.19", "1.27"], flavour=["plain", "pie", "cgo"])
def doctor_programs(version, flavour):
    with Target("recurse", version, flavour) as target:
        status, of_file = checked(target.path)
        of_process = checked(target.target_pid)[1]
    expect(status == 0 and of_file["release"]["detail"] == f"Go {version}", f"{of_file}")
    expect(of_file["file"]["detail"].startswith("PIE" if flavour == "pie" else "not PIE"), f"{of_file}")
    expect(("dynamically linked" in of_file["file"]["detail"]) == (flavour == "cgo"), f"{of_file}")
    expect(of_file["goroutines"]["ok"] and of_file["type information"]["ok"], f"{of_file}")
    same = [check for check in of_file if check != "program" and of_file[check] == of_process.get(check)]
    expect(len(same) == len(of_file) - 1, f"{of_file}, the process {of_process}")


@test()
def doctor_stripped():
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        of = [checked(private_copy(folder, "recurse", newest(), flavour))[1] for flavour in ("sw", "nl")]
    expect(of[0]["symbols"]["detail"].startswith("stripped") and not of[0]["DWARF"]["ok"], f"{of[0]}")
    expect(of[1]["symbols"]["detail"] == "there" and of[1]["DWARF"]["ok"], f"{of[1]}")


@test()
def doctor_refuses():
    for name in "/bin/ls", "/nowhere", "2147483646":
        status, checks = checked(name)
        expect(status == 1 and not checks["program"]["ok"] and "release" not in checks, f"{name}: {checks}")
    for words, refused in ((["nurse"], 'there is no "gotools nurse"'), (["nurse", "1"], 'there is no "gotools nurse"'),
                           (["doctor", "1", "2"], 'not at "2" too')):
        result = run([tool_path("gotools"), *words])
        expect(result.returncode == 2 and refused in result.stderr, f"{result}")


@test()
def doctor_unprivileged():
    """It works without root, and says what is missing."""
    if os.getuid():
        return
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        os.chmod(folder, 0o755)
        tool, path = shutil.copy(tool_path("gotools"), folder), private_copy(folder, "recurse", newest())
        os.chmod(path, 0o755)
        result = run(["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", tool,
                      "doctor", "-j", path])
    checks = {r["check"]: r for r in json_lines(result.stdout)}
    expect(result.returncode == 1 and not checks["privileges"]["ok"] and checks["goroutines"]["ok"], f"{result}")


@test()
def doctor_lists_all():
    """Every tool and recipe of the README has its question."""
    with open(os.path.dirname(TESTS) + "/README.md", encoding="utf-8") as file:
        names = re.findall(r"^\| \[(go\w+)\]", file.read(), re.M)
    result = run([tool_path("gotools")])
    listed = {line.split("  ")[-1].split()[0] for line in result.stdout.splitlines()}
    listed |= {word for line in result.stdout.splitlines() for word in line.split() if word.startswith("go")}
    expect(len(names) > 20 and not set(names) - listed, f"not listed: {set(names) - listed}")
    expect(max(map(len, result.stdout.splitlines())) <= 80, result.stdout)


@test()
def doctor_probes():
    """What a lesser kernel lacks is said; none of it is needed."""
    lesser = dict(os.environ, GOTOOLS_ATTACH="perf", GOTOOLS_SLEEPABLE="no", GOTOOLS_ALONE="no")
    result = run([tool_path("gotools"), "doctor", "-j"], env=lesser)
    checks = {r["check"]: r["ok"] for r in json_lines(result.stdout)}
    names = "many probes", "memory that is paged out", "probes in one process"
    expect(result.returncode == 0 and [checks.get(n) for n in names] == [False] * 3, f"{result}")

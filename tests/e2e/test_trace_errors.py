# SPDX-License-Identifier: Apache-2.0
"""What gotrace says of PROBEs that it cannot take: the reason, and the column, before it traces."""

import re
import tempfile

from harness import expect, newest, private_copy, run, test, tool_path

from gotrace import texts, trace_fixture

# PROBE after the binary, with ^ before the place that the column names (none: no column); what is said
PROBES = [
    (':main.ad "%d", a', r"main\.ad\b(.|\n)*hint: .*main\.add"),
    (':main.add "%d", ^c', r'"c"'),
    (':main.greet "%d", ^nam', r'"nam"(.|\n)*name'),
    (':main.add "^%s", a', "%s.*int"),
    (':main.greet "^%d", name', "%d.*string"),
    (':main.greet "^%d", opts', "%d.*(struct|main.Opts)"),
    (':main.greet "%d %s %^d", n, name', "argument|expression|missing"),
    (':main.add "%d^", a, b', "argument|expression|more"),
    (':main.add "^%y", a', "%y"),
    (':main.add "^%d%', "%|quote|unterminated|ends"),
    (':main.add ^"%d, a', "unterminated|quote|closing|ends"),
    (':main.add (a == ^', "expression|end"),
    (':main.add (a ==^) "x"', r"expression|\)"),
    (':main.add (a ^= 3) "x"', "="),
    (':main.add "%d", ^goarg3', "goarg3.*2"),
    (':main.add "%d", ^goarg0', "goarg0"),
    (':main.add "%d", ^goret1', "r:|return"),
    (':main.add "%d", ^retval', "r:|return"),
    (':main.add "%d", ^$latency', "r:|return"),
    (':main.add "%d", ^$nothing', r"\$nothing"),
    ('r:main.add "%d", ^goret2', "goret2"),
    (':main.add (a == ^"x") "y"', "string"),
    (':main.greet (^name) "x"', "string"),
    (':main.greet (^name + 1) "x"', "string"),
    (':main.greet "%s", opts^.Quiet', r"Quiet(.|\n)*Loud"),
    (':main.greet "%s", n^.x', "int"),
    (':main.greet "%s", n^[0]', "int"),
    (':main.greet "%s", ^*n', "pointer|int"),
    (':main.greet "%d", ^len(n)', "int"),
    (':main.add "%d", a ^+', "expression|end"),
    (':main.add "%d", ^(a', r"\)|end"),
    (':main.add "%d" a ^b', ","),
    (':main.add "%d", a ^@', "@"),
    (':main.add (^12345678901234567890123) "x"', "12345678901234567890123|large|big"),
    (":main.add(a ^strin, b int)", '"strin"|strin'),
    (":main.add^(a int, b", r"\(.*not closed"),
    ("", "."),
    ("r:", "."),
    (':main.(*Store).Get "%s", s.inner.^Nam', "."),
]


def columns(probe):
    """PROBE as it is typed, and the column that its mark stands at"""
    place = probe.find("^")
    if place < 0 or "a ^ b" in probe:
        return probe, None
    return probe[:place] + probe[place + 1:], place


@test(number=range(len(PROBES)))
def trace_error(number):
    marked, pattern = PROBES[number]
    probe, column = columns(marked)
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "traced", newest())
        way, colon, rest = probe.partition(":")
        typed = f"{way}{colon}{path}:{rest}" if way else path + probe
        done = run([tool_path("gotrace"), typed], timeout=60)
        expect(done.returncode in (1, 2) and done.stdout == "", f"status {done.returncode}: {done}")
        expect(done.stderr.startswith("gotrace: "), done.stderr)
        expect(re.search(pattern, done.stderr), f"{typed}: no {pattern}: {done.stderr}")
        if column is not None:
            before = len(path) + (0 if way == "" else 1)
            found = re.search(r"col (\d+)", done.stderr)
            expect(found, f"no column: {done.stderr}")
            typed_column = column + 1 + before
            expect(abs(int(found[1]) - typed_column) <= 2,
                   f"col {found[1]}, not {typed_column}: {typed[typed_column - 1:]}")


@test()
def trace_error_control_characters():
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "traced", newest())
        for probe in ":main.\x1b[31m", ':main.add "%d", \x1b', ':main.add "\x1b%y", a':
            done = run([tool_path("gotrace"), path + probe], timeout=60)
            expect(done.returncode in (1, 2) and "\x1b" not in done.stderr, repr(done.stderr))


@test()
def trace_usage():
    for args in ([], ["-M", "x", ":main.f"], ["-M", "0", ":main.f"], ["-Z", "-1", ":main.f"],
                 ["-L", "x", ":main.f"], ["-G", "-1", ":main.f"], ["-u", "--nonsense"]):
        done = run([tool_path("gotrace"), *args], timeout=60)
        expect(done.returncode == 2 and done.stdout == "" and done.stderr.startswith("gotrace: "),
               f"{args}: {done}")


@test(version=["1.15", "1.19", "1.27"])
def trace_stripped_signature(version):
    """A signature typed by hand, for a program without debug information"""
    text, _ = trace_fixture(
        "traced", version, ':main.add(a int, b int) "%d %d", a, b', ":main.add(x, y int)",
        'r:main.add(a, b int) int "%d %d", a, retval', 'r:main.add(a, b int) (sum int) "%d", sum',
        ":main.greet(name string, n int)", flavour="strip")
    expect(sorted(texts(text)) == sorted(["42 13", "x=42 y=13", "42 55", "55", 'name="bob" n=3']),
           f"{texts(text)}")


@test(version=["1.15", "1.19", "1.27"])
def trace_stripped_closure(version):
    """A closure in a method has no receiver that its signature would leave out."""
    text, _ = trace_fixture(
        "traced", version, ':main.(*Store).counter(step int) func(int) int "step %d", step',
        ':main.(*Store).counter.func1(by int) int "by %d", by', flavour="strip", words=["closure"])
    expect(texts(text) == ["step 2", "by 7"], f"{texts(text)}")


@test(version=["1.15", "1.19", "1.27"])
def trace_stripped_raw(version):
    """Without one: the words that there are"""
    text, _ = trace_fixture("traced", version, ':main.add "%d %d", goarg1, goarg2',
                            ':main.add (goarg2 == 13) "%x", goarg1', flavour="strip")
    expect(texts(text) == ["42 13", "2a"], f"{texts(text)}")


@test(version=["1.15", "1.27"])
def trace_println(version):
    """An interface's value, by way of what fmt.Println is inlined to"""
    text, _ = trace_fixture("traced", version, ':fmt.Fprintln "%v", a', ":fmt.Fprintln")
    expect(texts(text)[0] == '[]interface {}{"Hello, BPF!"}', f"{texts(text)}")
    expect('a=[]interface {}{"Hello, BPF!"}' in texts(text)[1], f"{texts(text)}")


@test(version=["1.15", "1.27"])
def trace_println_function(version):
    """-N -l: a function of its own"""
    text, _ = trace_fixture("hello", version, ':fmt.Println "%v", a[0]', flavour="nl")
    expect(len(texts(text)) > 0 and all("Hello" in t or '"' in t for t in texts(text)), f"{texts(text)[:3]}")

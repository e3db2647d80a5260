# SPDX-License-Identifier: Apache-2.0
"""gotrace with one PROBE at a time, as kernels need that know no cookies (to Linux 5.14)."""

from harness import expect, test

from gotrace import texts, trace_fixture

GET = "main.(*Store).Get"
KEYS = ["one", "none", "two", "nothing"]
PROBES = {  # name: (PROBE, what it prints of fixture traced)
    "greet": (":main.greet", ['name="bob" n=3 opts=main.Opts{Loud:true, Level:2}']),
    "nested": (f':{GET} "%s %s %s", s.Name, s.inner.Name, key', [f"shop inner {k}" for k in KEYS]),
    "results": ('r:main.changes "%d %s|%d %s %v", n, text, twice, echo, err',
                [f"{n} text {n}|{2 * n} text {n}! {'too much' if n > 3 else 'nil'}"
                 for n in range(1, 6)]),
    "error": (':main.failing "%v", err',
              ["boom", "wrapped: boom", "number 5",
               "open /nonexistent/file: no such file or directory", "no such file or directory",
               "main.Code(3)", '*main.Detail{Op:"op", Code:4}', "nil"]),
    "string": (f':{GET} (key == "two") "%s", key', ["two"]),
    "map": (':main.deeply "%+v %+v", p, m',
            ['&main.Opts{Loud:true, Level:3} map[string]int{"one":1}']),
    "interfaces": (':fmt.Fprintln "%v", a', ['[]interface {}{"Hello, BPF!"}']),
}


@test(name=list(PROBES), version=["1.15", "1.27"])
def trace_single(name, version):
    probe, true = PROBES[name]
    text, _ = trace_fixture("traced", version, probe)
    expect(texts(text) == true, f"{texts(text)}, not {true}")

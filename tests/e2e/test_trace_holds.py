# SPDX-License-Identifier: Apache-2.0
"""x.(T): what interfaces hold, by its type, against what the target says that they hold."""

from harness import Target, expect, some_versions, test

from gotrace import texts, trace, trace_fixture

PROBES = {  # what the target tells begins with: how it is asked for
    "dog": '(any.(*main.Dog) != nil && sounder.(*main.Dog) != nil) '
           '"%s %d %d", any.(*main.Dog).Name, sounder.(*main.Dog).Age, after(any.(*main.Dog).Age)',
    "cat": '(sounder.(main.Cat) != nil) '
           '"%s %d %d", any.(main.Cat).Name, sounder.(main.Cat).Lives, after(sounder.(main.Cat).Naps)',
    "number": '(any.(main.Number) < 100 && any.(main.Number) == sounder.(main.Number)) "%d", any.(main.Number)',
    "boxed": '(any.(main.Boxed) != nil) "%s", sounder.(main.Boxed).Dog.Name',
}
SIGNATURE = "(any interface{}, sounder main.Sounder) (n int)"


@test(version=some_versions, flavour=["plain", "strip"])
def held(version, flavour):
    """Pointers, values behind a pointer, and values that are the data word itself"""
    for kind, words in PROBES.items():
        text, told = trace_fixture("holds", version, f"r::main.take{SIGNATURE} {words}", flavour=flavour)
        truth = [line.split(" ", 1)[1] for line in told.splitlines() if line.startswith(kind + " ")]
        expect(texts(text) == truth and truth, f"{kind}: {texts(text)}, in truth {truth}")


@test(version=some_versions, flavour=["plain", "pie"])
def other_types(version, flavour):
    """What is of another type, or nil, is said to be; as a whole a value is shown as any other is."""
    probe = f':main.take{SIGNATURE} "%v %d %v", any.(*main.Dog), sounder.(main.Number), sounder.(main.Cat).Name'
    with Target("holds", version, flavour) as target:
        text, _ = trace(target, "-p", target.target_pid, probe)
    got = texts(text)
    other = "<other type>"
    expect(len(got) == 17, got)
    for i in range(0, 15, 5):
        expect(got[i].startswith("0x"), got[i])
        expect(got[i].endswith(f" {other} {other}"), got[i])
        expect(got[i + 1] == f"{other} {other} \"cat{i // 5}\"", got[i + 1])
        expect(got[i + 2] == f"{other} {i // 5 - 1} {other}", got[i + 2])
        expect(got[i + 3] == f"{other} {other} {other}", got[i + 3])
        expect(got[i + 4] == f"{other} <nil pointer> <nil pointer>", got[i + 4])
    expect(got[15:] == ["nil <nil pointer> <nil pointer>", "<nil pointer> <nil pointer> <nil pointer>"], got[15:])


@test(version=some_versions)
def held_by_predicates(version):
    """A predicate that asks for more than is held is not met, and counted; one that asks whether it is, is."""
    with Target("holds", version, "strip") as target:
        text, noise = trace(target, f':main.take{SIGNATURE} (any.(*main.Dog).Age > 0) "%d", any.(*main.Dog).Age',
                            f':main.take{SIGNATURE} (any.(*main.Dog) == nil) "none"')
    expect(sorted(texts(text)) == ["1", "2"] + ["none"] * 14, texts(text))
    expect("14 calls not printed" in noise, noise)

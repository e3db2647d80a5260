# SPDX-License-Identifier: Apache-2.0
"""What `go tool pprof` reads in a profile."""

import re

from harness import expect, run, toolchain

LINE = re.compile(r"(.*) (\S*?):(\d+)(?::\d+)? s=(\d+)")
LOCATION = re.compile(r" *(\d+): 0x([0-9a-f]+) (?:M=(\d+) )?(.*)")
MAPPING = re.compile(r"(\d+): 0x([0-9a-f]+)/0x([0-9a-f]+)/0x([0-9a-f]+) (\S*) ([0-9a-f]*) ?(\S*)$")


def say(path, how, *options, version="1.24"):
    """Prints what it makes of a file: a text, without what stands on stderr"""
    done = run([toolchain(version) + "/bin/go", "tool", "pprof", how, *options, path])
    expect(done.returncode == 0 and not re.search("(?i)error|incomplete|failed", done.stderr), done.stderr)
    return done.stdout


class Profile:
    """pprof -raw: `types`, `shown`, `samples` [(values, [locations], labels)], `locations` {ID: (address,
    mapping, [(func, file, line, first line)])}, `mappings` {ID: (from, to, offset, file, build ID)}"""

    def __init__(self, path, version="1.24"):
        text = say(path, "-raw", version=version)
        self.head, _, text = text.partition("Samples:\n")
        samples, _, text = text.partition("Locations\n")
        locations, _, mappings = text.partition("Mappings\n")
        types, *samples = samples.splitlines()
        self.types = [name.partition("[")[0] for name in types.split()]
        self.shown = next((n for n, name in enumerate(types.split()) if "[dflt]" in name), None)
        self.samples, self.locations = [], {}
        for line in samples:
            self.add_sample(line)
        for line in locations.splitlines():
            self.add_location(line)
        found = [MAPPING.match(line).groups() for line in mappings.splitlines() if line.strip()]
        self.mappings = {int(n): (int(a, 16), int(b, 16), int(off, 16), file, build)
                         for n, a, b, off, file, build, _ in found}
        self.flags = {flags for *_, flags in found}

    def add_sample(self, line):
        if not re.match(r" *\d+[ \d]*:", line):
            self.samples[-1][2].update(re.findall(r"(\S+):\[(.*?)\](?= |$)", line))
            return
        values, _, stack = line.partition(":")
        self.samples.append(([*map(int, values.split())], [*map(int, stack.split())], {}))

    def add_location(self, line):
        found = LOCATION.match(line)
        if found:
            number, addr, mapping, line = found.groups()
            self.last = int(number)
            self.locations[self.last] = (int(addr, 16), mapping and int(mapping), [])
        func, file, at, first = LINE.match(line.strip()).groups()
        self.locations[self.last][2].append((func, file, int(at), int(first)))

    def frames(self, sample):
        """[(func, file, line)], innermost first"""
        return [line[:3] for n in sample[1] for line in self.locations[n][2]]

    def rows(self, *labels):
        """{(frames, *labels): values}, added up"""
        sums = {}
        for sample in self.samples:
            key = (tuple(self.frames(sample)), *(sample[2].get(name) for name in labels))
            sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(self.types)), sample[0])]
        return sums


def functions(rows, index):
    """{function: (flat, cum)} of {(frames, ...): values}"""
    sums = {}
    for (frames, *_), values in rows.items():
        for n, name in enumerate(dict.fromkeys(frame[0] for frame in frames)):
            flat, cum = sums.get(name, (0, 0))
            sums[name] = (flat + (values[index] if not n else 0), cum + values[index])
    return sums


def top(path, sample_type, unit, version="1.24"):
    """{function: (flat, cum)} of pprof -top"""
    text = say(path, "-top", "-nodefraction=0", "-edgefraction=0", "-nodecount=100000", "-unit=" + unit,
               "-sample_index=" + sample_type, version=version)
    rows = re.findall(r"^ *(\S+) +\S+ +\S+ +(\S+) +\S+  (.+?)(?: \(inline\)| \(partial-inline\))?$", text, re.M)
    return {name: tuple(amount(text) for text in numbers) for *numbers, name in rows if numbers[0] != "flat"}


def amount(text):
    return float(re.match(r"[\d.]+", text).group())


def traces(path, sample_type, unit, version="1.24"):
    """[(value, [functions])] of pprof -traces"""
    text, found = say(path, "-traces", "-unit=" + unit, "-sample_index=" + sample_type, version=version), []
    for block in text.split("-----------+")[1:]:
        lines = [line for line in block.splitlines()[1:] if line.strip() and not re.match(r" *\S+:  ", line)]
        if lines:
            value, first = lines[0].split(None, 1)
            if not amount(value):
                continue
            found.append((amount(value), [re.sub(r" \(inline\)$", "", line.strip()) for line in [first, *lines[1:]]]))
    return found

# SPDX-License-Identifier: Apache-2.0
"""Execution traces of Go programs, of both formats, to 1.21 and since: what goroutines have swept for the collector."""

# of the events of the newer format: what follows its number, by number, from 9 (ProcsChange) on
ARGUMENTS = dict(enumerate(map(int, "3 3 1 4 3 4 2 3 1 1 3 3 4 3 1 1 4 3 1 2 3 2 2 2 3 2 2 1 2 2 2 5 3 4 4 5 3 3 4 5".split()), 9))


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def numbers(self, count):
        return [self.number() for _ in range(count)]

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]


class Sweeps:
    """Each range of sweeping: names of functions, innermost first, how many bytes, and ns from the first span on"""

    def __init__(self):
        self.strings, self.stacks, self.begun, self.ranges, self.hz = {}, {}, {}, [], 0

    def event(self, who, when, number, arguments, numbers, generation=0):
        if number == numbers[0]:
            self.begun[who] = ((generation, arguments[0]), when)
        elif number == numbers[1] and who in self.begun:
            self.ranges.append((*self.begun.pop(who), when, arguments[0]))

    def told(self):
        for stack, begin, end, swept in self.ranges:
            generation = stack[0]
            names = [self.strings.get((generation, func), "") for func in self.stacks.get(stack, [])]
            yield names, swept, (end - begin) * 1e9 / self.hz


def read_old(data, sweeps):
    batch, stack, string, frequency, sweep = 1, 3, 37, 2, (11, 12)
    who = when = 0
    while data.more():
        head = data.byte()
        number, count = head & 63, (head >> 6) + 1
        if number == string:
            key = (0, data.number())
            sweeps.strings[key] = data.take(data.number()).decode()
            continue
        if count < 4:
            got = data.numbers(count)
        else:
            size = data.number()
            part, got = Bytes(data.take(size)), []
            while part.more():
                got.append(part.number())
        if number == batch:
            who, when = got
        elif number == stack:
            sweeps.stacks[0, got[0]] = got[3::4]
        elif number == frequency:
            sweeps.hz = got[0]
        else:
            when += got[0]
            sweeps.event(who, when, number, got[1:], sweep)


def read_batch(data, sweeps, generation, who, when):
    stacks, stack, strings, string, frequency, sync, clocks, sweep = 2, 3, 4, 5, 8, 50, 51, (32, 33)
    while data.more():
        number = data.byte()
        if number == stack:
            key, count = (generation, data.number()), data.number()
            sweeps.stacks[key] = [data.numbers(4)[1] for _ in range(count)]
        elif number == string:
            key = (generation, data.number())
            sweeps.strings[key] = data.take(data.number()).decode()
        elif number == frequency:
            sweeps.hz = data.number()
        elif number in ARGUMENTS:
            got = data.numbers(ARGUMENTS[number])
            when += got[0]
            sweeps.event(who, when, number, got[1:], sweep, generation)
        elif number == clocks:
            data.numbers(4)
        elif number not in (stacks, strings, sync):
            return  # samples


def read_new(data, sweeps):
    batch, experimental, end = 1, 49, 52
    while data.more():
        number = data.byte()
        if number == end:
            continue
        if number not in (batch, experimental):
            raise ValueError(f"{number} is no batch")
        if number == experimental:
            data.number()
        generation, who, when, size = data.numbers(4)
        part = Bytes(data.take(size))
        if number == batch:
            read_batch(part, sweeps, generation, who, when)


def sweeps_of(path):
    with open(path, "rb") as file:
        head, rest = file.read(16), file.read()
    minor, sweeps = int(head.split()[1].split(b".")[1]), Sweeps()
    (read_new if minor >= 22 else read_old)(Bytes(rest), sweeps)
    return list(sweeps.told())

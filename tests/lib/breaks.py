# SPDX-License-Identifier: Apache-2.0
"""Breaks of C code at places drawn by lot. Each puts one small thing for another, as a slip would:

    negate      a condition               drop    a statement, a return or a jump
    compare     <, <=, >, >= by one       assign  = for += or |=, -- for ++
    equal       == and !=                 logic   && and ||
    constant    a number by one           text    a JSON key, a unit
    swap        operands, arguments       take    what `?:` chooses

Left are statements that free memory, as only a leak checker sees what is lost then; limits of thousands; and code that
is compiled for another machine alone."""

import random
import re

# what a break's class weighs when one is drawn: dropped statements are the most telling
WEIGHTS = {"negate": 3, "compare": 3, "equal": 2, "constant": 3, "swap": 3, "drop": 6, "assign": 2,
           "logic": 2, "text": 2, "take": 1}
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
THING = r"[A-Za-z_]\w*(?:(?:->|\.)\w+|\[\w+\])*"
KEYED = re.compile(r'\bjson_\w+\([^";]*?("[^"\n]+")')
UNITS = {"ns": "us", "us": "ms", "ms": "us", "nsecs": "usecs", "usecs": "msecs", "msecs": "usecs", "seconds": "minutes",
         "minutes": "hours", "bytes": "bits", "KiB": "MiB", "MiB": "KiB", "KB": "MB", "%%": "", "bytes/s": "bits/s"}
UNIT = re.compile(r"(?<=[ dufxg])(%s)(?![\w%%])" % "|".join(sorted(UNITS, key=len, reverse=True)))
LINE = r"\t+([^\s#{}][^\n{}]*;)(?=[ \t]*\n)"  # a statement that has one to itself
STATEMENT = re.compile(rf"(?<=[;{{}})\n:])[ \t]*\n(?:[ \t]*\n)*{LINE}|(?<=else)\n{LINE}")
DECLARES = re.compile(r"(?!return|goto|else)(?:[a-z]\w+ )+\**\w+(?: =|;|\[|,)")
ALLOCATES = re.compile(r"alloc\w*\([^;]*$|\w \w+\[$|\bBPF_\w*ARRAY\([^;]*$")  # more room changes nothing
# directives; what another machine compiles; limits of thousands, of which one more is not seen
HIDDEN = re.compile(r"^#[ \t]*(?!define\b|ifdef __aarch64__$)\w+(?:[^\n]*\\\n)*[^\n]*|"
                    r"^#ifdef __aarch64__$.*?^#(?:else|endif)|"
                    r"\b\w*MAX\w* (?:= )?(?:[1-9]\d{3,}|0x[0-9a-fA-F]{4,}|1U?L? << [1-9]\d)\b", re.M | re.S)
FREES = re.compile(r"\b(\w*_)?(free|close|fclose|munmap|pclose)\(")


class Slip:
    """Text that stands at a place of a file, and what is put for it"""

    def __init__(self, path, kind, start, end, new):
        self.path, self.kind, self.start, self.end, self.new = path, kind, start, end, new

    def put(self, text):
        return text[:self.start] + self.new + text[self.end:]

    def line(self, text):
        return text.count("\n", 0, self.start) + 1


def masked(text):
    """The text with comments blank, and strings without what they say: each character at its place"""
    def blank(found):
        kept = found[0][0] if found[0][0] != "/" else " "
        return kept + re.sub(r"[^\n]", "_" if kept != " " else " ", found[0][1:-1]) + kept
    return NO_CODE.sub(blank, text)


def closing(code, at):
    """Where the bracket ends that opens at `at`"""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return -1


def conditions(code):
    for found in re.finditer(r"\bif \(", code):
        start, end = found.end(), closing(code, found.end() - 1)
        if end > 0:
            yield "negate", start, end, "!({old})"


OPERATORS = {"<": ("compare", "<="), "<=": ("compare", "<"), ">": ("compare", ">="), ">=": ("compare", ">"),
             "==": ("equal", "!="), "!=": ("equal", "=="), "&&": ("logic", "||"), "||": ("logic", "&&"),
             "+=": ("assign", "="), "-=": ("assign", "="), "|=": ("assign", "=")}


def operators(code):
    for found in re.finditer(r" (<=|>=|<|>|==|!=|&&|\|\||\+=|-=|\|=) ", code):
        kind, new = OPERATORS[found[1]]
        yield kind, found.start(1), found.end(1), new
    for found in re.finditer(r"(?<=\w|\])(\+\+|--)(?=;)", code):
        yield "assign", found.start(), found.end(), "--" if found[0] == "++" else "++"


def constants(code):
    for found in re.finditer(r"(?<![\w.\[\-])(0x[0-9a-fA-F]+|0|[1-9]\d*)([uUlL]*)(?![\w.\]])", code):
        if ALLOCATES.search(code[:found.start()].rpartition("\n")[2]):
            continue
        value, form = int(found[1], 0), "{:#x}" if found[1].startswith("0x") else "{}"
        yield "constant", found.start(), found.end(), form.format(value + 1) + found[2]
        if value > 1:
            yield "constant", found.start(), found.end(), form.format(value - 1) + found[2]


def swaps(code):
    for found in re.finditer(rf"(?<![\w.>])({THING})( (?:-|/|%|<<|>>|<|>|<=|>=) |, )({THING})(?![\w(\[.]|->)", code):
        if found[1] != found[3]:
            yield "swap", found.start(), found.end(), found[3] + found[2] + found[1]


def choices(code):
    for found in re.finditer(rf"\? ({THING}|\d+|\"_*\") : ({THING}|\d+|\"_*\")(?=[;,)])", code):
        (first, end), (second, last) = found.span(1), found.span(2)
        yield "take", first, last, (second, last, end, second, first, end)  # ends of the parts, in their new order


def statements(code):
    for found in STATEMENT.finditer(code):
        group = 1 if found[1] else 2
        if not FREES.search(found[group]) and not DECLARES.match(found[group]):
            yield "drop", found.start(group), found.end(group), ";"


def texts(text):
    for found in KEYED.finditer(text):
        yield "text", found.start(1), found.end(1), found[1][:-1] + "_\""
    for found in re.finditer(r'"(?:\\.|[^"\\\n])*"', text):
        for unit in UNIT.finditer(found[0]):
            yield "text", found.start() + unit.start(), found.start() + unit.end(), UNITS[unit[0]]


def slips(path, text):
    """All slips that a file's text leaves room for"""
    code = masked(text)
    hidden = [m.span() for m in HIDDEN.finditer(code)]
    found = []
    for finder in conditions, operators, constants, swaps, choices, statements:
        found += finder(code)
    found += [slip for slip in texts(text) if code[slip[1]:slip[2]].strip()]
    for kind, start, end, new in found:
        if any(a <= start < b for a, b in hidden):
            continue
        if isinstance(new, tuple):
            new = "".join(text[new[i]:new[i + 1]] for i in range(0, 6, 2))
        yield Slip(path, kind, start, end, new.replace("{old}", text[start:end]))


def drawn(sources, seed):
    """Slips of the files {path: text}, in an order that the seed gives, without an end before all are drawn"""
    lot, bags = random.Random(seed), {}
    for path in sorted(sources):
        for slip in slips(path, sources[path]):
            bags.setdefault(slip.kind, []).append(slip)
    while bags:
        kind = lot.choices(sorted(bags), [WEIGHTS[k] for k in sorted(bags)])[0]
        bag = bags[kind]
        yield bag.pop(lot.randrange(len(bag)))
        if not bag:
            del bags[kind]

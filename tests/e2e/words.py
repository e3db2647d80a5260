# SPDX-License-Identifier: Apache-2.0
"""What gotrace prints of values whose types it does not know, taken apart by what the program says
of their words."""

import collections
import re

NUMBER = re.compile(r"0x[0-9a-f]+")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
UNTOLD = ("<float in register>", "<fault>")
UNKNOWN = re.compile(r"\?(?= |$)|\.\.\.")  # in front of a value it says that that is a guess


class Wrong(Exception):
    """What is printed is not what was passed."""


def leaves(value):
    """A value's parts that are no structs or arrays"""
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list) else [value]


def count_words(value):
    return sum(len(leaf["words"]) for leaf in leaves(value))


class Reader:
    """One line's values, from left to right"""

    def __init__(self, text):
        self.text, self.at, self.guesses = text, 0, 0
        self.words = collections.Counter()  # "right", "unknown", of integers and pointers
        self.others = collections.Counter()  # of floats

    def skip(self, start):
        if not self.text.startswith(start, self.at):
            raise Wrong(f"{start!r} expected at {self.text[self.at:]!r}")
        self.at += len(start)

    def take(self, pattern):
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found and found[0]

    def number(self, word, is_float):
        counter = self.others if is_float else self.words
        said = next((u for u in UNTOLD if self.text.startswith(u, self.at)), None)
        if said:
            self.at += len(said)
            if not is_float:
                raise Wrong(f"{said} in place of {word}")
            counter["unknown"] += 1
            return
        got = self.take(NUMBER)
        if not got or int(got, 16) != int(word, 16):
            raise Wrong(f"{got or self.text[self.at:]} in place of {word}")
        counter["right"] += 1

    def mark(self):
        """Is what follows marked as a guess?"""
        marked = self.text.startswith("?", self.at)
        self.at += marked
        self.guesses += marked
        return marked

    def text_or_words(self, leaf):
        is_string = leaf["is"] == "string"
        marked = self.text.startswith("?", self.at)
        if is_string and self.text.startswith("?" + leaf["text"], self.at):
            self.mark()
            self.skip(leaf["text"])
        elif not is_string and not marked and self.text.startswith(leaf["text"], self.at):
            self.skip(leaf["text"])
        else:
            self.struct([{"is": "integer", "words": [w]} for w in leaf["words"]])
            return
        self.words["right"] += 2

    def left_out(self, value):
        for leaf in leaves(value):
            counter = self.others if leaf["is"] in ("float", "complex") else self.words
            counter["left out"] += len(leaf["words"])

    def struct(self, parts):
        self.skip("{")
        for i, part in enumerate(parts):
            if i:
                self.skip(", ")
            if self.text.startswith("...}", self.at) and count_words(parts[i:]):
                self.left_out(parts[i:])
                self.skip("...")
                break
            self.value(part)
        self.skip("}")

    def value(self, value):
        if not count_words(value):
            self.skip("..." if self.text.startswith("...", self.at) else "{}")
            return
        if isinstance(value, list) and len(leaves(value)) == 1 and count_words(value) == 1 and \
                not self.text.startswith("{", self.at):
            value = leaves(value)[0]
        if isinstance(value, list):
            self.struct(value)
        elif value["is"] in ("string", "interface"):
            self.text_or_words(value)
        elif len(value["words"]) > 1:
            self.struct([{"is": "float" if value["is"] == "complex" else "integer", "words": [w]}
                         for w in value["words"]])
        else:
            self.number(value["words"][0], value["is"] == "float")

    def parameter(self, value):
        """True: right; None: said to be unknown. Raises Wrong."""
        if count_words(value) and self.take(UNKNOWN):
            for leaf in leaves(value):
                counter = self.others if leaf["is"] in ("float", "complex") else self.words
                counter["unknown"] += len(leaf["words"])
            return None
        if not self.text.startswith('?"', self.at):
            self.mark()
        self.value(value)
        return True

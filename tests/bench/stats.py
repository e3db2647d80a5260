# SPDX-License-Identifier: Apache-2.0
"""Medians of interleaved runs, and the table of what they came to."""

from statistics import median


class Row:
    """One figure: what ours costs beside another, in pairs taken one right after the other."""

    def __init__(self, what, beside, ours, other, unit, target=None, limit=None):
        """`target` bounds the median ratio, `limit` our own median; None: for information."""
        self.what, self.beside, self.unit = what, beside, unit
        self.target, self.limit = target, limit
        self.ours, self.other = list(ours), list(other)
        self.ratios = [a / b for a, b in zip(self.ours, self.other)]

    def missed(self):
        over = self.target is not None and median(self.ratios) > self.target
        return over or (self.limit is not None and median(self.ours) > self.limit)

    def wanted(self):
        parts = [] if self.target is None else [f"{self.target:.2f}"]
        if self.limit is not None:
            parts.append(f"{self.limit:g} {self.unit}")
        return ", ".join(parts)

    def verdict(self):
        if self.target is None and self.limit is None:
            return ""
        return "MISSED" if self.missed() else "met"

    def number(self, values):
        value = median(values)
        return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 3}f} {self.unit}"

    def columns(self):
        low, high = min(self.ratios), max(self.ratios)
        return (self.what, self.number(self.ours), self.beside, self.number(self.other), f"{median(self.ratios):.3f}",
                f"{low:.3f}..{high:.3f}", str(len(self.ratios)), self.wanted(), self.verdict())


HEADER = ("FIGURE", "OURS", "BESIDE", "", "RATIO", "SPREAD", "RUNS", "AT MOST", "")


def print_table(rows):
    lines = [HEADER] + [row.columns() for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())

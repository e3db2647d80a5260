# SPDX-License-Identifier: Apache-2.0
"""Medians of interleaved runs, and the table of what they came to."""

from statistics import median


class Row:
    """One figure: what ours costs beside another, in pairs taken one right after the other."""

    def __init__(self, what, ours, other, unit, target=None, ratios=None, limit=None):
        self.what, self.unit, self.target, self.limit = what, unit, target, limit
        self.ours, self.other = list(ours), list(other)
        self.ratios = ratios or [a / b for a, b in zip(self.ours, self.other)]

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

    def columns(self):
        low, high = min(self.ratios), max(self.ratios)
        return (self.what, f"{median(self.ours):.4g} {self.unit}",
                f"{median(self.other):.4g} {self.unit}", f"{median(self.ratios):.3f}",
                f"{low:.3f}..{high:.3f}", str(len(self.ratios)), self.wanted(), self.verdict())


HEADER = ("FIGURE", "OURS", "OTHER", "RATIO", "SPREAD", "RUNS", "AT MOST", "")


def print_table(rows):
    lines = [HEADER] + [row.columns() for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())

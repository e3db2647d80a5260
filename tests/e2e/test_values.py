# SPDX-License-Identifier: Apache-2.0
"""Values as Go prints them: many of them, and those that are seldom seen."""

import os
import re

from harness import OPTIONS, TESTS, expect, run, some_versions, test


@test(version=some_versions)
def values(version):
    """Numbers, times, quoted text, errors and maps come out as Go has them."""
    built = run([os.path.join(TESTS, "fixture"), "values", version, "alone"])
    expect(built.returncode == 0, f"no fixture: {built.stderr}")
    lines = run([built.stdout.strip()]).stdout
    seen = run([os.path.join(OPTIONS.build, "e2e-values")], stdin=None, input=lines)
    expect(seen.returncode == 0, "\n".join(seen.stdout.splitlines()[-5:]))
    expect(int(re.match(r"(\d+) values", seen.stdout.splitlines()[-1]).group(1)) > 50000,
           seen.stdout)

# SPDX-License-Identifier: Apache-2.0
"""Cgroups for tests, of version 2 or 1, whichever the machine has"""

import contextlib
import os

from processes import run
from results import Skip


def hierarchies(controller):
    """(folder, is it of version 2) of the mounted ones that may have this controller"""
    for line in open("/proc/self/mountinfo", encoding="utf-8"):
        head, _, tail = line.partition(" - ")
        kind, _, options = tail.split()[:3]
        if kind == "cgroup2" or (kind == "cgroup" and controller in options.split(",")):
            yield head.split()[4], kind == "cgroup2"


def fill(folder, files):
    for name, text in files.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(str(text))


@contextlib.contextmanager
def cgroup(controller, two, one):
    """The folder of a cgroup that the caller may put processes into, with these files' texts: `two` of version 2, `one`
    of version 1"""
    for top, is_two in hierarchies(controller):
        folder, files = os.path.join(top, f"bcc-gotools-test-{os.getpid()}"), two if is_two else one
        try:
            os.mkdir(folder)
            if not all(os.path.exists(f"{folder}/{name}") for name in files):
                os.rmdir(folder)
                continue
            fill(folder, files)
        except OSError:
            continue
        try:
            yield folder
        finally:
            run(["sh", "-c", f"until rmdir {folder} 2>&1; do sleep 0.1; done"], timeout=60)
        return
    raise Skip(f"no {controller} cgroup can be made here")

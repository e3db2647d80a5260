# SPDX-License-Identifier: Apache-2.0
"""A program that lies in its own memory: goroutines, stacks, channels and locks are overwritten while it
stands still. gostacks and goleaks come to an end, in a short time, and what they print is harmless."""

import json
import os
import random
import re
import signal
import subprocess

from harness import Target, expect, some_versions, test, tool_path

ROUNDS, WORDS = 12, 4000
SECONDS = 60  # of a processor, for one look: a busy machine takes some of them
COMMANDS = (["gostacks", "-j"], ["gostacks", "-a", "--system"], ["gostacks", "--full"], ["gostacks", "-f"],
            ["gostacks", "main.*"])


def mappings(pid):
    """(from, to) of what the program may write to and Go's runtime has in it, but threads' stacks"""
    found = []
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        for line in file:
            match = re.match(r"(\w+)-(\w+) rw-p \S+ \S+ (\d+)\s*(.*)$", line)
            if match and not match[4].startswith("[") and not match[4].startswith("/usr"):
                low, high = int(match[1], 16), int(match[2], 16)
                found.append((low, min(high, low + (1 << 20))))
    return found


def words(mem, areas):
    """Addresses of words that are not 0: of what is in use"""
    found = []
    for low, high in areas:
        try:
            data = os.pread(mem, high - low, low)
        except OSError:
            continue
        for at in range(0, len(data) - 7, 8):
            if data[at:at + 8] != bytes(8):
                found.append((low + at, data[at:at + 8]))
    return found


def lie(dice, known):
    """What stands elsewhere, something near, or a wild number"""
    _, other = dice.choice(known)
    return dice.choice([
        lambda: other,
        lambda: dice.choice(known)[0].to_bytes(8, "little"),
        lambda: ((int.from_bytes(other, "little") + dice.choice([-64, -8, 1, 8, 4096])) % 2**64).to_bytes(8, "little"),
        lambda: dice.choice([0, 1, 2**31, 2**32 - 1, 2**47, 2**63, 2**64 - 1, 2**64 - 8]).to_bytes(8, "little"),
        lambda: bytes([0x1b, 0x5b, 0x32, 0x4a] * 2),
    ])()


def make_liar(pid, dice):
    """Overwrites words all over a process that stands still meanwhile, and lets it go on with them."""
    os.kill(pid, signal.SIGSTOP)
    mem = os.open(f"/proc/{pid}/mem", os.O_RDWR)
    try:
        known = words(mem, mappings(pid))
        for _ in range(2000):
            os.pwrite(mem, lie(dice, known), dice.choice(known)[0])
    finally:
        os.close(mem)
    os.kill(pid, signal.SIGCONT)


def check(args, pid):
    with subprocess.Popen([tool_path(args[0]), *args[1:], str(pid)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        out, err = child.communicate(timeout=SECONDS * 3)
        expect(child.returncode in (0, 1), f"{args}: {child.returncode}: {err[-400:]}")
    for text in out, err:
        expect(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text), f"{args}: control characters")
    for line in out.splitlines() if "-j" in args else []:
        json.loads(line)


@test(version=some_versions)
def gostacks_lies(version):
    dice = random.Random(f"lies {version}")
    with Target("waits", version, "strip") as target:
        pid = target.target_pid
        os.kill(pid, signal.SIGSTOP)
        mem = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        try:
            known = words(mem, mappings(pid))
            expect(len(known) > WORDS, f"only {len(known)} words")
            for number in range(ROUNDS):
                for _ in range(WORDS >> (ROUNDS - 1 - number)):
                    addr, _ = dice.choice(known)
                    os.pwrite(mem, lie(dice, known), addr)
                check(COMMANDS[number % len(COMMANDS)], pid)
                check(COMMANDS[0], pid)
            check(["goleaks", "-d", "1ms", "-i", "1"], pid)
        finally:
            os.close(mem)
            target.child.kill()

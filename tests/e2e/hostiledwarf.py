# SPDX-License-Identifier: Apache-2.0
"""Debug information (DWARF 4) made to cost whoever reads it time or memory."""

import struct
import zlib

from hostilefile import BASE, PAGE, RET, GoFile, uleb

TEXT = BASE + PAGE
COMPRESSED = 0x800  # SHF_COMPRESSED
UNIT, FUNCTION, PARAMETER, NUMBER, STRUCT, MEMBER, VARIABLE = 0x11, 0x2e, 0x05, 0x24, 0x13, 0x0d, \
    0x34
NAME, LOW, HIGH, TYPE, RANGES, SIZE, KIND, OFFSET = 0x03, 0x11, 0x12, 0x49, 0x55, 0x0b, 0x2900, \
    0x38
STRING, STRP, ADDR, REF4, SEC, DATA1, DATA4 = 0x08, 0x0e, 0x01, 0x13, 0x17, 0x0b, 0x06
IN_UNIT = 11  # bytes of a unit's header
ONE_UNIT = (UNIT, 1, [(NAME, STRING), (LOW, ADDR), (HIGH, DATA4)])
ONE_FUNCTION = (FUNCTION, 1, [(NAME, STRING), (LOW, ADDR), (HIGH, DATA4)])


def abbrevs(*entries):
    """(tag, has children, attributes), numbered from 1"""
    out = b""
    for number, (tag, children, attributes) in enumerate(entries, 1):
        out += uleb(number) + uleb(tag) + bytes([children])
        out += b"".join(uleb(name) + uleb(form) for name, form in attributes) + b"\0\0"
    return out + b"\0"


def unit(entries):
    body = struct.pack("<HIB", 4, 0, 8) + entries
    return struct.pack("<I", len(body)) + body


def low_high(name, addr, size):
    return name + b"\0" + struct.pack("<QI", addr, size)


def program(functions=1, **sections):
    file = GoFile()
    record = file.record(file.name("main.f"))
    for _ in range(functions):
        file.function(RET * 16, record)
    for name, content in sections.items():
        file.sections.append((".debug_" + name, 1, 0, 0, bytes(content)))
    return file


def zeros(megabytes):
    """Packed by zlib: one megabyte, so many times. Its Adler-32 is 1, and above that the count of bytes."""
    packer = zlib.compressobj(9)
    header = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    one = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    end = struct.pack(">HH", (megabytes << 20) % 65521, 1)
    return header + one * megabytes + b"\3\0" + end


def bomb(section, megabytes):
    """Zeros, a thousandth of their size."""
    content = {"abbrev": abbrevs(ONE_UNIT), "info": unit(uleb(1) + low_high(b"main", TEXT, 16))}
    content.pop(section, None)
    file = program(**content)
    file.sections.append((".debug_" + section, 1, COMPRESSED, 0,
                          struct.pack("<IIQQ", 1, 0, megabytes << 20, 1) + zeros(megabytes)))
    return file


def old_bomb(megabytes):
    file, table = program(), abbrevs(ONE_UNIT)
    file.sections.append((".zdebug_abbrev", 1, 0, 0, b"ZLIB" + struct.pack(">Q", len(table)) +
                          zlib.compress(table)))
    file.sections.append((".zdebug_info", 1, 0, 0, b"ZLIB" + struct.pack(">Q", megabytes << 20) +
                          zeros(megabytes)))
    return file


def units(count, table):
    """Each has the last of `table` abbreviations, all of which are read for each."""
    last = (UNIT, 0, ONE_UNIT[2])
    one = unit(uleb(table + 1) + low_high(b"m", TEXT, 16))
    return program(abbrev=abbrevs(*[(VARIABLE, 0, [])] * table, last), info=one * count)


def shared_ranges(count, length):
    ranges = b"".join(struct.pack("<QQ", TEXT + 16 * k, TEXT + 16 * k + 16) for k in range(length))
    one = unit(uleb(1) + b"m\0" + struct.pack("<I", 0))
    return program(abbrev=abbrevs((UNIT, 0, [(NAME, STRING), (RANGES, SEC)])), info=one * count,
                   ranges=ranges + bytes(16))


def parameters(functions, count, types, size, suffixes):
    """Their names and types' names lie in one long text, of which all are the whole or ends."""
    entries = uleb(1) + low_high(b"main", TEXT, 16 * functions)
    places = []
    for k in range(types):
        places.append(IN_UNIT + len(entries))
        entries += uleb(4) + struct.pack("<IBB", k if suffixes else 0, 8, 2)
    listed = b"".join(uleb(3) + struct.pack("<II", p if suffixes else p % 3, places[p % types])
                      for p in range(count))
    for k in range(functions):
        entries += uleb(2) + low_high(b"main.f", TEXT + 16 * k, 16) + listed + b"\0"
    table = abbrevs(ONE_UNIT, ONE_FUNCTION, (PARAMETER, 0, [(NAME, STRP), (TYPE, REF4)]),
                    (NUMBER, 0, [(NAME, STRP), (SIZE, DATA1), (KIND, DATA1)]))
    return program(functions, abbrev=table, info=unit(entries + b"\0"), str=b"a" * size + b"\0")


def structs(functions, fields, depth, size):
    """Of fields that are structs of as many; all have one long name."""
    entries = uleb(1) + low_high(b"main", TEXT, 16 * functions)
    below = IN_UNIT + len(entries)
    entries += uleb(4) + struct.pack("<IBB", 0, 8, 2)
    for level in range(depth):
        here = IN_UNIT + len(entries)
        entries += uleb(5) + struct.pack("<IIB", 0, 8 * fields, 25)
        entries += b"".join(uleb(6) + struct.pack("<III", 0, below, 0 if level else 8 * k)
                            for k in range(fields)) + b"\0"
        below = here
    for k in range(functions):
        entries += uleb(2) + low_high(b"main.f", TEXT + 16 * k, 16)
        entries += uleb(3) + struct.pack("<II", 0, below) + b"\0"
    table = abbrevs(ONE_UNIT, ONE_FUNCTION, (PARAMETER, 0, [(NAME, STRP), (TYPE, REF4)]),
                    (NUMBER, 0, [(NAME, STRP), (SIZE, DATA1), (KIND, DATA1)]),
                    (STRUCT, 1, [(NAME, STRP), (SIZE, DATA4), (KIND, DATA1)]),
                    (MEMBER, 0, [(NAME, STRP), (TYPE, REF4), (OFFSET, DATA4)]))
    return program(functions, abbrev=table, info=unit(entries + b"\0"),
                   str=b"main.a" + b"a" * size + b"\0")


def symbols(count, size):
    """Of a gccgo program, which all have one long name."""
    names = b"\0main.f" + b"a" * size + b"\0"
    mark = len(names)
    names += b"__go_init_main\0"
    table = bytes(24) + struct.pack("<IBBHQQ", mark, 0x12, 0, 1, TEXT, 16)
    table += b"".join(struct.pack("<IBBHQQ", 1, 0x12, 0, 1, TEXT + k % 16, 1)
                      for k in range(count))
    file = program()
    file.pclntab = lambda text: (bytes(16), 0, 0)
    file.sections = [(".symtab", 2, 0, 2, table), (".strtab", 3, 0, 0, names)]
    return file

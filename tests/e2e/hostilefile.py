# SPDX-License-Identifier: Apache-2.0
"""Go programs that never ran: files made to cost whoever reads them time or memory. Each has the
tables of Go 1.20 (Go's src/internal/abi/symtab.go, src/cmd/link/internal/ld/pcln.go)."""

import struct

BASE, PAGE = 0x400000, 0x1000
NONE = 0xffffffff  # no FUNCDATA
RET, NOP = b"\xc3", b"\x90"


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def uleb(n):
    return varint(n)


def pc_table(runs):
    """A PC-value table of (bytes of code, value)."""
    out, before = bytearray(), -1
    for span, value in runs:
        delta = value - before
        out += varint((delta << 1 ^ delta >> 31) & 0xffffffff) + varint(span)
        before = value
    return bytes(out) + b"\0"


def pad(data, align=PAGE):
    return bytes(data) + bytes(-len(data) % align)


class GoFile:
    """Put the tables together with the methods; write() lays them out."""

    def __init__(self):
        self.text, self.functions = bytearray(), []
        self.names, self.pcs, self.records = bytearray(b"\0"), bytearray(b"\0"), bytearray()
        self.files, self.units, self.gofunc = bytearray(b"/x.go\0"), [0], bytearray()
        self.sections = []  # (name, type, flags, link, data)

    def name(self, text):
        self.names += (text if isinstance(text, bytes) else text.encode()) + b"\0"
        return len(self.names) - 1 - len(text)

    def pc(self, runs):
        at = len(self.pcs)
        self.pcs += pc_table(runs)
        return at

    def tree(self, nodes):
        """An inline tree of (name's offset, parent's PC from the function's start)."""
        at = len(self.gofunc)
        for name, parent_pc in nodes:
            self.gofunc += struct.pack("<BxxxIII", 0, name, parent_pc, 1)
        return at

    def record(self, name, pcsp=0, pcfile=0, pcln=0, pcdata=(), funcdata=()):
        at = len(self.records)
        self.records += struct.pack("<IIIIIIIIIIBBBB", 0, name, 0, 0, pcsp, pcfile, pcln,
                                    len(pcdata), 0, 1, 0, 0, 0, len(funcdata))
        for word in (*pcdata, *funcdata):
            self.records += struct.pack("<I", word)
        return at

    def function(self, code, record):
        self.functions.append((len(self.text), record))
        self.text += code

    def inlined(self, name, nodes, tree_runs, **tables):
        """A record with an inline tree, and where its nodes' code is."""
        return self.record(name, pcdata=(0, 0, self.pc(tree_runs)),
                           funcdata=(NONE, NONE, NONE, self.tree(nodes)), **tables)

    def pclntab(self, text):
        functab = 8 * len(self.functions) + 4
        parts, at = [], 72
        for part in (pad(self.names, 8), pad(struct.pack(f"<{len(self.units)}I", *self.units), 8),
                     pad(self.files, 8), pad(self.pcs, 8)):
            parts.append((at, part))
            at += len(part)
        pairs = bytearray()
        for off, record in self.functions:
            pairs += struct.pack("<II", off, functab + record)
        pairs += struct.pack("<I", len(self.text))
        head = struct.pack("<IBBBBQQQ", 0xfffffff1, 0, 0, 1, 8, len(self.functions), 1, text)
        head += struct.pack("<QQQQQ", *(off for off, _ in parts), at)
        return head + b"".join(part for _, part in parts) + pairs + self.records, parts[0][0], at

    def write(self, path):
        text = BASE + PAGE
        table, names, functab = self.pclntab(text)
        rodata = text + len(pad(self.text))
        gofunc = rodata + len(pad(table, 16))
        data = gofunc + len(pad(self.gofunc))
        data += -data % PAGE
        words = [0] * 64
        words[0], words[1], words[13], words[16] = rodata, rodata + names, rodata + functab, \
            rodata + functab
        words[22], words[23], words[40] = text, text + len(self.text), gofunc
        body = pad(self.text) + pad(table, 16) + self.gofunc
        body = body.ljust(data - text, b"\0")
        body += pad(struct.pack("<64Q", *words))
        segments = [(5, text, len(pad(self.text))), (4, rodata, data - rodata), (6, data, PAGE)]
        self.emit(path, body, segments)

    def emit(self, path, body, segments):
        """Section headers come last."""
        names, headers, at = b"\0", [bytes(64)], PAGE + len(body)
        tail = b""
        sections = [*self.sections, (".shstrtab", 3, 0, 0, None)] if self.sections else []
        for name, kind, flags, link, content in sections:
            name_at = len(names)
            names += name.encode() + b"\0"
            content = names if content is None else content
            headers.append(struct.pack("<IIQQQQIIQQ", name_at, kind, flags, 0, at + len(tail),
                                       len(content), link, 0, 8, 24 if kind == 2 else 0))
            tail += pad(content, 8)
        shoff = at + len(tail) if sections else 0
        head = b"\x7fELF\x02\x01\x01" + bytes(9)
        head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, BASE + PAGE, 64, shoff, 0, 64, 56,
                            len(segments), 64, len(headers) if sections else 0,
                            len(headers) - 1 if sections else 0)
        for flags, addr, size in segments:
            head += struct.pack("<IIQQQQQQ", 1, flags, addr - BASE, addr, addr, size, size, PAGE)
        with open(path, "wb") as file:
            file.write(pad(head) + body + tail + b"".join(headers if sections else []))

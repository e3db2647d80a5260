# SPDX-License-Identifier: Apache-2.0
"""A file system with a single file, of which no byte ever comes (FUSE, /dev/fuse): while it is mounted, who
reads the file waits in the kernel, where SIGKILL does not reach it either."""

import ctypes
import os
import struct
import subprocess
import tempfile
import threading

from harness import Skip

HEADER, REPLY = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
LOOKUP, GETATTR, OPEN, READ, INIT, RELEASE, FORGET, INTERRUPT = 1, 3, 14, 15, 26, 18, 2, 36
ENOSYS, SIZE, ROOT, FILE = 38, 1 << 16, 1, 2
UNANSWERED = (READ, FORGET, INTERRUPT)


def attributes(node):
    mode = 0o040755 if node == ROOT else 0o100444
    return struct.pack("<QQQQQQIIIIIIIIII", node, SIZE, SIZE // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class NeverFile:
    """`path`: the file."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="gotools-fuse-")
        self.path = self.folder + "/never"
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            os.rmdir(self.folder)
            raise Skip("no FUSE") from error
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other"
        if libc.mount(b"never", self.folder.encode(), b"fuse", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 18)
            except OSError:
                return
            _, opcode, unique, node, *_ = HEADER.unpack_from(request)
            if opcode in UNANSWERED:
                continue
            error, body = self.answer(opcode, node)
            os.write(self.fd, REPLY.pack(REPLY.size + len(body), error, unique) + body)

    @staticmethod
    def answer(opcode, node):
        if opcode == INIT:  # no flags: reads are waited for at once
            return 0, struct.pack("<IIIIHHIIHHI7I", 7, 31, 4096, 0, 8, 8, 4096, 1, 0, 0, 0, *[0] * 7)
        if opcode == LOOKUP:
            return 0, struct.pack("<QQQQII", FILE, 0, 3600, 3600, 0, 0) + attributes(FILE)
        if opcode == GETATTR:
            return 0, struct.pack("<QII", 3600, 0, 0) + attributes(node)
        if opcode in (OPEN, RELEASE):
            return 0, struct.pack("<QII", 0, 0, 0) if opcode == OPEN else b""
        return -ENOSYS, b""

    def close(self):
        """Whoever waits gets an error."""
        if self.fd < 0:
            return
        subprocess.run(["umount", "-f", "-l", self.folder], check=False)
        os.close(self.fd)
        self.fd = -1
        os.rmdir(self.folder)

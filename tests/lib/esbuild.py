# SPDX-License-Identifier: Apache-2.0
"""esbuild of npm, which each release of Go has built: stripped programs of real size. It bundles files, answers
requests as a service, by its own protocol on stdin and stdout, and serves files by HTTP."""

import base64
import hashlib
import os
import struct
import subprocess
import tarfile
import tempfile

from processes import Failure, run

# By the release of Go that built it: esbuild's version, and the digest of its package
PACKAGES = {
    "1.16": ("0.12.0",
             "snrOJEfedzzui4eK2c/os8LEnKoMbI2Aq+T2QP/n28fnGknbJLmY6LYuOnpdm7+iJJ7eC66oKzJucByf+VSzMw=="),
    "1.17": ("0.14.0",
             "7buo31kp1/yKWPm9vU44FEUwkeIROrIgnCDV9KLMLSbOjGEHBZXYJ2L0p4ZnB7Z+m5YiW7F/AfJu0/1E87nOeQ=="),
    "1.18": ("0.14.38",
             "uuZHNmqcs+Bj1qiW9k/HZU3FtIHmYiuxZ/6Aa+/KHb/pFKr7R3aVqvxlAudYI9Fw3St0VCPfv7QBpUITSmBR1Q=="),
    "1.20": ("0.17.19",
             "68ngA9lg2H6zkZcyp22tsVt38mlhWde8l3eJLWkyLrp4HwMUr3c1s/M2t7+kHIhvMjglIBrFpncX1SzMckomGw=="),
    "1.22": ("0.23.0",
             "a3pMQhUEJkITgAw6e0bWA+F+vFtCciMjW/LPtoj99MhVt+Mfb6bbL9hu2wmTZgNd994qTAEw+U/r6k3qHWWaOQ=="),
    "1.25": ("0.27.0",
             "1hBWx4OUJE2cab++aVZ7pObD6s+DK4mPGpemtnAORBvb5l/g5xFGk0vc0PjSkrDs0XaXj9yyob3d14XqvnQ4gw=="),
    "1.26": ("0.28.2",
             "4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ=="),
}
SCOPED = (0, 16)  # versions from here on are packages of a scope; a service takes bytes, no more text


def numbers(version):
    return tuple(map(int, version.split(".")))


def cache_folder():
    """As tests/toolchain has it"""
    home = os.environ.get("XDG_CACHE_HOME")
    return os.environ.get("BCC_GOTOOLS_CACHE") or (home + "/bcc-gotools" if home else "/var/cache/bcc-gotools")


def fetch(release):
    """Path of the release's esbuild, fetched where it is not there yet"""
    version, digest = PACKAGES[release]
    path = f"{cache_folder()}/esbuild/{version}"
    if os.path.exists(path):
        return path
    name = "@esbuild/linux-x64" if numbers(version) >= SCOPED else "esbuild-linux-64"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        packed = run(["npm", "pack", "--silent", f"{name}@{version}"], cwd=folder, timeout=300)
        if packed.returncode:
            raise Failure(f"npm has no {name}@{version}: {packed.stderr[-300:]}")
        package = f"{folder}/{packed.stdout.split()[-1]}"
        with open(package, "rb") as file:
            got = base64.b64encode(hashlib.sha512(file.read()).digest()).decode()
        if got != digest:
            raise Failure(f"{name}@{version} is not what it was: sha512-{got}")
        with tarfile.open(package) as archive, open(path + ".new", "wb") as out:
            out.write(archive.extractfile("package/bin/esbuild").read())
    os.chmod(path + ".new", 0o755)
    os.rename(path + ".new", path)
    return path


def encode(value):
    """A value of a packet: its kind, and what it is made of"""
    if value is None:
        return b"\0"
    if isinstance(value, bool):
        return b"\1" + bytes([value])
    if isinstance(value, int):
        return b"\2" + struct.pack("<I", value)
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        return (b"\3" if isinstance(value, str) else b"\4") + struct.pack("<I", len(data)) + data
    if isinstance(value, list):
        return b"\5" + struct.pack("<I", len(value)) + b"".join(map(encode, value))
    pairs = b"".join(encode(key)[1:] + encode(item) for key, item in value.items())
    return b"\6" + struct.pack("<I", len(value)) + pairs


class Decoder:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self):
        return struct.unpack("<I", self.take(4))[0]

    def value(self):
        kind = self.take(1)[0]
        if kind == 0:
            return None
        if kind == 1:
            return bool(self.take(1)[0])
        count = self.number()
        if kind == 2:
            return count
        if kind in (3, 4):
            data = self.take(count)
            return data.decode() if kind == 3 else data
        if kind == 5:
            return [self.value() for _ in range(count)]
        return {self.take(self.number()).decode(): self.value() for _ in range(count)}


class Service:
    """esbuild as a service, in a private copy: it waits for requests, and does one after the other."""

    def __init__(self, path, version, env=None, argv=()):
        """`argv`: a command that starts it"""
        self.path, self.new = path, numbers(version) >= SCOPED
        self.said = tempfile.TemporaryFile()
        self.child = subprocess.Popen([*argv, path, f"--service={version}"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=self.said, env=dict(os.environ, **(env or {})))
        self.requests = 0
        hello = self.packet().decode()
        if hello != version:
            raise Failure(f"{path} is {hello}, not {version}")

    @property
    def pid(self):
        return self.child.pid

    def packet(self):
        size = self.child.stdout.read(4)
        if len(size) < 4:
            raise Failure(f"{self.path} ended: {self.errors()[-1000:]}")
        return self.child.stdout.read(struct.unpack("<I", size)[0])

    def transform(self, code, *flags):
        """What it makes of JavaScript"""
        request = {"command": "transform", "flags": list(flags), "inputFS": False,
                   "input": code.encode() if self.new else code}
        data = struct.pack("<I", self.requests << 1) + encode(request)
        self.requests += 1
        self.child.stdin.write(struct.pack("<I", len(data)) + data)
        self.child.stdin.flush()
        answer = Decoder(self.packet())
        answer.number()
        result = answer.value()
        code = result["code"]
        if result["errors"]:
            raise Failure(f"{self.path}: {result['errors']}")
        return code if isinstance(code, str) else code.decode()

    def errors(self):
        """All that it has written to stderr"""
        self.said.seek(0)
        return self.said.read().decode("utf-8", "replace")

    def end(self):
        """Ends as soon as nothing more is asked for: its exit status"""
        self.child.stdin.close()
        return self.child.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        for file in self.child.stdin, self.child.stdout, self.said:
            try:
                file.close()
            except OSError:
                pass

# SPDX-License-Identifier: Apache-2.0
"""gotlskeys writes the keys that crypto/tls makes: those that its KeyLogWriter gets, and without one those that
the other end of the connection has, which is OpenSSL's."""

import collections
import json
import os
import re
import socket
import ssl
import stat
import tempfile

from harness import Target, expect, test

from test_recipes import Recipe

BUILDS = [("1.15", "strip"), ("1.27", "strip"), ("1.27", "plain")]
LINE = re.compile(r"[A-Z_0-9]+ [0-9a-f]{64} ([0-9a-f]{64}|[0-9a-f]{96})")


def same(got, true):
    got, true = collections.Counter(got), collections.Counter(true)
    expect(true and got == true, f"too many: {list((got - true).items())[:5]}, missing: {list((true - got).items())[:5]}")


def of_itself(built_as, *args):
    """What gotlskeys prints of the fixture, and what the KeyLogWriter got"""
    with Target("tls", *built_as, args=["calls=2", *args]) as target:
        with Recipe("gotlskeys", "-p", target.target_pid) as keys:
            keys.attached()
            target.go()
            text = keys.rest()
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            noise = keys.err.text()
    expect("lost" not in noise and "Whoever has these keys can read" in noise, noise)
    lines = text.splitlines()
    expect(all(LINE.fullmatch(line) for line in lines), f"no key log: {text}")
    return lines, re.findall("^KEY (.*)$", target.out.text(), re.M)


@test(built_as=BUILDS, version=["tls12", "tls13"])
def keys_as_logged(built_as, version):
    """Line by line what the program's own log has"""
    same(*of_itself(built_as, "keys", version))


@test(built_as=[("1.21", "strip"), ("1.27", "strip")])
def keys_of_quic(built_as):
    """A handshake of crypto/tls.QUICConn, by both ends"""
    lines, logged = of_itself(built_as, "keys", "quic")
    same(lines, logged)
    expect({"CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0"} <= {line.split()[0] for line in lines}, f"{lines}")


@test()
def keys_of_both_ends():
    """The server logs none, and has the same."""
    lines, logged = of_itself(("1.27", "strip"), "clientkeys")
    same(lines, logged * 2)


def talk(port, keylog):
    """A connection by OpenSSL, which writes its keys to a file"""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode, context.keylog_filename = False, ssl.CERT_NONE, keylog
    with socket.create_connection(("127.0.0.1", port)) as plain, context.wrap_socket(plain) as connection:
        connection.sendall(b"00000 ")
        expect(connection.recv(100) == b"00001 b", "the server answers something else")


def openssl_lines(path):
    """Go has no line for the secret that exporters use."""
    with open(path, encoding="ascii") as file:
        return [line for line in file.read().splitlines() if not line.startswith(("#", "EXPORTER_SECRET "))]


@test(built_as=[("1.15", "strip"), ("1.27", "strip")], version=["tls12", "tls13"])
def keys_without_a_log(built_as, version):
    """A server without KeyLogWriter; into a file, that nobody else can read"""
    with tempfile.TemporaryDirectory() as folder, Target("tls", *built_as, args=["serve=3", version]) as target:
        out, openssl = folder + "/keys", folder + "/openssl"
        with Recipe("gotlskeys", "-o", out, "-p", target.target_pid) as keys:
            keys.attached()
            target.go()
            port = int(target.wait_line("port").split()[1])
            for _ in range(3):
                talk(port, openssl)
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            expect(keys.rest() == "", "something is printed besides the file")
        with open(out, encoding="ascii") as file:
            lines = file.read().splitlines()
        same(lines, openssl_lines(openssl))
        expect(len({line.split()[1] for line in lines}) == 3, f"not three connections: {lines}")
        expect(stat.S_IMODE(os.stat(out).st_mode) == 0o600, f"mode {os.stat(out).st_mode:o}")


@test()
def keys_as_json():
    with Target("tls", "1.27", "strip") as target:
        with Recipe("gotlskeys", "-j", "--", target.path, "now", "calls=1", "keys") as keys:
            text = keys.rest()
    calls = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    same([call["message"] for call in calls], re.findall("^KEY (.*)$", text, re.M))
    expect(all(call["message"].startswith(call["label"] + " ") for call in calls), calls)


@test()
def keys_into_no_others_file():
    """A file that is there, and a link, are left alone; a command's own output is not in the file."""
    with tempfile.TemporaryDirectory() as folder, Target("tls", "1.27", "strip") as target:
        there, link, new = (f"{folder}/{name}" for name in ("there", "link", "new"))
        with open(there, "w", encoding="ascii") as file:
            file.write("mine")
        os.symlink(folder + "/nowhere", link)
        for path in there, link:
            with Recipe("gotlskeys", "-o", path, "--", target.path, "now") as keys:
                expect(keys.wait() == 1 and f'-o: cannot make "{path}": File exists' in keys.err.text(), keys.said())
        with open(there, encoding="ascii") as file:
            expect(file.read() == "mine", "a file of others was written to")
        expect(not os.path.exists(folder + "/nowhere"), "a link was followed")
        with Recipe("gotlskeys", "-o", new, "--", target.path, "now", "calls=1") as keys:
            expect("READ" in keys.rest(), keys.said())
        with open(new, encoding="ascii") as file:
            expect(all(LINE.fullmatch(line) for line in file.read().splitlines()), "more than keys in the file")

# SPDX-License-Identifier: Apache-2.0
"""A real, stripped program under load: etcd as Debian builds it."""

import base64
import http.client
import json
import os
import shutil
import socket
import tempfile
import threading
import time

from harness import PATIENCE, Process, Tool, counted, expect, run, test

PUTS, GETS = 40, 25
PUTS_TRACED = 150  # by writers, each time that a tracer comes


def copy_of(folder, program):
    """Of what tests/packages-test installs"""
    expect(os.path.exists(f"/usr/bin/{program}"), f"{program} is not installed")
    return shutil.copy(f"/usr/bin/{program}", folder)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Etcd(Process):
    def __init__(self, folder):
        self.path = copy_of(folder, "etcd")
        self.ctl = copy_of(folder, "etcdctl")
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.client = client
        super().__init__([
            self.path, "--data-dir", f"{folder}/data", "--name", "one",
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"one={peer}", "--unsafe-no-fsync"])

    def ask(self, *args):
        env = dict(os.environ, ETCDCTL_API="3")
        return run([self.ctl, "--endpoints", self.client, *args], env=env)

    def ready(self):
        for _ in range(100):
            if self.ask("endpoint", "health").returncode == 0:
                return self
            time.sleep(0.2)
        expect(False, f"etcd does not come up: {self.said()}")

    def load(self):
        """A known number of requests, with their answers checked"""
        for i in range(PUTS):
            expect("OK" in self.ask("put", f"key{i}", f"value{i}").stdout, "put failed")
        for i in range(GETS):
            expect(self.ask("get", f"key{i}").stdout == f"key{i}\nvalue{i}\n", "get is wrong")


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class Writer(threading.Thread):
    """Puts one key after another over etcd's JSON gateway, and reads each back."""

    def __init__(self, etcd, name):
        super().__init__()
        self.connection = http.client.HTTPConnection(etcd.client.removeprefix("http://"))
        self.name, self.begun, self.done, self.wrong, self.ending = name, 0, 0, "", False

    def ask(self, path, **request):
        self.connection.request("POST", path, json.dumps(request))
        return json.load(self.connection.getresponse())

    def round(self):
        key, value = encoded(f"{self.name}-{self.begun}"), encoded(f"value {self.begun}")
        self.begun += 1
        self.ask("/v3/kv/put", key=key, value=value)
        self.done += 1
        got = self.ask("/v3/kv/range", key=key)["kvs"][0]["value"]
        if got != value:
            self.wrong = f"{key} is {got}, not {value}"

    def run(self):
        try:
            while not self.ending:
                self.round()
        except (OSError, KeyError, ValueError, http.client.HTTPException) as why:
            self.wrong = repr(why)

    def end(self):
        self.ending = True
        self.join(60)
        expect(not self.wrong, f"{self.name}: {self.wrong}")


def wait_done(writers, count):
    """Returns when they have put so many keys, altogether."""
    end = time.monotonic() + PATIENCE
    while sum(w.done for w in writers) < count:
        expect(time.monotonic() < end and not any(w.wrong for w in writers), "etcd does not answer")
        time.sleep(0.02)


def method(records, name, key):
    found = [r[key] for r in records if (r["func"] or "").endswith("etcdserver.(*EtcdServer)." + name)]
    return sum(found)


@test()
def etcd_count():
    with tempfile.TemporaryDirectory() as folder, Etcd(folder) as etcd:
        etcd.ready()
        with Tool("gofunccount", "-j", "-p", etcd.pid, ":go.etcd.io/*") as tracer:
            tracer.tracing()
            etcd.load()
            records = tracer.stop()
            expect(len(counted(records)) > 100, "hardly any function was called")
            expect(method(records, "Put", "count") == PUTS, "not as many puts as were made")
            expect(method(records, "Range", "count") == GETS, "not as many gets as were made")
        etcd.load()


@test()
def etcd_latency():
    names = ["Put", "Range", "DeleteRange", "Txn", "Compact", "LeaseGrant", "LeaseRevoke",
             "processInternalRaftRequestOnce", "applyEntryNormal", "applyAll", "apply",
             "doSerialize"]
    with tempfile.TemporaryDirectory() as folder, Etcd(folder) as etcd:
        etcd.ready()
        pattern = r":go\.etcd\.io/.*etcdserver\.\(\*EtcdServer\)\.(" + "|".join(names) + ")$"
        with Tool("gofunclatency", "-j", "-F", "-r", "-p", etcd.pid, pattern) as tracer:
            tracer.tracing()
            begun = time.monotonic_ns()
            etcd.load()
            took = time.monotonic_ns() - begun
            records = tracer.stop()
            expect(method(records, "Put", "count") == PUTS, "not as many puts as were made")
            expect(method(records, "Range", "count") == GETS, "not as many gets as were made")
            expect(0 < method(records, "Put", "total") < took, "the puts took longer than the load")
        etcd.load()


@test(tool=["gofunccount", "gofunclatency"], by=["pid", "path"])
def etcd_under_load(tool, by):
    """Tracers come and go while requests are on their way."""
    with tempfile.TemporaryDirectory() as folder, Etcd(folder) as etcd:
        etcd.ready()
        target = ["-p", etcd.pid, ":"] if by == "pid" else [etcd.path + ":"]
        target[-1] += "go.etcd.io/*etcdserver.*"
        if tool == "gofunclatency":
            target.insert(0, "-F")
        writers = [Writer(etcd, f"writer{i}") for i in range(4)]
        for writer in writers:
            writer.start()
        try:
            for _ in range(3):
                most = -sum(w.done for w in writers)
                with Tool(tool, "-j", *target) as tracer:
                    tracer.tracing()
                    least = -sum(w.begun for w in writers)
                    wait_done(writers, PUTS_TRACED - least)
                    least += sum(w.done for w in writers)
                    puts = method(tracer.stop(), "Put", "count")
                most += sum(w.begun for w in writers)
                expect(0 < least <= puts <= most, f"{puts} puts, not {least} to {most}")
        finally:
            for writer in writers:
                writer.ending = True
        for writer in writers:
            writer.end()
        expect(etcd.child.poll() is None, "etcd has ended")
        etcd.load()

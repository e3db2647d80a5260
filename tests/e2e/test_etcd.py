# SPDX-License-Identifier: Apache-2.0
"""A real, stripped program under load: etcd as Debian builds it."""

import glob
import os
import shutil
import socket
import tempfile
import time

from harness import Process, Skip, Tool, counted, expect, run, test

PUTS, GETS = 40, 25


def packaged(folder, package, program):
    """A copy of /usr/bin/PROGRAM, unpacked from its package where it is not installed."""
    path = f"/usr/bin/{program}"
    if not os.path.exists(path):
        run(["apt-get", "-qq", "download", package], cwd=folder, timeout=120)
        debs = glob.glob(f"{folder}/{package}_*.deb")
        if not debs:
            raise Skip(f"no package {package}")
        run(["dpkg", "-x", debs[0], folder])
        path = f"{folder}/usr/bin/{program}"
    copy = f"{folder}/{program}"
    shutil.copy(path, copy)
    return copy


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Etcd(Process):
    def __init__(self, folder):
        self.path = packaged(folder, "etcd-server", "etcd")
        self.ctl = packaged(folder, "etcd-client", "etcdctl")
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


def method(records, name, key):
    found = [r[key] for r in records if (r["func"] or "").endswith("etcdserver.(*EtcdServer)." + name)]
    return sum(found)


@test(alone=True)
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


@test(alone=True)
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

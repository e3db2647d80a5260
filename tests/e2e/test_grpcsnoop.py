# SPDX-License-Identifier: Apache-2.0
"""gogrpcsnoop on etcd and etcdctl as Debian builds them: stripped, Go 1.19. Each command of etcdctl is one request."""

import collections
import json
import tempfile

from harness import expect, test

from test_etcd import Etcd
from test_recipes import Recipe, rows

MISSING = ("/etcdserverpb.Lease/LeaseRevoke: rpc error: code = NotFound desc = "
           "etcdserver: requested lease not found")
REQUESTS = {("UNARY", "OK", "/etcdserverpb.KV/Put"): 5, ("UNARY", "OK", "/etcdserverpb.KV/Range"): 3,
            ("UNARY", "FAIL", MISSING): 2, ("STREAM", "OK", "/etcdserverpb.Maintenance/Snapshot"): 1}


def ask(etcd, folder):
    for i in range(5):
        expect("OK" in etcd.ask("put", f"key{i}", "value").stdout, "put failed")
    for i in range(3):
        expect("value" in etcd.ask("get", f"key{i}").stdout, "get is wrong")
    for _ in range(2):
        expect("lease not found" in etcd.ask("lease", "revoke", "1234").stderr, "a lease was revoked that never was")
    etcd.ask("snapshot", "save", folder + "/snapshot")


@test()
def grpc_served():
    """As many as etcdctl has made, each with its status; and counted"""
    with tempfile.TemporaryDirectory() as folder, Etcd(folder) as etcd:
        etcd.ready()
        with Recipe("gogrpcsnoop", "-p", etcd.child.pid) as each, \
                Recipe("gogrpcsnoop", "-Ax", "-p", etcd.child.pid) as failed:
            each.attached()
            failed.attached()
            ask(etcd, folder)
            each.stop()
            failed.stop()
            text, counts, noise = each.out.text(), failed.out.text(), each.err.text()
    got = rows(text, 7)
    expect(all(row[2] == "SERVER" for row in got), text)
    expect(collections.Counter((row[3], row[5], row[6]) for row in got) == REQUESTS, f"{text}: {noise}")
    expect(all(0 < float(row[4]) < 60000 for row in got) and "lost" not in noise, f"{text}: {noise}")
    expect([line.split(None, 3) for line in counts.splitlines()] ==
           [["COUNT", "SIDE", "CALL", "METHOD"][:4], ["2", "SERVER", "UNARY", MISSING]], counts)


@test()
def grpc_made():
    """By etcdctl: a request, a failing one, and a stream; JSON"""
    with tempfile.TemporaryDirectory() as folder, Etcd(folder) as etcd:
        etcd.ready()
        command = ["env", "ETCDCTL_API=3", etcd.ctl, "--endpoints", etcd.client]
        with Recipe("gogrpcsnoop", "-c", etcd.ctl, "--", *command, "put", "key", "value") as put:
            got = rows(put.rest(), 7)
        expect([row[2:4] + row[5:] for row in got] == [["CLIENT", "UNARY", "OK", "/etcdserverpb.KV/Put"]], got)
        with Recipe("gogrpcsnoop", "-c", etcd.ctl, "--", *command, "snapshot", "save", folder + "/snapshot") as save:
            got = rows(save.rest(), 7)
        expect([row[2:4] + row[5:] for row in got] ==
               [["CLIENT", "STREAM", "OK", "/etcdserverpb.Maintenance/Snapshot"]], got)
        with Recipe("gogrpcsnoop", "-j", etcd.ctl, "--", *command, "lease", "revoke", "1234") as revoke:
            calls = [json.loads(line) for line in revoke.rest(1).splitlines() if line.startswith('{"type"')]
    # etcd's client has interceptors: Invoke is called once
    expect([(call["side"], call["call"], call["status"], f"{call['method']}: {call['error']}") for call in calls] ==
           [("CLIENT", "UNARY", "FAIL", MISSING)], calls)

# SPDX-License-Identifier: Apache-2.0
"""gotrace on real programs: a server of net/http under load, and etcd, stripped as Debian builds it."""

import collections
import http.client
import tempfile
import threading

from harness import Target, expect, test, tracks

from gotrace import Tracer, texts
from test_etcd import GETS, PUTS, Etcd

CLIENTS, REQUESTS = 6, 60
SERVER = "go.etcd.io/etcd/etcdserver.(*EtcdServer)"


class Client(threading.Thread):
    """Asks one thing after another, and keeps what it asked and was answered."""

    def __init__(self, port, number):
        super().__init__()
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.number, self.asked, self.statuses, self.wrong = number, [], [], ""

    def ask(self, i):
        method = ("GET", "POST", "DELETE")[i % 3]
        path = f"/{('found', 'missing', 'found')[i % 5 % 3]}/{self.number}/{i}"
        self.connection.request(method, path, body="x" * i if method == "POST" else None)
        answer = self.connection.getresponse()
        answer.read()
        self.asked.append(f"{method} {path}")
        self.statuses.append(answer.status)

    def run(self):
        try:
            for i in range(REQUESTS):
                self.ask(i)
        except (OSError, http.client.HTTPException) as why:
            self.wrong = repr(why)


def load(target):
    """Lets clients ask all at once: them, when they are done"""
    port = int(target.wait_line("port").split()[1])
    clients = [Client(port, n) for n in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
        expect(not client.wrong, f"client {client.number}: {client.wrong}")
    return clients


def serve(version, *probes):
    """What gotrace printed of a server under load, and the clients"""
    with Target("web", version) as target, Tracer("-p", target.target_pid, *probes) as tracer:
        tracer.attached()
        target.go()
        clients = load(target)
        target.go()
        text = tracer.rest()
        target.wait()
        return texts(text), clients, tracks(target.out.text()), tracer.err.text()


def same(got, true, what):
    got, true = collections.Counter(got), collections.Counter(true)
    expect(got == true, f"{what}: {sum(got.values())}, in truth {sum(true.values())}; too many: "
           f"{list((got - true).items())[:3]}, missing: {list((true - got).items())[:3]}")


@test(version=["1.15", "1.19", "1.27"])
def trace_http(version):
    got, clients, _, err = serve(
        version, ':net/http.serverHandler.ServeHTTP "request %s %s", req.Method, req.URL.Path',
        ':net/http.(*response).WriteHeader "status %d", code')
    same([t.removeprefix("request ") for t in got if t.startswith("request")],
         [asked for c in clients for asked in c.asked], "requests")
    same([t for t in got if t.startswith("status")],
         [f"status {status}" for c in clients for status in c.statuses], "statuses")
    expect("lost" not in err, err)


@test(version=["1.15", "1.19", "1.27"])
def trace_http_errors(version):
    got, clients, truth, _ = serve(version, 'r:main.handle (err != nil) "%s %s: %v", method, path, err')
    true = []
    for client in clients:
        for asked, status in zip(client.asked, client.statuses):
            if status != 200:
                why = "not here" if status == 404 else "no such method"
                true.append(f"{asked}: {why}")
    failures = next(t["calls"] for t in truth if t["func"].startswith("failures"))
    expect(len(true) == failures > 0, f"{failures} failures, the clients saw {len(true)}")
    expect(len(got) == failures, f"{len(got)} of {failures} failures")
    # the text of a *main.Refusal is made by its method: what can be read of it is what it holds
    same([t for t in got if "no such method" in t], [t for t in true if "no such method" in t], "errors")
    same([t.split(":")[0] for t in got], [t.split(":")[0] for t in true], "what failed")


@test()
def trace_etcd():
    """Signatures typed by hand; their types' names are in the program."""
    put = f":{SERVER}.Put(ctx context.Context, r *etcdserverpb.PutRequest)"
    with tempfile.TemporaryDirectory() as folder, Etcd(folder) as etcd:
        etcd.ready()
        with Tracer("-p", etcd.pid, f'{put} "put %s=%s", r.Key, r.Value',
                    f':{SERVER}.Range "range %d", goarg1 != 0') as tracer:
            tracer.attached()
            etcd.load()
            tracer.signal(2)
            got = texts(tracer.rest())
        puts = [t for t in got if t.startswith("put")]
        same(puts, [f"put key{i}=value{i}" for i in range(PUTS)], "puts")
        expect(got.count("range 1") == GETS, f"{got.count('range 1')} ranges, not {GETS}")


@test()
def trace_etcd_results():
    """Results of a stripped program"""
    sig = (f"r:{SERVER}.Put(ctx context.Context, r *etcdserverpb.PutRequest)"
           " (resp *etcdserverpb.PutResponse, err error)")
    with tempfile.TemporaryDirectory() as folder, Etcd(folder) as etcd:
        etcd.ready()
        with Tracer("-p", etcd.pid, f'{sig} "%s %v %d", r.Key, err, $latency') as tracer:
            tracer.attached()
            etcd.load()
            tracer.signal(2)
            got = [t.split() for t in texts(tracer.rest())]
        same([t[0] for t in got], [f"key{i}" for i in range(PUTS)], "puts")
        expect(all(t[1] == "nil" and int(t[2]) > 1000 for t in got), f"{got[:3]}")

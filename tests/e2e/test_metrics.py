# SPDX-License-Identifier: Apache-2.0
"""--metrics: what is scraped, or stands in the file, is what the program itself has counted."""

import collections
import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import tempfile
import textwrap
import threading
import time
import urllib.parse
import urllib.request
from functools import partial

from harness import (TESTS, Skip, Target, Tool, expect, fixture, newest, run, some_versions, test, tool_path,
                     tracks)
from processes import PATIENCE, Failure, Process

TOOLS = ["gofunccount", "gofunclatency"]
OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0, text/plain; q=0.5"}
SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\} (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')
TRACKED = [f":main.{name}" for name in ("plainCall", "sleepsBriefly", "throwsAlways", "leavesByGoexit", "holdsOn",
                                     "calledSeldom")]
SETTLES_S = 30  # a reading answers all who ask within ten times as long as it took: long on a busy machine


class Metered(Target):
    """The fixture that works on command, and what it says it did."""

    def __init__(self, version, **kwargs):
        super().__init__("metered", version, **kwargs)
        self.told = 0
        self.go()

    def does(self, what):
        self.told += 1
        self.say(what)
        self.wait_line(f"told {self.told}\n")
        before = self.out.text().rpartition(f"told {self.told}\n")[0]
        return {t["func"]: t for t in tracks(before.rpartition("told ")[2])}


def value_of(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def parsed(text, openmetrics=False):
    """{(family, func): value} and [(func, le, value)...] of a whole text, which has to be valid."""
    if openmetrics:
        expect(text.endswith("\n# EOF\n"), f"no end: {text[-100:]!r}")
        text = text[:-len("# EOF\n")]
    expect(text.endswith("\n"), f"cut off: {text[-100:]!r}")
    values, buckets, family, seen = {}, [], None, set()
    for line in text.splitlines():
        if line.startswith("# "):
            family = line.split()[2] if line.startswith("# TYPE ") else family
            continue
        sample = SAMPLE.fullmatch(line)
        expect(sample and family and sample[1].startswith(family), f"not valid: {line!r} of {family}")
        labels = {key: value_of(value) for key, value in LABEL.findall(sample[2])}
        expect((sample[1], sample[2]) not in seen, f"twice: {line}")
        seen.add((sample[1], sample[2]))
        if "le" in labels:
            buckets.append((labels["func"], float(labels["le"]), int(sample[3])))
        else:
            key = sample[1], labels.get("func", labels.get("reason"))
            if "state" in labels:
                key = *key, labels["state"]
            values[key] = float(sample[3]) if sample[1].endswith(("_sum", "_seconds_total")) else int(sample[3])
            values.setdefault(("binary", labels.get("func")), labels.get("binary"))
    return values, buckets


class Metrics(Tool):
    """A tool that serves its metrics at a port of the kernel's choice."""

    def __init__(self, name, *args, host="127.0.0.1", **kwargs):
        super().__init__(name, "--metrics", f"{host}:0", *args, **kwargs)

    def tracing(self):
        line = self.wait_line(f"{os.path.basename(self.argv[0])}: metrics: http://")
        self.port = int(re.search(r":(\d+)/metrics$", line.strip())[1])
        return super().tracing()

    def get(self, path="/metrics", headers=None, method="GET", body=None, source="127.0.0.1"):
        """(status, headers, text)"""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE, source_address=(source, 0))
        client.request(method, path, body=body, headers=headers or {})
        answer = client.getresponse()
        text = answer.read().decode()
        client.close()
        return answer.status, answer.headers, text

    def scrape(self, openmetrics=False, source="127.0.0.1"):
        status, headers, text = self.get(headers=OPENMETRICS if openmetrics else None, source=source)
        expect(status == 200, f"{status}: {text}")
        kind = "application/openmetrics-text; version=1.0.0" if openmetrics else "text/plain; version=0.0.4"
        expect(headers["Content-Type"].startswith(kind), headers["Content-Type"])
        return parsed(text, openmetrics)

    def settled(self, check, **how):
        """A scrape that the check is content with; the first ones may be of a reading before."""
        end = time.monotonic() + SETTLES_S
        while True:
            values, buckets = self.scrape(**how)
            try:
                check(values)
                return values, buckets
            except Failure:
                if time.monotonic() > end:
                    raise
            time.sleep(0.05)


def check_counts(tool, truth, values):
    """All that is published of each function, as the tool has it"""
    for func, track in truth.items():
        if tool == "gofunccount":
            wanted = {"calls_total": track["calls"]}
        else:
            wanted = {"calls_total": track["returned"], "latency_seconds_count": track["returned"],
                      "panicked_total": track["panicked"], "exited_total": track["exited"],
                      "running": track["running"], "process_ended_total": 0}
        got = {key: values.get((f"gofunc_{key}", func)) for key in wanted}
        expect(got == wanted, f"{func}: {got}, in truth {wanted}")


def check_buckets(truth, values, buckets):
    """Cumulative, of the same bounds for all; no call is below a bound that it took longer than."""
    bounds = {}
    for func, bound, count in buckets:
        bounds.setdefault(func, []).append((bound, count))
    for func, track in truth.items():
        limits, counts = zip(*bounds[func])
        expect(list(limits) == sorted(limits) and limits[-1] == float("inf"), f"{func}: bounds {limits}")
        expect(limits == next(iter(zip(*bounds["main.plainCall"]))), f"{func}: bounds {limits}")
        expect(list(counts) == sorted(counts), f"{func}: not cumulative: {counts}")
        expect(counts[-1] == values["gofunc_latency_seconds_count", func], f"{func}: +Inf {counts[-1]}")
        for limit, count in bounds[func] if track["ns"] else []:
            true = sum(1 for ns in track["ns"] if ns <= limit * 1e9 - 20)
            expect(count >= true, f"{func}: {count} calls up to {limit} s, {true} in truth")
    slept = dict(bounds["main.sleepsBriefly"])
    expect(slept[0.002097151] == 0, f"calls of 3 ms: {slept}")


@test(tool=TOOLS, version=some_versions)
def scraped(tool, version):
    """Each scrape is exact, of both formats, and never goes back."""
    with Metered(version) as target:
        with Metrics(tool, "-p", target.target_pid, *TRACKED) as tracer:
            tracer.tracing()
            check_counts(tool, {"main.plainCall": dict.fromkeys(
                ("calls", "returned", "panicked", "exited", "running"), 0)}, tracer.scrape()[0])
            for what in "work 50", "hold 7", "work 20", "seldom", "release", "hold 20":
                truth = target.does(what)
                for openmetrics in False, True:
                    values, buckets = tracer.settled(partial(check_counts, tool, truth), openmetrics=openmetrics)
                    if tool == "gofunclatency":
                        check_buckets(truth, values, buckets)
            expect(values["binary", "main.plainCall"] == target.path, values["binary", "main.plainCall"])
            if tool == "gofunclatency":
                lost = {key[1]: value for key, value in values.items() if key[0] == "gofunc_lost_total"}
                expect(len(lost) == 9 and not any(lost.values()), f"lost: {lost}")
            target.say("end")
            expect(tracer.wait() == 0, tracer.said())


def states_in(values, func):
    """{state: ns}"""
    return {key[2]: round(value * 1e9) for key, value in values.items()
            if key[0] == "gofunc_state_seconds_total" and key[1] == func}


def check_states(func, calls, least, values):
    """The states sum up to the latency, to the ns; each call has slept."""
    states, total = states_in(values, func), round(values["gofunc_latency_seconds_sum", func] * 1e9)
    expect(values["gofunc_calls_total", func] == calls and sum(states.values()) == total, f"{total} ns: {states}")
    expect(states.get("sleep", 0) >= least and states["running"] > 0, f"not {least} ns of sleep: {states}")


@test(version=["1.15", "1.27"])
def scraped_states(version):
    """gofunclatency --states: what the fixture has slept is in the counters, which never go back, and at the end
    what is printed."""
    func, before = "main.sleepsBriefly", {}
    with tempfile.TemporaryDirectory() as folder, Metered(version) as target:
        with Metrics("gofunclatency", "--states", "-p", target.target_pid, *TRACKED) as tracer, \
                Tool("gofunclatency", "--states", "--metrics", f"{folder}/a.prom", "-F", "-j", "-p", target.target_pid,
                     *TRACKED) as filed_too:
            tracer.tracing()
            filed_too.tracing()
            expect(states_in(tracer.scrape()[0], func) == {"running": 0}, "states before the first call")
            for openmetrics in False, True:
                track = target.does("work 20")[func]
                values, _ = tracer.settled(partial(check_states, func, track["returned"], 3e6 * track["returned"]),
                                           openmetrics=openmetrics)
                now = states_in(values, func)
                expect(all(now[state] >= ns for state, ns in before.items()), f"{now} after {before}")
                before = now
            record = next(r for r in filed_too.stop() if r.get("func") == func)
            with open(f"{folder}/a.prom", encoding="utf-8") as file:
                last = states_in(parsed(file.read())[0], func)
            expect(last == {state: part["total"] for state, part in record["states"].items()}, f"{last}, not {record}")
            tracer.stop()


def jsons(records, key, func):
    return sum(r[key] for r in records if r.get("func") == func)


@test(tool=TOOLS)
def filed(tool):
    """The file is whole whenever it is read, grows on while -i begins anew, and at the end agrees with what
    was printed, to the ns."""
    with tempfile.TemporaryDirectory() as folder, Metered(newest()) as target:
        path, seen, over = f"{folder}/a.prom", [], threading.Event()
        options = ["-F"] if tool == "gofunclatency" else []
        os.symlink("/dev/null/precious", path)

        def read():
            while not over.is_set():
                with contextlib.suppress(FileNotFoundError, NotADirectoryError), open(path, encoding="utf-8") as file:
                    text = file.read()
                    if not seen or seen[-1] != text:
                        seen.append(text)

        with Tool(tool, "--metrics", path, "-j", "-i", "300ms", *options, "-p", target.target_pid,
                  *TRACKED) as tracer:
            tracer.tracing()
            reader = threading.Thread(target=read)
            reader.start()
            for _ in range(8):
                truth = target.does("work 30")
                time.sleep(0.3)
            records = tracer.stop()
            over.set()
            reader.join()
        expect(len(seen) > 5, f"the file was new {len(seen)} times")
        before = 0
        for text in seen:
            values, _ = parsed(text)
            expect(values["gofunc_calls_total", "main.plainCall"] >= before, "a counter went back")
            before = values["gofunc_calls_total", "main.plainCall"]
        check_counts(tool, truth, values)
        for func in truth:
            counted = jsons(records, "count", func)
            expect(values["gofunc_calls_total", func] == counted, f"{func}: {values} in the file, {counted} printed")
            if tool == "gofunclatency":
                total = jsons(records, "total", func)
                expect(round(values["gofunc_latency_seconds_sum", func] * 1e9) == total, f"{func}: {total} ns")
        expect(os.listdir(folder) == ["a.prom"] and not os.path.islink(path), f"{os.listdir(folder)}")
        expect(os.stat(path).st_mode & 0o7777 == 0o644, f"{os.stat(path)}")


@test(tool=TOOLS)
def output_stays(tool):
    """What is printed is the same with --metrics, which for gofunclatency has the kernel side keep more."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for options in [], ["--metrics", f"{folder}/a.prom"]:
            with Metered(newest()) as target:
                # the last two take about as long
                with Tool(tool, *options, "-j", "-p", target.target_pid, *TRACKED, ":main.caught", ":main.leave") as tracer:
                    tracer.tracing()
                    truth = target.does("work 300")
                    records = tracer.stop()
                    lines.append([(r["type"], r.get("func"), r["count"], list(r)) for r in records])
        expect(lines[0] == lines[1], f"{lines}")
        if tool == "gofunclatency":
            buckets = sum(count for _, _, count in records[0]["buckets"])
            expect(buckets == records[0]["count"] == 600 + sum(t["returned"] for t in truth.values()), f"{records}")


@test(tool=TOOLS)
def max_series(tool):
    """Functions beyond the number are one, said once."""
    with Metered(newest()) as target:
        with Metrics(tool, "--max-series", 2, "-p", target.target_pid, *TRACKED) as tracer:
            tracer.tracing()
            expect(not any(key[0] == "gofunc_calls_total" for key in tracer.scrape()[0]), "uncalled ones are there")
            kind = "calls" if tool == "gofunccount" else "returned"

            def check(values):
                calls = {key[1]: value for key, value in values.items() if key[0] == "gofunc_calls_total"}
                expect(len(calls) == 3 and "other" in calls, f"{calls}")
                wrong = {func for func in calls if func != "other" and calls[func] != truth[func][kind]}
                expect(not wrong, f"{wrong} of {calls}")
                expect(sum(calls.values()) == sum(t[kind] for t in truth.values()), f"{calls} of {truth}")

            for _ in range(3):
                truth = target.does("work 40")
                tracer.settled(check)
            target.say("end")
            expect(tracer.wait() == 0, tracer.said())
            expect(tracer.err.text().count('func="other"') == 1, tracer.err.text())


def is_same(got, wanted):
    expect(got == wanted, f"{got}, not {wanted}")


@test(version=["1.19", "1.27"])
def unreturned(version):
    """Calls that are lost for want of room, and those of a process that is gone, are in one place each."""
    begun, room = 12, 5

    def check(running, ended, values):
        is_same({key: values[f"gofunc_{key}", "main.holdsOn"] for key in ("running", "process_ended_total", "calls_total")},
                {"running": running, "process_ended_total": ended, "calls_total": 0})
        is_same(values["gofunc_lost_total", "goroutines_full"], begun - room)

    with Metered(version) as target:
        env = dict(os.environ, GOTOOLS_ROOM=str(room))
        with Metrics("gofunclatency", f"{target.path}:main.holdsOn", env=env) as tracer:
            tracer.tracing()
            target.does(f"hold {begun}")
            tracer.settled(partial(check, room, 0))
            target.signal(9)
            target.wait()
            tracer.settled(partial(check, 0, room))
            tracer.stop()


@test()
def strange_names():
    """Any name of a file can be a label."""
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/a "b\\c'
        shutil.copy(fixture("metered", newest()), path)
        with Metered(newest(), path=path) as target, Metrics("gofunccount", f"{path}:main.plainCall") as tracer:
            tracer.tracing()
            target.does("work 3")
            values, _ = tracer.settled(
                lambda values: expect(values["gofunc_calls_total", "main.plainCall"] == 3, f"{values}"))
            expect(values["binary", "main.plainCall"] == path, f"{values}")
            tracer.stop()


@test()
def only_get():
    """What is asked otherwise, or for something else, is refused; GET and HEAD are alike."""
    with Metered(newest()) as target, Metrics("gofunccount", f"{target.path}:main.plainCall") as tracer:
        tracer.tracing()
        target.does("work 3")
        status, headers, text = tracer.get()
        size = headers["Content-Length"]
        expect(status == 200 and int(size) == len(text), f"{status} {headers}")
        status, headers, text = tracer.get(method="HEAD")
        expect((status, text, headers["Content-Length"]) == (200, "", size), f"{status} {headers}")
        for method in "POST", "PUT", "DELETE", "OPTIONS", "NONE":
            status, headers, text = tracer.get(method=method, body="x" * 100)
            expect(status == 405 and headers["Allow"] == "GET, HEAD", f"{method}: {status} {text}")
        status, _, text = tracer.get("/")
        expect(status == 200 and "/metrics" in text, f"{status} {text}")
        for path in "/metrics/", "/Metrics", "//metrics", "/..", "/%2e", "*", "/metrics%00x", "/%00":
            status, _, text = tracer.get(path)
            expect(status == 404, f"{path}: {status} {text}")
        tracer.stop()


@test()
def refused_early():
    """Where metrics cannot go is said before anything is traced, with a remedy."""
    path = fixture("metered", newest())
    with socket.create_server(("127.0.0.1", 0)) as taken, tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/d.prom")
        port = taken.getsockname()[1]
        for where, said, remedy in (
                (f":{port}", f"127.0.0.1:{port} is in use", f"sport = :{port}"),
                ("203.0.113.7:9", "no such address", "127.0.0.1"),
                (f"{folder}/no/a.prom", f'"{folder}/no/a.prom": No such file', "make its folder"),
                ("/proc/sys/a.prom", '"/proc/sys/a.prom": ', ""),
                (f"{folder}/d.prom", "Is a directory", "")):
            for tool in TOOLS:
                done = run([tool_path(tool), "--metrics", where, "-d", "1", f"{path}:main.plainCall"])
                expect(done.returncode == 1 and "Tracing" not in done.stdout, f"{where}: {done}")
                expect(said in done.stderr and remedy in done.stderr, f"{where}: {done.stderr}")
        for where in "nowhere", "1.2.3:80", ":65536", "[::1:80":
            done = run([tool_path("gofunccount"), "--metrics", where, f"{path}:main.plainCall"])
            expect(done.returncode == 2 and "hint: " in done.stderr, f"{where}: {done}")


@test()
def port_below_1024():
    """Without the privilege: the port is named."""
    done = run(["setpriv", "--bounding-set", "-net_bind_service", tool_path("gofunccount"), "--metrics", ":81", "-d", "1",
                f"{fixture('metered', newest())}:main.plainCall"])
    expect(done.returncode == 1 and "no permission to listen on 127.0.0.1:81" in done.stderr, f"{done}")


def is_open(client):
    """Has the server not closed it? What it has sent is read."""
    client.settimeout(0.01)
    try:
        while client.recv(4096):
            pass
    except TimeoutError:
        return True
    except OSError:
        pass
    return False


def lives(client):
    """Is the connection open still? It asks on, a byte at a time."""
    with contextlib.suppress(OSError):
        client.sendall(b"x")
    return is_open(client)


@test()
def hostile_clients():
    """Clients that send or read slowly or never hold up neither the scrapes of others, nor the counts, nor
    the end."""
    with Metered(newest()) as target, contextlib.ExitStack() as open_ones:
        with Metrics("gofunclatency", "-j", "-F", "-p", target.target_pid, *TRACKED) as tracer:
            tracer.tracing()
            clients = []
            for i in range(40):
                client = open_ones.enter_context(socket.create_connection(("127.0.0.1", tracer.port)))
                clients.append(client)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                with contextlib.suppress(OSError):  # more than an address may have
                    client.sendall((b"GET /metrics HTTP/1.1\r\nHost: x\r\n", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
                                    b"G", b"\0" * 9000)[i % 4])
            truth = target.does("work 40")
            tracer.settled(partial(check_counts, "gofunclatency", truth), source="127.0.0.2")
            left = sum(map(is_open, clients))
            expect(left <= 8, f"one address has {left} connections")
            begun = time.monotonic()
            tracer.signal(2)
            records = tracer.records()
            took = time.monotonic() - begun
            expect(took < 10, f"the end took {took} s")
            for func in truth:
                expect(jsons(records, "count", func) == truth[func]["returned"], f"{func}: {records}")


class Flood(threading.Thread):
    """Connects from 127.0.0.2 to 127.0.0.254 without a pause: some say nothing, some ask a byte at a time, some
    ask and read nothing; so many stay open as one process may have."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.over, self.made = port, threading.Event(), 0

    def run(self):
        held = collections.deque()
        while not self.over.is_set():
            with contextlib.suppress(OSError):  # the queue is full
                held.append(client := socket.socket())
                client.setblocking(False)
                client.bind((f"127.0.0.{self.made % 253 + 2}", 0))
                self.made += 1
                client.connect_ex(("127.0.0.1", self.port))
            if len(held) > 20:
                with contextlib.suppress(OSError):  # it had to go
                    held[-20].send((b"", b"G", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")[self.made % 3])
            if len(held) > 700:
                held.popleft().close()
        for client in held:
            client.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


@test()
def flooded():
    """Thousands of connections from other addresses, open, slow or asking: who was served before gets each of
    its scrapes, and counting goes on."""
    with Metered(newest()) as target, Metrics("gofunccount", "-j", "-p", target.target_pid, *TRACKED) as tracer:
        tracer.tracing()
        tracer.scrape()
        with Flood(tracer.port) as flood:
            while flood.made < 1000:
                time.sleep(0.01)
            for _ in range(20):
                truth = target.does("work 5")
                tracer.settled(partial(check_counts, "gofunccount", truth))
            expect(flood.made > 2000, f"just {flood.made} connections")
        records = tracer.stop()
        for func in truth:
            expect(jsons(records, "count", func) == truth[func]["calls"], f"{func}: {records}")


@test()
def dripping_client():
    """However busily, nobody is there for more than some ten seconds; and who comes then, of the same descriptor,
    is another."""
    with Metered(newest()) as target, Metrics("gofunccount", f"{target.path}:main.plainCall") as tracer:
        tracer.tracing()
        tracer.scrape()
        with socket.create_connection(("127.0.0.1", tracer.port)) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
            begun = time.monotonic()
            while lives(client):
                expect(time.monotonic() - begun < 60, "it is there still")
                time.sleep(0.2)
            expect(time.monotonic() - begun > 5, "it was there too short for a slow but honest one")
        tracer.scrape()
        tracer.scrape()
        tracer.stop()


@test()
def left_out():
    """A function that is not traced has no number, not even 0."""
    with Metered(newest()) as target, Metrics("gofunclatency", f"{target.path}:main.*") as tracer:
        tracer.tracing()
        values, _ = tracer.scrape()
        tracer.stop()
    left = set(re.findall(r"^gofunclatency: (\S+) is left out", tracer.err.text(), re.M))
    funcs = {key[1] for key in values if key[0] == "gofunc_calls_total"}
    expect(left and not funcs & left and "main.plainCall" in funcs, f"{left} of {funcs}")


def prometheus(name):
    """A program of Debian's prometheus"""
    found = run([TESTS + "/prometheus"], timeout=400)
    expect(found.returncode == 0, f"no prometheus: {found.stderr[-200:]}")
    return os.path.join(found.stdout.strip(), name)


def of_page(beginning):
    """What gotools-metrics(7) shows that begins so"""
    with open(f"{TESTS}/../man/gotools-metrics.7", encoding="utf-8") as page:
        shown = re.findall(r"^\.nf\n(.*?)^\.fi$", page.read().replace("\\-", "-"), re.M | re.S)
    return next(textwrap.dedent(text) for text in shown if text.strip().startswith(beginning))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Prometheus(Process):
    """It scrapes jobs by their ports, each second."""

    def __init__(self, folder, jobs):
        self.port = free_port()
        config = {"global": {"scrape_interval": "1s"},
                  "scrape_configs": [{"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                                     for job, port in jobs.items()]}
        with open(f"{folder}/prometheus.yml", "w", encoding="ascii") as file:
            json.dump(config, file)  # which YAML contains
        super().__init__([prometheus("prometheus"), f"--config.file={folder}/prometheus.yml",
                          f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{self.port}"])
        self.wait_line("ts=")

    def results(self, query):
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)["data"]["result"]
        except ConnectionRefusedError:
            return []  # it does not listen yet
        except OSError as why:
            raise Failure(f"{query}: {why}") from None

    def ask(self, query):
        """The only value of a query, None: there is none"""
        results = self.results(query)
        expect(len(results) <= 1, f"{query}: {results}")
        return float(results[0]["value"][1]) if results else None

    def await_value(self, query, wanted):
        end = time.monotonic() + PATIENCE
        while (got := self.ask(query)) != wanted:
            expect(time.monotonic() < end, f"{query}: {got}, not {wanted}; {self.said()}")
            expect(got is None or got < wanted, f"{query}: {got} of {wanted}")
            time.sleep(0.2)


@test(tool=TOOLS)
def promtool_is_content(tool):
    """It has nothing to say, of either tool's text with all kinds of numbers."""
    with Metered(newest()) as target, Metrics(tool, f"{target.path}:main.*") as tracer:
        tracer.tracing()
        target.does("hold 2")
        target.does("work 5")
        text = tracer.get()[2]
        done = run([prometheus("promtool"), "check", "metrics"], input=text)
        expect((done.returncode, done.stdout + done.stderr) == (0, ""), f"{done}")
        tracer.stop()
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as config:
        config.write(of_page("scrape_configs"))
        config.flush()
        done = run([prometheus("promtool"), "check", "config", config.name])
        expect(done.returncode == 0, f"{done}")


@test()
def prometheus_counts():
    """What Prometheus has of many scrapes is what the program did; a tool that is started again is a reset
    of its counters; quantiles lie where the tool has them."""
    ports = {"count": free_port(), "latency": free_port()}
    series = 'gofunc_calls_total{job="count", func="main.plainCall"}'
    slow = '{func="main.sleepsBriefly"}'
    with Metered(newest()) as target, tempfile.TemporaryDirectory() as folder, Prometheus(folder, ports) as server:
        patterns = [f"{target.path}{name}" for name in TRACKED]
        counter = ["gofunccount", "--metrics", f":{ports['count']}", *patterns]
        with Tool("gofunclatency", "--metrics", ports["latency"], "-jF", *patterns) as timer:
            timer.tracing()
            with Tool(*counter) as tracer:
                tracer.tracing()
                server.await_value(series, 0)
                for _ in range(4):
                    truth = target.does("work 60")
                    time.sleep(1)
                for func, track in truth.items():
                    server.await_value(f'gofunc_calls_total{{job="count", func="{func}"}}', track["calls"])
                    for name, value in (("calls_total", "returned"), ("latency_seconds_count", "returned"),
                                        ("panicked_total", "panicked"), ("exited_total", "exited")):
                        server.await_value(f'gofunc_{name}{{job="latency", func="{func}"}}', track[value])
                tracer.stop()
            for query, func in (("sum by (func) (rate(", "plainCall"), ("histogram_quantile", "sleepsBriefly"),
                                ("sum by (func) (increase(", "throwsAlways")):
                got = {r["metric"]["func"]: float(r["value"][1]) for r in server.results(of_page(query))}
                expect(got.get(f"main.{func}", 0) > 0, f"{of_page(query)}: {got}")
            half = server.ask(f"histogram_quantile(0.5, gofunc_latency_seconds_bucket{slow})")
            records = timer.stop()
        with Tool(*counter) as tracer:
            tracer.tracing()
            target.does("work 7")
            end = time.monotonic() + PATIENCE
            while server.ask(series) != 7:
                expect(time.monotonic() < end, f"{server.ask(series)} of 7; {server.said()}")
                time.sleep(0.2)
            expect(server.ask(f"resets({series}[5m])") == 1, "no reset, or several")
            grown = server.ask(f"increase({series}[5m])")
            expect(grown >= truth["main.plainCall"]["calls"] + 7, f"increase: {grown}")
            tracer.stop()
    median = next(r["p50"] for r in records if r["func"] == "main.sleepsBriefly")
    low = 1 << median.bit_length() - 1
    expect(low - 1 <= half * 1e9 <= 2 * low, f"median {median} ns by the tool, {half} s by Prometheus")


@test(host=["[::1]", "127.0.0.2", "0.0.0.0", "localhost", ""])
def addresses(host):
    """Those that are named, and no others"""
    if host == "[::1]" and not os.path.exists("/proc/net/if_inet6"):
        raise Skip("no IPv6")
    path = fixture("metered", newest())
    with Metrics("gofunccount", f"{path}:main.plainCall", host=host) as tracer:
        tracer.tracing()
        own = {"[::1]": "::1", "127.0.0.2": "127.0.0.2"}.get(host, "127.0.0.1")
        for address in "127.0.0.1", "127.0.0.2", "::1":
            try:
                with socket.create_connection((address, tracer.port), timeout=PATIENCE):
                    got = True
            except OSError:
                got = False
            expect(got == (address == own or host == "0.0.0.0" and address != "::1"), f"{host}: {address}: {got}")
        tracer.stop()


@test()
def folder_goes_away():
    """A file that can no longer be written: said once each time that it begins, and at the end an error; what was
    counted is printed. A folder that is made again is found."""
    with tempfile.TemporaryDirectory() as folder, Metered(newest()) as target:
        path = f"{folder}/sub/a.prom"
        os.mkdir(f"{folder}/sub")
        with Tool("gofunccount", "--metrics", path, "-j", "-i", "100ms", f"{target.path}:main.plainCall") as tracer:
            tracer.tracing()
            for outage in 1, 2:
                while os.path.exists(f"{folder}/sub"):  # a file may be made in it meanwhile
                    shutil.rmtree(f"{folder}/sub", ignore_errors=True)
                end = time.monotonic() + PATIENCE
                while tracer.err.text().count(f'--metrics: cannot write "{path}"') < outage:
                    expect(time.monotonic() < end, f"outage {outage}: {tracer.said()}")
                    time.sleep(0.05)
                if outage == 1:
                    os.mkdir(f"{folder}/sub")
                    while not os.path.exists(path):
                        expect(time.monotonic() < end, f"it is not written again: {tracer.said()}")
                        time.sleep(0.05)
            truth = target.does("work 9")
            tracer.signal(2)
            records = tracer.records(status=1)
        said = tracer.err.text().count(f'cannot write "{path}": No such file')
        expect(said == 3, tracer.err.text())
        counted = sum(r["count"] for r in records)
        expect(counted == truth["main.plainCall"]["calls"], f"{records}")

# SPDX-License-Identifier: Apache-2.0
"""Every command that README and the example files show runs, on programs that are in tests/fixtures, and
what it prints is of the shape that is shown."""

import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import redisserver
from harness import OPTIONS, PATIENCE, TESTS, Skip, expect, fixture, newest, run, test

SOURCE = os.path.dirname(TESTS)
# Commands of other tools: what gofuncs writes for them tests/e2e/test_gofuncs_emit.py runs. And those on
# programs that are not everywhere.
OTHERS = (r"(BPFTRACE_\w+=\d+ )?(bpftrace|perf|cat|cd|curl|echo|go|head|/srv/\S+|main\.\S+|filter of)( |$)|.*\| sh$"
          r"|goheap .*-p (23219|31908|20387)|goprofile .*--cgroup |goerrors .* -- (rclone|restic) ")
# Every function of etcd is traced by tests/e2e/test_etcd.py, at a time when nothing else runs; gotop has a
# terminal in tests/e2e/test_gotop.py, programs are killed for want of memory in tests/e2e/test_goheap_oom.py, and PostgreSQL is in
# tests/e2e/test_sqlsnoop_pgx.py.
ELSEWHERE = ["gosqlsnoop -M 12 -p 14713", "gofunccount -d 5 'etcd:*'", "gotop", "goheap --watch-oom -p 4583"]
ABSENT = ("caddy", "prometheus")  # programs that are not installed for these tests
# Hints of what this machine was too busy for, which the answer stands beside
BUSY = (r'hint: ("running" includes that; --threads tells it apart|all times include that; --net takes off too little then|'
        r'name the functions that you want, after ROOT: .*)\n')
PROGRAMS = {  # name: fixture, version (None: the newest), flavour
    "hello": ("shown/hello", None, "strip"), "jobs": ("shown/jobs", None, "strip"),
    "store": ("shown/store", None, "plain"), "store-stripped": ("shown/store", None, "strip"),
    "web": ("shown/web", None, "plain"), "functions": ("shown/functions", None, "plain"),
    "functions-g": ("shown/functions", "gccgo", "plain"), "small": ("shown/small", None, "plain"),
    "fact": ("shown/fact", None, "plain"), "app": ("shown/app", None, "plain"),
    "app-stripped": ("shown/app", None, "strip"), "loop": ("shown/loop", None, "strip"),
    "greet": ("shown/greet", None, "plain"), "calc": ("shown/calc", "gccgo", "plain"),
    "hello-gccgo": ("shown/hello", "gccgo", "plain"), "jobs-arm64": ("shown/jobs", None, "arm64"),
    "shop": ("recipes", None, "strip"), "shelf": ("chained", None, "strip"), "httpd": ("httpd", None, "strip"),
    "render": ("collects", None, "strip"), "relay": ("cancels", None, "strip"),
    "desk": ("shown/desk", None, "strip"), "cart": ("redis", None, "strip"),
    "courier": ("tls", None, "strip"), "orders": ("sql", None, "strip"),
    "spider": ("dns", None, "strip"), "fips": ("shown/fips", None, "strip"),
    "bank": ("shown/stuck", None, "strip"), "mailer": ("shown/stuck", None, "strip"),
    "crawler": ("shown/stuck", None, "strip"),
}
# those of a certain program; others are of whatever runs
PIDS = {"2291": "fips", "24607": "hello-gccgo", "13999": "crawler", "27756": "desk"}
ENDLESS = {"hello", "store", "store-stripped", "web", "functions", "functions-g", "small",
           "hello-gccgo", "fips", "bank", "mailer", "crawler", "desk"}


def documents():
    names = [os.path.basename(p) for p in sorted(glob.glob(SOURCE + "/tools/*_example.txt"))]
    return ["README.md"] + names


def shown(document):
    """[command, lines shown below it] of a document"""
    readme = document == "README.md"
    with open(os.path.join(SOURCE, "" if readme else "tools", document), encoding="utf-8") as file:
        text = file.read()
    if readme:
        text = "\n\n\n".join(re.findall(r"^```\n(.*?)^```", text, re.M | re.S))
    found, open_ = [], False
    for line in text.split("USAGE message:")[0].splitlines():
        if line.startswith("# ") and not re.match(OTHERS, line[2:]):
            found.append([line[2:], []])
            open_ = True
        elif line.startswith("# "):
            open_ = open_ and re.match(r"# (main\.|filter of)", line)
        elif open_:
            found[-1][1].append(line)
    return found


def cookbook():
    """{title of a section: its commands} of gotools-cookbook(7), whose questions have one each"""
    with open(SOURCE + "/man/gotools-cookbook.7", encoding="utf-8") as page:
        parts = re.split(r"^\.SH (.*)\n", page.read(), flags=re.M)[1:]
    found = {}
    for title, text in zip(parts[::2], parts[1::2]):
        commands = re.findall(r"^.*\?.*\n\.PP\n\.nf\n    (.*)\n\.fi$", text, re.M)
        expect(len(commands) == text.count(".nf"), f"{title}: a command without a question, or several")
        if commands:
            found[title] = [re.sub(r"\\(.)", r"\1", command) for command in commands]
    return found


def plain(line):
    """What is the same of a line each time"""
    line = re.sub(r"\|[*@ ]*\|$", "|", line)
    line = re.sub(r"\[[\w.,]+\]", "[...]", line)
    line = re.sub(r"0x[0-9a-f]+|\d[\d.:,]*", "N", line)
    return re.sub(r"\s+", " ", line).strip()


def is_fixed(line):
    """Is it one that the tool prints each time, whatever the program does?"""
    return re.match(r"(FUNC|PID|TIME|COUNT(?! CHANGE)) .*|Tracing (N functions for|run queue|garbage) .*|Detaching\.\.\.|PANIC$|\wsecs : count"
                    r"|avg = N|pN = N|state : calls .*|STATE .*|.* is inlined: tracing N cop(y|ies), in .*"
                    r"|\w+: .* left out.*|.*: N more names? exists? only as inlined copies, not seen without .*", line)


def keys(value, path=""):
    """Of a JSON value all keys, with those above them"""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}"
            yield from keys(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, path + "[]")


def compare(command, lines, done):
    text = done.stdout + done.stderr
    tool = command.split()[0]
    fails = bool(lines) and re.match(rf"{tool}: ", lines[0]) is not None
    expect(done.returncode in (1, 2) if fails else done.returncode == 0,
           f"{command}: status {done.returncode}: {text[-600:]}")
    got = [plain(line) for line in text.splitlines()]
    for line in lines:
        wanted = plain(line)
        if fails and not line:
            break
        begin = re.sub("cop(y|ies), in .*|(?<=left out): .*", "", wanted)
        expect(not (fails or is_fixed(wanted)) or any(g.startswith(begin) for g in got),
               f"{command}: no line {wanted!r} in {text[-1500:]}")
    objects = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
    if objects:
        # the traced program may print objects too, before or after: the tools' begin with "type"
        there = [json.loads(line) for line in text.splitlines() if line.startswith('{"type":')]
        missing = {k for o in objects[:1] for k in keys(o)} ^ {k for o in there[:1] for k in keys(o)}
        expect(there and not missing, f"{command}: keys that only one has: {missing}")
    if tool == "gofuncs" and not fails and " -j " not in command and "etcd" not in command:
        labels = {line[:12] for line in lines if re.match("    [a-z]", line)}
        expect(labels <= {line[:12] for line in text.splitlines()}, f"{command}: {labels}: {text}")


def names(command, program):
    return re.search(rf"(\./|[ ':]){re.escape(program)}(?![\w-])", command)


class Etcd:
    """One under load, or one that waits for another member, which is not there"""

    def __init__(self, folder, alone):
        ports = []
        for _ in range(3):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                ports.append(free.getsockname()[1])
        self.client = f"http://127.0.0.1:{ports[0]}"
        peer, other = (f"http://127.0.0.1:{port}" for port in ports[1:])
        members = f"a={peer}" if alone else f"a={peer},b={other}"
        with open(folder + "/etcd.log", "ab") as log:
            self.child = subprocess.Popen(
                ["etcd", "--name", "a", "--data-dir", f"{folder}/data-{alone}", "--listen-client-urls",
                 self.client, "--advertise-client-urls", self.client, "--listen-peer-urls", peer,
                 "--initial-advertise-peer-urls", peer, "--initial-cluster", members], stdout=log,
                stderr=log, cwd=folder)
        self.ended, self.asked = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.load)
        if alone:
            self.thread.start()

    def ask(self, what, **body):
        request = urllib.request.Request(f"{self.client}/v3/{what}", json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                answer.read()
        except OSError:
            pass  # not up yet, or asked for what there is not

    def wait_up(self):
        """Before it listens, it has few goroutines."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", int(self.client.rsplit(":", 1)[1])), 5).close()
                return
            except OSError:
                time.sleep(0.05)

    def load(self):
        while not self.ended.is_set():
            if not self.asked.wait(0.1):
                continue
            for i in range(8):
                self.ask("kv/put", key=f"dXNlci8{i}", value="bmFtZQ==")
            self.ask("kv/range", key="dXNlci8=", range_end="dXNlcjA=")
            self.ask("lease/revoke", ID=7)
            self.ended.wait(0.1)

    def end(self):
        self.ended.set()
        if self.thread.ident:
            self.thread.join()
        self.child.kill()
        self.child.wait()


class World:
    """The programs of the examples, in a folder; those that are in the background run."""

    def __init__(self, folder, text):
        self.folder, self.running, self.etcds, self.pids = folder, [], [], {}
        if names(text, "cart"):
            self.running.append(redisserver.start(folder))
        for name, how in PROGRAMS.items():
            if names(text, name):
                self.make(name, *how)
        if "--core core ./web" in text:
            self.dump("web")
        if re.search("[ ']go:", text):
            self.make("hello-gccgo", *PROGRAMS["hello-gccgo"])
        if re.search(r"[ ':/]etcd:|etcd\b.* -p|-p (6673|12514|18873|20832|15043|19755)", text):
            if not shutil.which("etcd"):
                raise Skip("etcd is not installed")
            self.etcds = [Etcd(folder, True), Etcd(folder, False)]
            if re.search("gostacks|goheap|gostat", text):
                self.etcds[0].wait_up()

    def make(self, name, source, version, flavour):
        path = f"{self.folder}/{name}"
        built = flavour if flavour == "arm64" or not source.startswith("shown/") else "alone"
        shutil.copy(fixture(source, version or newest(), "plain" if built == "strip" else built), path)
        if flavour == "strip":
            run(["strip", path])
        if name in ENDLESS:
            self.start(name)

    def dump(self, name):
        """A core file of a program that runs"""
        time.sleep(1)
        made = run(["gcore", "-o", self.folder + "/core", str(self.pids[name])])
        expect(made.returncode == 0, f"gcore: {made.stderr}")
        os.rename(f"{self.folder}/core.{self.pids[name]}", self.folder + "/core")

    def start(self, name, *args):
        child = subprocess.Popen([f"{self.folder}/{name}", *args], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 cwd=self.folder)
        self.running.append(child)
        self.pids[name] = child.pid

    def end(self):
        for child in self.running:
            child.kill()
            child.wait()
        for etcd in self.etcds:
            etcd.end()

    def wake(self, command):
        """Those that the command is about; what others do costs time alone."""
        for name, pid in self.pids.items():
            asked = names(command, name) or re.search(rf"\b{pid}\b", command) or \
                (name == "hello-gccgo" and names(command, "go"))
            os.kill(pid, signal.SIGCONT if asked else signal.SIGSTOP)
        for etcd in self.etcds:
            (etcd.asked.set if re.search(rf"etcd|\b{etcd.child.pid}\b", command) else etcd.asked.clear)()

    def command(self, text):
        """With the processes that there are, and programs that end by themselves told to begin"""
        wanted = re.search(r"-p (\d+)", text)
        if wanted and wanted[1] in PIDS:
            text = text.replace(wanted[0], f"-p {self.pids[PIDS[wanted[1]]]}")
        elif wanted:
            waits = re.search("httpsnoop|dialsnoop", text)
            if not self.etcds and not self.pids:
                self.start("shop", "now", "rounds=100000")
            pid = self.etcds[1 if waits else 0].child.pid if self.etcds else max(self.pids.values())
            text = re.sub(r"-p \d+", f"-p {pid}", text)
        return re.sub(r"-- \./(shop|shelf|httpd|courier|orders|spider)", r"-- ./\1 now", text)

    def run(self, command, is_endless):
        """Ends it with Ctrl-C where that is shown, after a while."""
        env = dict(os.environ, PATH=f"{OPTIONS.build}:{self.folder}:{os.environ['PATH']}")
        self.wake(command)
        pipes = re.search(r"\|", re.sub("'[^']*'", "", command))
        with open(self.folder + "/out", "w+b") as out, open(self.folder + "/err", "w+b") as err:
            child = subprocess.Popen(
                ["bash", "-c", command if pipes else "exec " + command], cwd=self.folder, env=env,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            try:
                if is_endless:
                    self.wait_begun(child)
                    child.send_signal(signal.SIGINT)
                child.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                expect(False, f"{command} does not end: {self.said()}")
        return subprocess.CompletedProcess(command, child.returncode, *self.said())

    def said(self):
        texts = []
        for name in ("out", "err"):
            with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
        return texts

    def wait_begun(self, child):
        """A tracer's first line, and some time for what it shows"""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and child.poll() is None:
            if re.search(r"^(Tracing |PID |TIME )", "\n".join(self.said()), re.M):
                time.sleep(1.5)
                return
            time.sleep(0.05)


@test(document=documents, seldom=lambda document: document != "README.md")
def documents_run(document):
    commands = shown(document)
    expect(commands, f"{document} shows no command")
    wrong = []
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        world = World(folder, "\n".join(command for command, _ in commands))
        try:
            for command, lines in commands:
                if command in ELSEWHERE or any(f"'{program}:" in command for program in ABSENT):
                    continue
                done = world.run(world.command(command), "^C" in lines)
                try:
                    compare(command, lines, done)
                except Exception as error:  # pylint: disable=broad-except
                    wrong.append(str(error))
        finally:
            world.end()
    expect(not wrong, "\n".join(wrong))


@test(section=lambda: [title.lower().replace(" ", "_").rstrip("?") for title in cookbook()])
def cookbook_runs(section):
    """Each command of gotools-cookbook(7) answers, of an etcd under load, and needs no hint."""
    commands = {title.lower().replace(" ", "_").rstrip("?"): c for title, c in cookbook().items()}
    expect(sum(map(len, commands.values())) >= 40, "the page has fewer than forty questions")
    wrong = []
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        world = World(folder, "gostacks, of a process of etcd -p 6673")
        try:
            for command in commands[section]:
                done = world.run(re.sub(r"-d 5\b", "-d 1", world.command(command)), False)
                writes = re.search(r"(?:>|--pprof )(\S+)", command)
                answer = done.stdout
                if writes:
                    with open(os.path.join(folder, writes[1]), "rb") as file:
                        answer = file.read()
                if done.returncode != 0 or not answer or "hint: " in re.sub(BUSY, "", done.stderr):
                    wrong.append(f"{command}: status {done.returncode}: {answer[-300:]!r} {done.stderr[-600:]}")
        finally:
            world.end()
    expect(not wrong, "\n".join(wrong))

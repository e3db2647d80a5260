# SPDX-License-Identifier: Apache-2.0
"""Types and signatures from debug information, against what the program's reflect says of them."""

import json
import os
import shutil
import subprocess
import tempfile

from harness import Skip, each_release, expect, fixture, newest, run, some_versions, test, tool_path, versions

FLAVOURS = ["plain", "nl", "pie"]
KINDS = {"bool": "bool", "string": "string", "slice": "slice", "array": "array", "ptr": "pointer",
         "struct": "struct", "map": "map", "chan": "chan", "func": "func",
         "interface": "interface", "unsafe.Pointer": "pointer", "uintptr": "uint"}
KINDS.update({f"{kind}{size}": kind for kind in ("int", "uint") for size in ("", 8, 16, 32, 64)})
KINDS.update({"float32": "float", "float64": "float", "complex64": "complex",
              "complex128": "complex"})
TYPE = ["name", "kind", "size", "align", "marks", "elem", "key", "count"]


def minor(version):
    return int(version.split(".")[1])


def typed(columns):
    got = dict(zip(TYPE, columns))
    for key in ("size", "align", "count"):
        got[key] = int(got[key])
    return got


def ask(path, *args):
    done = run([tool_path("e2e-signatures"), path, *args])
    expect(done.returncode == 0, f"{path}: {done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def known_functions(path, prefix="main."):
    """{name: {receiver, dictionary, params: [], results: []}}; None: not known"""
    functions, at = {}, None
    for what, *columns in ask(path, "-f", prefix):
        if what == "unknown":
            functions[columns[0]] = None
        elif what == "func":
            at = {"receiver": columns[1] == "1", "dictionary": int(columns[2]), "param": [],
                  "result": []}
            functions[columns[0]] = at
        else:
            at[what].append({"param": columns[0], "place": columns[1], **typed(columns[2:])})
    return functions


def truth(path):
    lines = [json.loads(line) for line in run([path]).stdout.splitlines()]
    return ({t["type"]: t for t in lines if "type" in t}, [t for t in lines if "func" in t])


def check_type(true, got, where):
    """A type's own line; of elements and keys the names."""
    expect(got["name"] == true["type"], f"{where}: {got['name']}, in truth {true['type']}")
    expect(got["kind"] == KINDS[true["kind"]], f"{where}: {got['kind']}, in truth {true['kind']}")
    for key in ("size", "align"):
        expect(got[key] == true[key], f"{where}: {key} {got[key]}, in truth {true[key]}")
    if true["elem"]:
        expect(got["elem"] == true["elem"], f"{where}: of {got['elem']}, in truth {true['elem']}")
    if true["key"]:
        expect(got["key"] == true["key"], f"{where}: key {got['key']}, in truth {true['key']}")
    if true["kind"] == "array":
        expect(got["count"] == true["len"], f"{where}: [{got['count']}], in truth {true['len']}")


def check_names(got, true, where):
    for param, name in zip(got, true.split()):
        known = param["param"]
        expect(known == name, f"{where}: {known}, in truth {name}")


def check_function(types, true, got):
    name = true["func"]
    expect(len(got["param"]) == len(true["in"]), f"{name}: {len(got['param'])} parameters")
    expect(len(got["result"]) == len(true["out"]), f"{name}: {len(got['result'])} results")
    check_names(got["param"], true["params"], name)
    numbers = " ".join(f"~r{i}" for i in range(len(true["out"])))
    check_names(got["result"], true["results"] or numbers, name)
    for param, of in zip(got["param"] + got["result"], true["in"] + true["out"]):
        if param["name"] != "?":  # without a name, and missing: only its place is known
            check_type(types[of], param, f"{name} {param['param']}")
    expect(got["receiver"] == (name.count(".") > 1), f"{name}: receiver {got['receiver']}")
    expect(got["dictionary"] == -1, f"{name}: has a dictionary")


def check_functions(path, version):
    types, functions = truth(path)
    known = known_functions(path)
    expect(len(functions) > 60, "the fixture does not run")
    for true in functions:
        name = true["func"]
        got = known[name]
        expect(got, f"{name} is not known")
        check_function(types, true, got)
        if true["twin"]:
            places = {p["param"]: p["place"] for p in got["param"]}
            twins = {p["param"]: p["place"] for p in known[true["twin"]]["param"]}
            for param in set(places) & set(twins):
                expect(places[param] == twins[param], f"{name} {param}: {places[param]}")


@test(version=versions, flavour=FLAVOURS, where=each_release("plain"))
def signatures(version, flavour):
    check_functions(fixture("signatures", version, flavour), version)


def check_struct(types, true, path):
    true_fields = true["fields"] or []
    (what, _, *own), *fields = ask(path, "-t", true["type"])
    if what == "unknown" and not true["type"].startswith("main."):
        return  # several packages of one name have a type of this name
    check_type(true, typed(own), true["type"])
    expect(len(fields) == len(true_fields), f"{true['type']}: {len(fields)} fields")
    for (_, name, off, embedded, *columns), field in zip(fields, true_fields):
        where = f"{true['type']}.{name}"
        expect(name == field["name"], f"{where}: in truth {field['name']}")
        expect(int(off) == field["off"], f"{where}: at {off}, in truth at {field['off']}")
        expect((embedded == "1") == field["embedded"], f"{where}: embedded {embedded}")
        check_type(types[field["type"]], typed(columns), where)


@test(version=versions, flavour=FLAVOURS, where=each_release("plain"))
def struct_types(version, flavour):
    path = fixture("signatures", version, flavour)
    types, _ = truth(path)
    structs = [t for t in types.values() if t["kind"] == "struct" and "." in t["type"]
               and not t["type"].startswith("struct {")]
    expect(len(structs) > 15, f"{len(structs)} structs")
    for true in structs:
        check_struct(types, true, path)


@test(version=lambda: [v for v in versions() if v != "1.15"], flavour=["plain", "nl"])
def generic_functions(version, flavour):
    known = known_functions(fixture("generics", version, flavour))
    maps = {n: f for n, f in known.items() if n.startswith("main.Map[")}
    pushes = {n: f for n, f in known.items() if n.endswith("]).Push") and f["dictionary"] >= 0}
    expect(maps and pushes, f"{list(known)}")
    for name, got in maps.items():
        expect([p["param"] for p in got["param"]] == ["in", "f"], f"{name}: {got}")
        expect((got["dictionary"], got["receiver"]) == (0, False), f"{name}: {got}")
        expect(got["param"][0]["place"] == "int1,int2,int3", f"{name}: {got}")
    for name, got in pushes.items():
        expect([p["param"] for p in got["param"]] == ["s", "v"], f"{name}: {got}")
        expect(got["receiver"], f"{name}: {got}")
        expect(got["dictionary"] == (minor(version) >= 20), f"{name}: {got}")
        expect(got["param"][1]["place"] in ("int2", "float0"), f"{name}: {got}")


# --- separate files ---


def tool(*argv):
    done = run([*map(str, argv)])
    expect(done.returncode == 0, f"{argv}: {done.stderr}")


def message(path):
    done = run([tool_path("e2e-signatures"), path, "-f", "main."])
    expect(done.returncode == 1, f"found: {done.stdout[:200]}")
    return done.stderr


def split(folder, version, whole=None):
    """(program without DWARF, its debug information)"""
    whole = whole or fixture("signatures", version)
    path, debug = os.path.join(folder, "program"), os.path.join(folder, "program.debug")
    tool("objcopy", "--only-keep-debug", whole, debug)
    tool("objcopy", "--strip-debug", whole, path)
    return path, debug


@test(version=some_versions)
def debug_link(version):
    with tempfile.TemporaryDirectory() as folder:
        path, debug = split(folder, version)
        expect("it names no separate file" in message(path) or ".build-id" in message(path),
               message(path))
        tool("objcopy", f"--add-gnu-debuglink={debug}", path)
        check_functions(path, version)
        os.mkdir(folder + "/.debug")
        shutil.move(debug, folder + "/.debug/program.debug")
        check_functions(path, version)
        with open(folder + "/.debug/program.debug", "ab") as out:
            out.write(b"another file")
        expect("program.debug" in message(path) or ".build-id" in message(path), message(path))


@test(version=some_versions)
def debug_link_of_process(version):
    with tempfile.TemporaryDirectory() as folder:
        path, debug = split(folder, version)
        tool("objcopy", f"--add-gnu-debuglink={debug}", path)
        with subprocess.Popen([path], stdout=subprocess.PIPE, pipesize=4096) as child:  # fills up
            known = known_functions(f"/proc/{child.pid}/exe")
            rooted = known_functions(f"/proc/{child.pid}/root{path}")
            child.kill()
        expect(known["main.pair.Value"]["receiver"], "nothing found")
        expect(known == rooted, "by /proc/PID/root another answer than by /proc/PID/exe")


def of_its_own(folder, path):
    """(a copy, with a build ID that no other file has; the build ID): what is in /usr/lib/debug is for all tests"""
    found = run(["readelf", "-n", path]).stdout.split("Build ID: ")[1].split()[0]
    with open(path, "rb") as file:
        data = file.read()
    expect(data.count(bytes.fromhex(found)) == 1, found)
    own, copy = os.urandom(len(found) // 2), os.path.join(folder, "own")
    with open(copy, "wb") as file:
        file.write(data.replace(bytes.fromhex(found), own))
    return copy, own.hex()


@test()
def build_id():
    version = newest()
    if minor(version) < 24 or not os.access("/usr/lib/debug", os.W_OK):
        raise Skip("Go's own linker writes no build ID, or /usr/lib/debug is not ours to write to")
    with tempfile.TemporaryDirectory() as folder:
        whole, found = of_its_own(folder, fixture("signatures", version))
        path, debug = split(folder, version, whole)
        place = f"/usr/lib/debug/.build-id/{found[:2]}/{found[2:]}.debug"
        expect(place in message(path), message(path))
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy(debug, place)
            check_functions(path, version)
        finally:
            os.unlink(place)
            if not os.listdir(os.path.dirname(place)):
                os.rmdir(os.path.dirname(place))

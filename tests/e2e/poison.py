# SPDX-License-Identifier: Apache-2.0
"""A Go program whose names are what somebody would choose who wants power over those that read them:
functions, types, fields, parameters, results, errors, inlined functions and source files, in the
pclntab, in debug information, in run-time types, in symbols and in the build's information; and its
path."""

import os
import re

from harness import expect, fixture, run

LENGTH = 72  # bytes of the fixture's names
KINDS = rb"(type|field|text|lost|error|method|param|func|result|inlined)"
# what would be left by a command that is not ours, in the current folder
MARK = "pwned"
NAMES = [
    b"\nBEGIN { system(\"touch pwned\"); }\n//",
    b"*/ BEGIN { system(\"touch pwned\"); } /*",
    b"\r\nuprobe:/bin/sh:0x10 { system(\"touch pwned\"); }\r\n",
    b"\"); system(\"touch pwned\"); printf(\"",
    b"$(touch pwned)`touch pwned`",
    b"';touch pwned;'",
    b"\n' ; touch pwned ; : '",
    b"\x1b]0;title\x07\x1b[31mred\x1b[2J",
    b"\xc2\x9b31m\xc2\x9d0;x\xc2\x9c\x9b31m\x85",
    b"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf",
    b"\xff\xfe\xc0\x80\xed\xa0\x80\xf8\x88\x80\x80\x80\xe4\xb8",
    b"%s%n%d%c3%a4%*.*f%",
    b"\\x41\\n\\\\",
    b"???/",
    b"\t\x0b\x0c\x08\x7f{\"a\":1}\n{\"type\":\"count\",\"func\":\"forged\",\"count\":1}",
    b"gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 ; touch pwned & !touch",
]
SOURCE = b"\x1b\n\x9b\"'`$x"  # in place of named.go
FILE = b"a b'c\"$(touch pwned)`touch pwned`;touch pwned\n\x1b[31m\xe2\x80\xae\xff"


def hostile(match):
    name = NAMES[int(match[2])]
    return match[1] + b"X" * (LENGTH - len(match[1]) - len(name)) + name


def replace_names(content):
    content = re.sub(KINDS + rb"(\d\d)X+", lambda m: hostile(m) if len(m[0]) == LENGTH else m[0],
                     content)
    content = content.replace(b"/named.go\0", b"/" + SOURCE + b"\0")
    # the build's information: version and path
    content = re.sub(rb"(go1\.\d\d)\.\d(?=\D)", lambda m: m[1] + b"\x1b\x9b", content)
    return content.replace(b"command-line-arguments", b"\x1b[1m\xff\xe2\x80\xae$(touch pwned)")


def poisoned(folder, version, flavour="plain"):
    """Path of one in `folder`, whose file is called as any other"""
    path = os.path.join(folder, "poisoned")
    done = run(["objcopy", "--decompress-debug-sections", fixture("named", version, flavour), path])
    expect(done.returncode == 0, done.stderr)
    with open(path, "rb") as file:
        content = file.read()
    expect(b"main.func07XXX" in content, "the fixture has other names")
    with open(path, "wb") as file:
        file.write(replace_names(content))
    os.chmod(path, 0o755)
    return path


def badly_called(folder, path):
    """Another name for it, in bytes: what a path must not be"""
    other = os.path.join(os.fsencode(folder), FILE)
    os.link(path, other)
    return other

# SPDX-License-Identifier: Apache-2.0
"""All places of a compiler probed at once while it compiles: its output is byte for byte the same."""

import glob
import hashlib
import os
import shutil
import tempfile

from harness import Tool, counted, expect, run, test, toolchain, versions

PACKAGE = "unicode/utf8"


def compilers():
    return sorted({"1.19", versions()[-1]})


class Compiler:
    """A private copy of a version's compiler, and a command that compiles one package with it"""

    def __init__(self, folder, version):
        self.goroot = toolchain(version)
        self.path = os.path.join(folder, "compile")
        self.output = os.path.join(folder, "out.o")
        shutil.copy(f"{self.goroot}/pkg/tool/linux_amd64/compile", self.path)
        sources = [s for s in sorted(glob.glob(f"{self.goroot}/src/{PACKAGE}/*.go"))
                   if not s.endswith("_test.go")]
        config = os.path.join(folder, "importcfg")
        open(config, "w", encoding="utf-8").close()
        self.command = [self.path, "-p", PACKAGE, "-complete", "-importcfg", config,
                        "-o", self.output, *sources]
        self.env = dict(os.environ, GOROOT=self.goroot)

    def digest(self):
        with open(self.output, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        os.unlink(self.output)
        return digest


@test(alone=True, tool=["gofunccount", "gofunclatency"], version=compilers)
def compile_traced(tool, version):
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(folder, version)
        result = run(compiler.command, env=compiler.env)
        expect(result.returncode == 0, result.stderr)
        plain = compiler.digest()
        with Tool(tool, "-j", f"{compiler.path}:*") as tracer:
            tracer.tracing()
            result = run(compiler.command, env=compiler.env, timeout=240)
            expect(result.returncode == 0, f"the compiler failed: {result.stderr[-300:]}")
            expect(compiler.digest() == plain, "the compiler's output is another")
            records = tracer.stop()
        if tool == "gofunccount":
            expect(len(counted(records)) > 1000, f"{len(counted(records))} functions were called")
        else:
            expect(records[0]["count"] > 10000, f"{records[0]['count']} calls")

# SPDX-License-Identifier: Apache-2.0
"""Debian's Redis, for programs that talk to it by Debian's redigo."""

import os
import shutil
import subprocess
import time

from processes import PATIENCE, Failure
from results import Skip

GOCODE = "/usr/share/gocode"  # Debian's packages of Go sources


def start(folder):
    """A server in this folder, at the socket of that name; the caller ends it."""
    if not shutil.which("redis-server") or not os.path.isdir(GOCODE + "/src/github.com/gomodule/redigo"):
        raise Skip("redis-server or redigo is not installed")
    server = subprocess.Popen(  # pylint: disable=consider-using-with
        ["redis-server", "--port", "0", "--unixsocket", folder + "/socket", "--requirepass", "secret", "--save", ""],
        stdout=subprocess.DEVNULL, cwd=folder)
    end = time.monotonic() + PATIENCE
    while not os.path.exists(folder + "/socket"):
        if server.poll() is not None or time.monotonic() > end:
            server.kill()
            raise Failure("redis-server does not start")
        time.sleep(0.01)
    return server

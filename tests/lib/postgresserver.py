# SPDX-License-Identifier: Apache-2.0
"""Debian's PostgreSQL, for programs that talk to it by Debian's pgx."""

import glob
import os
import pwd
import shutil
import subprocess
import time

from processes import PATIENCE, Failure
from redisserver import GOCODE
from results import Skip

LOG = "server.log"


def start(folder):
    """A server in this folder, with its socket there, that logs each statement to LOG; the caller ends it."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not programs or not os.path.isdir(GOCODE + "/src/github.com/jackc/pgx"):
        raise Skip("PostgreSQL or pgx is not installed")
    shutil.chown(folder, "postgres")
    user = pwd.getpwnam("postgres")
    data = folder + "/data"

    def become():
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)

    subprocess.run([programs[-1] + "/initdb", "-D", data, "-A", "trust", "-N", "--no-locale", "-E", "UTF8"], check=True,
                   stdout=subprocess.DEVNULL, cwd=folder, preexec_fn=become)
    with open(f"{folder}/{LOG}", "wb") as log:
        server = subprocess.Popen(  # pylint: disable=consider-using-with
            [programs[-1] + "/postgres", "-D", data, "-k", folder, "-h", "", "-c", "log_statement=all",
             "-c", "fsync=off"], stdout=log, stderr=log, cwd=folder, preexec_fn=become)
    end = time.monotonic() + PATIENCE
    while "ready to accept connections" not in text_of(folder):
        if server.poll() is not None or time.monotonic() > end:
            server.kill()
            raise Failure(f"PostgreSQL does not start: {text_of(folder)}")
        time.sleep(0.02)
    return server


def text_of(folder):
    with open(f"{folder}/{LOG}", encoding="utf-8") as file:
        return file.read()

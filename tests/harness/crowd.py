"""Many commands released at the same moment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from tests.harness.cli import Cli, program

WAIT_THEN_RUN = 'read _; exec "$@" </dev/null'


def released_together(
    cli: Cli, calls: Sequence[Sequence[str]], *, timeout: float = 90.0
) -> list[subprocess.CompletedProcess[str]]:
    """Start one process per call, hold them all at a pipe, let go, and collect what they say."""
    gate, release = os.pipe()
    started = [
        subprocess.Popen(
            ["/bin/sh", "-c", WAIT_THEN_RUN, "sh", *program(), *call],
            cwd=cli.cwd,
            env=cli.env,
            stdin=gate,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for call in calls
    ]
    os.close(gate)
    os.close(release)  # the end of file reaches all of them at once
    return [_collected(process, timeout) for process in started]


def _collected(process: subprocess.Popen[str], timeout: float) -> subprocess.CompletedProcess[str]:
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)

"""What a hook costs: whole processes, warm, beside a bare interpreter.

The daemon is the tests' stand-in, which answers at once, so the figures are the hook's own. Hook
and bare interpreter are run in turns, so that a busy machine is equally busy for both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.harness.cli import program
from tests.harness.environment import clean
from tests.harness.fake_daemon import FakeDaemon
from tests.hooks.payloads import payload

PEER = "claude-recall 0.25.1, measured: 104-125 ms a hook (quiet machine), 4 processes a tool call"
EVENTS = (("claude-code", "UserPromptSubmit"), ("claude-code", "PostToolUse"), ("kiro", "stop"))


def once(
    command: Sequence[str], stdin: bytes, env: dict[str, str], cwd: Path
) -> tuple[float, float]:
    """Wall and CPU milliseconds of one process."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, input=stdin, stdout=subprocess.PIPE, env=env, cwd=cwd, check=True)
    wall, after = time.perf_counter() - began, os.times()
    used = after.children_user - before.children_user
    used += after.children_system - before.children_system
    return wall * 1000, used * 1000


def figures(values: Sequence[float]) -> str:
    """p50 and p95."""
    ordered = sorted(values)
    return f"p50 {statistics.median(ordered):6.1f}  p95 {ordered[len(ordered) * 95 // 100]:6.1f} ms"


def measure(folder: Path, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Wall and CPU of each kind of process, taken in turns."""
    home, cwd = folder / "home", folder / "project"
    home.mkdir()
    cwd.mkdir()
    env = clean(home, folder / "data")
    calls = {"python -c pass": ([sys.executable, "-c", "pass"], b"")}
    for host, event in EVENTS:
        sent = json.dumps(payload(host, event, str(cwd))).encode()
        calls[f"hook {host} {event}"] = ([*program(), "hook", host], sent)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    with FakeDaemon(folder / "data") as fake:
        for number in range(rounds + 2):  # the first two mint the grant and warm the file cache
            for name, (command, stdin) in calls.items():
                spent = once(command, stdin, env, cwd)
                if number > 1:
                    taken[name].append(spent)
        assert len(fake.events) == (rounds + 2) * len(EVENTS), "an event was not delivered"
    return taken


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        taken = measure(Path(folder).resolve(), rounds)
    bare = statistics.median(wall for wall, _ in taken["python -c pass"])
    for name, spent in taken.items():
        wall = [one for one, _ in spent]
        cpu = statistics.mean(one for _, one in spent)
        ratio = statistics.median(wall) / bare
        print(f"{name:32} wall {figures(wall)}  cpu {cpu:5.1f} ms  {ratio:4.2f} x bare")
    print(
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; wanted: under 4 x bare"
    )
    print(PEER)


if __name__ == "__main__":
    main()

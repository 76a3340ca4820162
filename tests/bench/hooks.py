"""What a hook costs: whole processes, warm, beside a bare interpreter; alone and 200 at once.

Alone the daemon is the tests' stand-in, which answers at once, so the figures are the hook's own.
Hook and bare interpreter are run in turns, so that a busy machine is equally busy for both. In the
burst it is the real daemon, and the figures are from the release of all to the end of each: what
the last of them waits for its turn on the processor counts in.
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

from tests.harness.burst import burst, stream
from tests.harness.cli import Cli, program
from tests.harness.daemons import Daemon
from tests.harness.environment import clean
from tests.harness.fake_daemon import FakeDaemon
from tests.harness.waiting import eventually
from tests.hooks.payloads import payload

PEER = "claude-recall 0.25.1, measured: 104-125 ms a hook (quiet machine), 4 processes a tool call"
AT_ONCE = 8
"""Hooks of a stream that run side by side: as many agents in full swing."""
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


def crowd(folder: Path, count: int) -> dict[str, list[float]]:
    """Milliseconds to the end of each of `count` processes released at once, by what they are."""
    home, cwd = folder / "home", folder / "project"
    home.mkdir()
    cwd.mkdir()
    cli = Cli(clean(home, folder / "data"), cwd)
    cli.ok("start")
    daemon = Daemon(folder / "data")
    try:
        event = payload("claude-code", "UserPromptSubmit", str(cwd))
        inputs = [json.dumps({**event, "session_id": f"s-{n}"}).encode() for n in range(count)]
        hooks = _released([*program(), "hook", "claude-code"], inputs, cli, folder / "hooks")
        spooled = len(list((folder / "data" / "spool").glob("*.json")))
        eventually(lambda: not list((folder / "data" / "spool").glob("*.json")), within=60)
        bare = _released([sys.executable, "-c", "pass"], [b""] * count, cli, folder / "bare")
        few = _streamed([*program(), "hook", "claude-code"], inputs, cli, folder / "few")
        assert len(daemon.pids()) == 1
    finally:
        daemon.end_all()
    late = f"{count} hooks at once ({spooled} came by the spool)"
    return {
        f"{count} hooks, {AT_ONCE} at a time": few,
        f"{count} x python -c pass at once": bare,
        late: hooks,
    }


def _released(command: list[str], inputs: list[bytes], cli: Cli, folder: Path) -> list[float]:
    folder.mkdir()
    ended = burst(command, inputs, cwd=cli.cwd, env=cli.env, folder=folder)
    assert {one.status for one in ended} == {0}
    return [one.seconds * 1000 for one in ended]


def _streamed(command: list[str], inputs: list[bytes], cli: Cli, folder: Path) -> list[float]:
    folder.mkdir()
    ended = stream(command, inputs, AT_ONCE, cwd=cli.cwd, env=cli.env, folder=folder)
    assert {one.status for one in ended} == {0}
    return [one.seconds * 1000 for one in ended]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--burst", type=int, default=200, metavar="N", help="0 for none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        taken = measure(Path(folder).resolve(), options.rounds)
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
    if options.burst:
        with tempfile.TemporaryDirectory() as folder:
            for name, wall in crowd(Path(folder).resolve(), options.burst).items():
                print(f"{name:52} {figures(wall)}")


if __name__ == "__main__":
    main()

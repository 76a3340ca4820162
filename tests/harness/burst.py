"""Many processes released at one moment, each with an input of its own, and when each ended."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_WAIT_THEN_RUN = (
    'read _; input=$1; output=$2; shift 2; exec "$@" <"$input" >"$output" 2>"$output.err"'
)


class Ended(NamedTuple):
    """One process: its status, what it said, and the seconds from the release to its end."""

    status: int
    output: bytes
    errors: bytes
    seconds: float


def burst(
    command: Sequence[str],
    inputs: Sequence[bytes],
    *,
    cwd: Path,
    env: Mapping[str, str],
    folder: Path,
) -> list[Ended]:
    """Start one process of the command per input, let all go at once, and wait for all of them.

    Inputs and outputs are files in `folder`, so that nothing of ours has to keep up meanwhile.
    """
    gate, release = os.pipe()
    places: dict[int, Path] = {}
    started: list[subprocess.Popen[bytes]] = []
    for number, data in enumerate(inputs):
        place = folder / f"{number}.in"
        place.write_bytes(data)
        words = ["/bin/sh", "-c", _WAIT_THEN_RUN, "sh", str(place), str(folder / f"{number}.out")]
        one = subprocess.Popen([*words, *command], cwd=cwd, env=dict(env), stdin=gate)
        places[one.pid] = folder / f"{number}.out"
        started.append(one)
    os.close(gate)
    began = time.monotonic()
    os.close(release)
    ends = dict(_ends(set(places)))
    for one in started:
        one.returncode = ends[one.pid][0]  # it is waited for already
    return [_ended(places[pid], status, at - began) for pid, (status, at) in ends.items()]


def stream(
    command: Sequence[str],
    inputs: Sequence[bytes],
    at_once: int,
    *,
    cwd: Path,
    env: Mapping[str, str],
    folder: Path,
) -> list[Ended]:
    """One process of the command per input, as fast as they end, `at_once` of them at any time.

    Seconds count from the start of each.
    """
    begun: dict[int, tuple[Path, float]] = {}
    started: dict[int, subprocess.Popen[bytes]] = {}
    ended: list[Ended] = []
    for number, data in enumerate(inputs):
        if len(begun) == at_once:
            ended.append(_next_end(begun, started))
        place, said = folder / f"{number}.in", folder / f"{number}.out"
        place.write_bytes(data)
        with (
            place.open("rb") as given,
            said.open("wb") as out,
            said.with_name(f"{said.name}.err").open("wb") as err,
        ):
            at = time.monotonic()
            one = subprocess.Popen(
                command, cwd=cwd, env=dict(env), stdin=given, stdout=out, stderr=err
            )
        begun[one.pid], started[one.pid] = (said, at), one
    while begun:
        ended.append(_next_end(begun, started))
    return ended


def _next_end(
    begun: dict[int, tuple[Path, float]], started: dict[int, subprocess.Popen[bytes]]
) -> Ended:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid in begun:
            said, at = begun.pop(pid)
            started.pop(pid).returncode = status  # it is waited for already
            seconds = time.monotonic() - at
            return _ended(said, os.waitstatus_to_exitcode(status), seconds)


def _ends(waiting: set[int]) -> list[tuple[int, tuple[int, float]]]:
    """Status and moment of the end of each of these processes, as they end."""
    found: list[tuple[int, tuple[int, float]]] = []
    while waiting:
        pid, status = os.waitpid(-1, 0)
        if pid in waiting:
            waiting.discard(pid)
            found.append((pid, (os.waitstatus_to_exitcode(status), time.monotonic())))
    return found


def _ended(output: Path, status: int, seconds: float) -> Ended:
    errors = output.with_name(f"{output.name}.err")
    return Ended(status, output.read_bytes(), errors.read_bytes(), seconds)

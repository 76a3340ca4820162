"""Real processes that are killed or run out of disk: acknowledged means kept."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recalld.storage import integrity

from tests.storage.opened import Opened

VICTIM = str(Path(__file__).with_name("victim.py"))
ROUNDS = int(os.environ.get("TEST_KILL_ROUNDS", "4"))


class Told:
    """What a victim said before its end."""

    def __init__(self) -> None:
        self.stored: set[str] = set()
        self.forgotten: set[str] = set()
        self.full = 0

    def hear(self, line: str) -> None:
        """Take one complete line; a half one was cut off by the kill."""
        if not line.endswith("\n"):
            return
        word, _, ulid = line.strip().partition(" ")
        if word == "stored":
            self.stored.add(ulid)
        elif word == "forgetting":
            # It may or may not have come to it before the end.
            self.stored.discard(ulid)
        elif word == "forgotten":
            self.forgotten.add(ulid)
        self.full += word == "full"


def _run(place: Path, seed: int, lines: int, told: Told, *limits: int) -> None:
    """Let a victim write until it said so many lines (or is full), then kill it as it works."""
    command = [sys.executable, VICTIM, str(place), str(seed), *map(str, limits)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "ready\n"
        for _ in range(lines):
            told.hear(victim.stdout.readline())
            if told.full:
                break
        victim.kill()
        for line in victim.stdout:
            told.hear(line)


def _check(opened: Opened, told: Told) -> None:
    report = opened.write(lambda tx: integrity.full(tx.connection))
    assert report.problems == []
    rows = opened.read(lambda c: c.execute("SELECT ulid FROM memories").fetchall())
    present = {str(ulid) for (ulid,) in rows}
    assert told.stored <= present
    assert not told.forgotten & present


@pytest.mark.destructive
def test_a_killed_writer_keeps_what_it_acknowledged(
    place: Path, reopen: Callable[[], Opened]
) -> None:
    """After kill -9 in the middle of writing, every acknowledged change is there, and it agrees."""
    dice = random.Random(7)
    told = Told()
    for number in range(ROUNDS):
        _run(place, number, dice.randrange(5, 60), told)
        opened = reopen()
        _check(opened, told)
        opened.close()
    assert told.stored


@pytest.mark.destructive
def test_a_full_disk_loses_nothing_and_passes(place: Path, reopen: Callable[[], Opened]) -> None:
    """When no file may grow any more, writes are refused and what was acknowledged stays."""
    told = Told()
    _run(place, 1, 3000, told, 1 << 20)
    assert told.full
    opened = reopen()
    _check(opened, told)
    opened.note("space again")

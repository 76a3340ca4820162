"""kill -9 at random moments under writers: every promise is kept, and nothing is made up."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from tests.harness import processes
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.environment import rounds
from tests.harness.waiting import eventually

WRITERS = 8

WRITER = """
import select, sys
from recalld.client import Memory
name = sys.argv[1]
with Memory(timeout=60) as memory:
    n = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        text = f"writer {name} line {n} of the ledger"
        stored = memory.store(text)
        print("stored", stored.id, text, sep="\\t", flush=True)
        if n % 5 == 0:
            hits = memory.recall(text, limit=5).hits
            wrong = [hit.content for hit in hits if "of the ledger" not in hit.content]
            found = memory.get(stored.id).content == text
            print("recalled", found, wrong, sep="\\t", flush=True)
        n += 1
"""


def start_writers(recalld: Cli, folder: Path) -> list[subprocess.Popen[str]]:
    """Eight processes that store and recall through the SDK until their stdin ends."""
    writers: list[subprocess.Popen[str]] = []
    for n in range(WRITERS):
        with (
            (folder / f"writer{n}.out").open("w") as out,
            (folder / f"writer{n}.err").open("w") as err,
        ):
            writers.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-c", WRITER, str(n)],
                    cwd=recalld.cwd,
                    env=recalld.env,
                    stdin=subprocess.PIPE,
                    stdout=out,
                    stderr=err,
                    text=True,
                )
            )
    return writers


def said(folder: Path) -> list[list[str]]:
    """Every whole line the writers have printed so far, split at tabs."""
    lines: list[list[str]] = []
    for path in sorted(folder.glob("writer*.out")):
        whole = path.read_text().rpartition("\n")[0]
        lines += [line.split("\t") for line in whole.splitlines()]
    return lines


def promises(folder: Path) -> dict[str, str]:
    """What the writers were told is stored: id to text."""
    return {line[1]: line[2] for line in said(folder) if line[0] == "stored"}


def complaints(folder: Path) -> str:
    """Whatever the writers wrote to their standard error."""
    return "".join(path.read_text() for path in sorted(folder.glob("writer*.err")))


def progress(folder: Path) -> Counter[str]:
    """How many rows each writer was promised so far."""
    return Counter(text.split()[1] for text in promises(folder).values())


def wait_for_everybody(folder: Path, writers: Sequence[subprocess.Popen[str]]) -> None:
    """Wait until each writer was promised two more rows; none of them may give up."""
    before = progress(folder)

    def moved() -> bool:
        assert all(writer.poll() is None for writer in writers), complaints(folder)[-3000:]
        now = progress(folder)
        return all(now[str(n)] >= before[str(n)] + 2 for n in range(WRITERS))

    eventually(moved, within=120)


def assert_whole(store: Path) -> None:
    """The closed store holds together: table, full text and vectors."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.execute("INSERT INTO fts(fts) VALUES('integrity-check')")
        rows = {row[0] for row in connection.execute("SELECT rid FROM memories")}
        indexed = {row[0] for row in connection.execute("SELECT rowid FROM fts_docsize")}
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE name GLOB 'vec_*_rowids'"
        ).fetchall()
        for (table,) in tables:
            vectors = {row[0] for row in connection.execute(f'SELECT rowid FROM "{table}"')}
            assert vectors <= rows
    finally:
        connection.close()
    assert indexed == rows


@pytest.mark.slow
@pytest.mark.destructive
@pytest.mark.timeout(1800)
def test_no_acknowledged_row_is_lost(recalld: Cli, daemon: Daemon, tmp_path: Path) -> None:
    """8 writers, daemon killed again and again: each acknowledged row is there, exactly once."""
    recalld.ok("store", "the first line of the ledger")
    writers = start_writers(recalld, tmp_path)
    chance = random.Random(7)
    killed: set[int] = set()
    try:
        wait_for_everybody(tmp_path, writers)
        for _ in range(rounds(5)):
            # A random moment is the point here: the same call, and a start, may be hit again.
            time.sleep(chance.uniform(0.0, 2.5))
            for pid in daemon.pids():
                processes.send(pid, processes.KILL)
                killed.add(pid)
            # One call is repeated a handful of times; on a loaded machine a start takes longer
            # than the pause between kills, and the same call would be hit beyond that.
            wait_for_everybody(tmp_path, writers)
    finally:
        for writer in writers:
            writer.communicate(timeout=90)
    errors = complaints(tmp_path)
    assert [writer.returncode for writer in writers] == [0] * WRITERS, errors[-3000:]
    assert "Traceback" not in errors
    recalled = [line for line in said(tmp_path) if line[0] == "recalled"]
    assert [line for line in recalled if line[2] != "[]"] == []
    # Each asked for the row it had just been promised, before or after whatever kill.
    assert {line[1] for line in recalled} == {"True"}
    assert killed

    recalld.ok("start")
    assert len(daemon.pids()) == 1
    recalld.ok("stop")
    eventually(lambda: daemon.pids() == [])
    assert_whole(daemon.data / "memory.db")
    connection = apsw.Connection(str(daemon.data / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    found = connection.execute("SELECT ulid, content FROM memories").fetchall()
    rows = {str(ulid): str(content) for ulid, content in found}
    connection.close()
    kept = promises(tmp_path)
    assert {ident: rows.get(ident) for ident in kept} == kept
    texts = list(rows.values())
    assert len(texts) == len(set(texts))


def test_vectors_follow_after_a_kill(recalld: Cli, daemon: Daemon) -> None:
    """Rows that were stored without a vector before a kill get theirs from the next daemon."""
    for n in range(20):
        recalld.ok("store", f"a note waiting for its vector, number {n}")
    daemon.kill()
    recalld.ok("start")

    eventually(lambda: recalld.json("status")["embedding"]["pending"] == 0, within=20)
    recalld.ok("stop")
    eventually(lambda: daemon.pids() == [])
    assert_whole(daemon.data / "memory.db")


def test_one_client_survives_a_restart_between_calls(recalld: Cli, daemon: Daemon) -> None:
    """An SDK object that outlives its daemon proves the next one and goes on by itself."""
    program = """
import os, signal, sys, json, time
from recalld.client import Memory
with Memory() as memory:
    first = memory.store("before the kill")
    os.kill(int(sys.argv[1]), signal.SIGKILL)
    second = memory.store("after the kill")
    found = {hit.content for hit in memory.recall("kill", limit=10).hits}
    assert {"before the kill", "after the kill"} <= found, found
    assert first.id != second.id
    print("survived")
"""
    recalld.ok("store", "warm")
    done = recalld.python(program, str(daemon.pid))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "survived"
    assert len(daemon.pids()) == 1

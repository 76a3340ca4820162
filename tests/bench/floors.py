"""What the machine itself costs, to hold our figures against."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw

from tests.bench.figures import milliseconds


def fsync(folder: Path, count: int = 100) -> list[float]:
    """Milliseconds to append 4 KiB and bring them to the disk: the floor of a durable write."""
    path = folder / "fsync"
    with path.open("wb", buffering=0) as file:

        def write() -> None:
            file.write(b"\0" * 4096)
            os.fsync(file.fileno())

        times = milliseconds(write, count)
    path.unlink()
    return times


def full_text(folder: Path, texts: Iterable[str], queries: Sequence[str]) -> list[float]:
    """Milliseconds of a plain FTS5 query for ten rows over the same texts, in this process."""
    connection = apsw.Connection(str(folder / "plain.db"))
    connection.execute("CREATE VIRTUAL TABLE plain USING fts5(body, tokenize='porter unicode61')")
    with connection:
        connection.executemany("INSERT INTO plain(body) VALUES (?)", ((text,) for text in texts))
    waiting = list(queries)

    def ask() -> None:
        words = waiting.pop().split()
        expression = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid, body FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 10"
        connection.execute(sql, (expression,)).fetchall()

    times = milliseconds(ask, len(queries))
    connection.close()
    return times


def interpreter(count: int = 10) -> list[float]:
    """Milliseconds of `python -c pass`: the floor of every command."""
    return milliseconds(
        lambda: subprocess.run([sys.executable, "-I", "-c", "pass"], check=True), count
    )

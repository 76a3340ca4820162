"""How recall, store and memory behave as the store grows from 1,000 rows to a million.

scripts/bench growth                     1k to 500k rows in one namespace, a million in 50
scripts/bench growth --max-rows 20000    the smaller of them only

Stores are built through the storage layer (a million rows take some minutes) and kept in the
temporary folder, or $RECALLD_TEST_GROWN, for the next run. The table has a column a size.

new        the first recall of a namespace ever: SQLite answers, its shelf is made behind its back
           (500k rows are too many for a shelf: the signs of their vectors say what to read)
cold       the first recall of a namespace after a restart: its shelf is read from disk
turns      every recall asks another namespace than the one before
cpu        of the daemon, all threads; it counts where other processes keep the cores busy
plain FTS5 the same words by BM25 alone, in this process, without HTTP, vectors or ranking
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import apsw
from recalld.storage import fulltext

from tests.bench import curves, floors, load
from tests.bench.corpus import queries, texts
from tests.bench.figures import RESULTS, percentile
from tests.bench.grown import Size, grown
from tests.bench.seat import SCRATCH, Seat, seated
from tests.harness import processes
from tests.harness.http import Http
from tests.harness.waiting import eventually

SIZES = (
    Size(1_000, 1),
    Size(10_000, 1),
    Size(20_000, 1),
    Size(100_000, 1),
    Size(500_000, 1),
    Size(1_000_000, 50),
)
CLIENTS = 8
CALLS = 300
SHELVED = range(1_001, 137_001)
"""Rows with which a namespace has a shelf on disk: fewer are read at once, more are never held."""

Column = dict[str, float]


def measure(size: Size, seconds: float) -> Column:
    """All figures of one size."""
    data, names = grown(size), size.names()
    shutil.rmtree(data / "shelves", ignore_errors=True)
    column: Column = floors_of(data, names)
    with seated(data, names) as seat:
        column["RSS idle, MB"] = megabytes(seat)
        column |= timed("new", seat, first_of_each(seat))
        make_shelves(seat, size)
    with seated(data, names) as seat:
        column |= timed("cold", seat, first_of_each(seat))
        column |= hot(seat)
        if len(names) > 1:
            column |= timed("turns", seat, asking(seat, itertools.cycle(names), CALLS))
        column |= loaded(seat, names[:1], seconds, "")
        if len(names) > 1:
            column |= loaded(seat, names, seconds, ", in turns")
        column |= storing(seat)
        column["RSS loaded, MB"] = megabytes(seat)
    return column


def floors_of(data: Path, names: Sequence[str]) -> Column:
    """The disk, and SQLite's own full-text search over the same rows."""
    synced = floors.fsync(data)
    connection = apsw.Connection(str(data / "memory.db"))
    first = fulltext.namespace_word(1)
    asked = [f'"{first}" AND ({" OR ".join(words.split())})' for words in queries(100, 3)]
    times: list[float] = []
    for expression in asked:
        begun = time.perf_counter()
        sql = "SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT 10"
        connection.execute(sql, (expression,)).fetchall()
        times.append((time.perf_counter() - begun) * 1000)
    connection.close()
    return {**spread("plain FTS5", times), **spread("fsync", synced)}


def first_of_each(seat: Seat) -> list[Callable[[], object]]:
    """One recall in every namespace."""
    return asking(seat, iter(seat.names), len(seat.names))


def asking(seat: Seat, names: Iterator[str], count: int) -> list[Callable[[], object]]:
    """Recalls, each in the next of the namespaces."""
    asked = queries(count, seed=count)
    return [
        partial(seat.http.recall, query, namespaces=[name])
        for query, name in zip(asked, names, strict=False)
    ]


def make_shelves(seat: Seat, size: Size) -> None:
    """Wait until every large namespace has been asked about and has its shelf on disk."""
    if size.rows // size.namespaces not in SHELVED:
        return
    eventually(
        lambda: len(list((seat.data / "shelves").glob("*.shelf"))) == size.namespaces,
        within=900,
        what="all shelves made",
    )


def hot(seat: Seat) -> Column:
    """One namespace, asked again and again: on one connection, then each time on a new one."""
    one = itertools.repeat(seat.names[0])
    for call in asking(seat, one, 20):
        call()
    column = timed("hot", seat, asking(seat, one, CALLS))
    fresh = Seat(seat.data, seat.daemon, Http(seat.http.port, token=seat.http.token), seat.names)
    return column | timed("hot, new connection", seat, asking(fresh, one, CALLS))


def timed(name: str, seat: Seat, calls: Sequence[Callable[[], object]]) -> Column:
    """Wall time of each call, and what all together cost the daemon."""
    before = cpu_ms(seat)
    times: list[float] = []
    for call in calls:
        begun = time.perf_counter()
        call()
        times.append((time.perf_counter() - begun) * 1000)
    return {**spread(name, times), f"{name}, cpu ms": (cpu_ms(seat) - before) / len(times)}


def loaded(seat: Seat, names: Sequence[str], seconds: float, note: str) -> Column:
    """Eight clients at once, health beside them."""
    grant = seat.daemon.grant(namespaces=dict.fromkeys(names, "viewer"), label="load")
    http = seat.daemon.http(str(grant["token"]))
    before = cpu_ms(seat)
    beside = load.start("health", http, seconds, 0)
    rate, times = load.together("recall", http, CLIENTS, seconds, names)
    out, _ = beside.communicate(timeout=60)
    return {
        f"8 clients{note}, recalls/s": rate,
        **spread(f"8 clients{note}", times),
        f"8 clients{note}, cpu ms": (cpu_ms(seat) - before) / max(1, len(times)),
        f"health beside them{note}, p99 ms": percentile(json.loads(out), 0.99),
    }


def storing(seat: Seat) -> Column:
    """One client storing, each memory acknowledged on disk; in a namespace of its own."""
    seat.http.close()  # the daemon may have closed it while others asked
    told = texts(200, seed=time.time_ns())
    calls = [partial(seat.http.store, text, namespace=SCRATCH) for text in told]
    return timed("store", seat, calls)


def spread(name: str, times: Sequence[float]) -> Column:
    """Median and 95th percentile."""
    return {
        f"{name}, p50 ms": percentile(times, 0.5),
        f"{name}, p95 ms": percentile(times, 0.95),
    }


def cpu_ms(seat: Seat) -> float:
    """Processor time of the daemon so far."""
    return processes.cpu_seconds(seat.daemon.pid) * 1000


def megabytes(seat: Seat) -> float:
    """Resident memory of the daemon."""
    return processes.resident_bytes(seat.daemon.pid) / (1 << 20)


def report(columns: dict[str, Column]) -> None:
    """Print the table; write it as JSON and the curves as SVG."""
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    # A size that has a figure of its own may have it in the middle: keep the longest order.
    names = max((list(column) for column in columns.values()), key=len, default=names)
    width = max(map(len, names))
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.python_version()}"
    print(f"\ngrowth: {machine}\n\n{'rows in namespaces':<{width}}", end="")
    print("".join(f"{title:>16}" for title in columns))
    for name in names:
        cells = (
            f"{column[name]:16.1f}" if name in column else " " * 16 for column in columns.values()
        )
        print(f"{name:<{width}}{''.join(cells)}")
    RESULTS.mkdir(exist_ok=True)
    written = RESULTS / "growth.json"
    written.write_text(json.dumps({"machine": machine, "columns": columns}, indent=1) + "\n")
    curves.draw(RESULTS / "growth.svg", columns)
    print(f"\nWritten to {written} and growth.svg")


def main() -> None:
    """Parse the options, measure every size, print the table."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench growth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--max-rows", type=int, default=1_000_000, help="leave out larger stores")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each loaded part")
    options = parser.parse_args()
    chosen = [size for size in SIZES if size.rows <= options.max_rows]
    columns: dict[str, Column] = {}
    for size in chosen:
        columns[str(size)] = measure(size, options.seconds)
        print(f"  measured {size}", flush=True)
    report(columns)


if __name__ == "__main__":
    main()

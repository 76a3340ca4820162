"""Store, recall, cold start, command line and memory, beside the floors of the machine."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from tests.bench import floors, load
from tests.bench.corpus import queries, texts
from tests.bench.figures import Figure, milliseconds, percentile, report, spread
from tests.bench.stage import Stage, fill, staged
from tests.harness import processes, vectors
from tests.harness.http import Http
from tests.harness.waiting import eventually

MEGABYTE = 1024 * 1024
CLIENTS = 8


def measure_floors(stage: Stage, rows: int) -> list[Figure]:
    """The disk, plain FTS5 and the interpreter alone."""
    return [
        *spread("floor: append and fsync", floors.fsync(stage.folder)),
        *spread(
            "floor: plain FTS5, no HTTP, no vectors",
            floors.full_text(stage.folder, texts(rows), queries(200)),
        ),
        Figure("floor: python -c pass", percentile(floors.interpreter(), 0.5), "ms"),
    ]


def measure_fill(stage: Stage, rows: int) -> list[Figure]:
    """Batches into an empty store, and how far the vectors are behind afterwards."""
    made = list(texts(rows))  # beforehand: it takes as long as storing them
    started = time.perf_counter()
    fill(stage.http, made)
    taken = time.perf_counter() - started
    owner = stage.daemon.owner()
    eventually(
        lambda: vectors.written(owner),
        within=300,
        what="all vectors written",
    )
    caught_up = time.perf_counter() - started
    return [
        Figure("store, batches of 500", rows / taken, "rows/s", ">= 6000"),
        Figure("vectors written after", caught_up - taken, "s"),
    ]


def measure_store(stage: Stage, seconds: float) -> list[Figure]:
    """One client, then eight, each call acknowledged on disk."""
    told = texts(10_000, seed=99)
    times = milliseconds(lambda: stage.http.store(f"one client: {next(told)}"), 200)
    rate, many = load.together("store", stage.http, CLIENTS, seconds)
    return [
        *spread("store, 1 client", times, "<= 3", "<= 8"),
        Figure(f"store, {CLIENTS} clients", rate, "rows/s", ">= 1200"),
        *spread(f"store, {CLIENTS} clients", many),
    ]


def measure_recall(stage: Stage, seconds: float) -> list[Figure]:
    """Warm recalls of one client and of eight, with health beside them."""
    asked: Iterator[str] = iter(queries(400, seed=5))
    for query in queries(100, seed=6):  # by then the namespace is held in memory
        stage.http.recall(query)
    times = milliseconds(lambda: stage.http.recall(next(asked)), 300)
    size = len(stage.http.post("/v1/recall", {"query": queries(1)[0], "limit": 10}).body)
    beside = load.start("health", stage.http, seconds, 0)
    rate, many = load.together("recall", stage.http, CLIENTS, seconds)
    out, _ = beside.communicate(timeout=60)
    health = [float(item) for item in out.strip("[] \n").split(",")]
    return [
        *spread("recall, warm, 1 client", times, "<= 8", "<= 15"),
        Figure(f"recall, {CLIENTS} clients", rate, "calls/s", ">= 150"),
        *spread(f"recall, {CLIENTS} clients", many, "", "<= 80"),
        Figure("health beside them, p99", percentile(health, 0.99), "ms", "<= 20"),
        Figure("reply of a 10-hit recall", size / 1000, "kB", "<= 5"),
    ]


def measure_connections(stage: Stage) -> list[Figure]:
    """The same small call on one connection and on new ones."""
    fresh = Http(stage.http.port, token=stage.http.token)
    kept = milliseconds(lambda: stage.http.get("/v1/health"), 300)
    new = milliseconds(lambda: fresh.get("/v1/health"), 300)
    return [
        Figure("health, keep-alive, p50", percentile(kept, 0.5), "ms", "< 5"),
        Figure("health, fresh connection, p50", percentile(new, 0.5), "ms", "< 5"),
    ]


def measure_command(stage: Stage) -> list[Figure]:
    """Warm verbs, and the first verb on a machine without a daemon."""
    recall = milliseconds(lambda: stage.cli.ok("recall", "the parser"), 10)
    store = milliseconds(lambda: stage.cli.ok("store", f"note {time.time_ns()}"), 10)
    cold: list[float] = []
    for _ in range(3):
        stage.cli.ok("stop")
        eventually(lambda: stage.daemon.pids() == [])
        cold += milliseconds(lambda: stage.cli.ok("recall", "the parser"), 1)
    return [
        Figure("recalld recall, warm, p50", percentile(recall, 0.5), "ms", "<= 120"),
        Figure("recalld store, warm, p50", percentile(store, 0.5), "ms", "<= 120"),
        Figure("recalld recall, cold start, p50", percentile(cold, 0.5), "ms", "<= 900"),
    ]


def resident(stage: Stage, name: str, goal: str) -> Figure:
    """What the daemon holds in memory now."""
    return Figure(name, processes.resident_bytes(stage.daemon.pid) / MEGABYTE, "MB", goal)


def _await_reading(owner: Http) -> None:
    """Wait until close reading goes on: its weights are part of what a daemon takes."""

    def left() -> int:
        return int(owner.get("/v1/status").json["embedding"]["reading"]["unread"])

    before = left()
    eventually(lambda: left() < before, within=60, what="the first notes read")


def run(rows: int, seconds: float) -> list[Figure]:
    """All of it, in an order that leaves each part undisturbed."""
    with staged() as stage:
        figures = measure_floors(stage, rows)
        figures.append(resident(stage, "RSS, empty store", ""))
        figures += measure_fill(stage, rows)
        figures += measure_connections(stage)
        figures += measure_recall(stage, seconds)
        figures += measure_store(stage, seconds)
        figures.append(resident(stage, "RSS after all this", "<= 250"))
        figures += measure_command(stage)
        _await_reading(stage.daemon.owner())
        figures.append(resident(stage, f"RSS, started anew, {rows} rows", "<= 150"))
        stage.http.close()
    return [*figures, *ratios(figures)]


def ratios(figures: list[Figure]) -> list[Figure]:
    """Ours over the floor; these compare between machines, milliseconds do not."""
    value = {figure.name: figure.value for figure in figures}
    pairs = [
        ("store, 1 client, p50", "floor: append and fsync, p50"),
        ("recall, warm, 1 client, p50", "floor: plain FTS5, no HTTP, no vectors, p50"),
        ("recalld recall, warm, p50", "floor: python -c pass"),
    ]
    return [
        Figure(f"{ours} / {floor.removeprefix('floor: ')}", value[ours] / value[floor], "times")
        for ours, floor in pairs
    ]


def main() -> None:
    """Parse the options and print the table."""
    parser = argparse.ArgumentParser(prog="scripts/bench spine", description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="memories in the namespace")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each loaded part")
    options = parser.parse_args()
    report("spine", run(options.rows, options.seconds))


if __name__ == "__main__":
    main()

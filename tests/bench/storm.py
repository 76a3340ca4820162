"""Thousands of recalls on connections opened at the same moment, and health asked beside them.

scripts/bench storm [--rows N] [--connections N]

Every connection gets an answer: hits, or 429 while all workers are taken. What counts is that
health goes on answering, also while the namespace's shelf is being made (cold).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import time

from tests.bench import load
from tests.bench.corpus import queries
from tests.bench.figures import Figure, percentile, report
from tests.bench.grown import Size, grown
from tests.bench.seat import Seat, seated
from tests.daemon import raw
from tests.daemon.burst import counted
from tests.harness import processes
from tests.harness.waiting import eventually


def storm(seat: Seat, connections: int, name: str) -> list[Figure]:
    """One burst; health is asked by another process from before it until after it."""
    requests = [_request(seat, query) for query in queries(connections, seed=7)]
    seconds = 3.0 + connections / 500
    beside = load.start("health", seat.http, seconds, 0)
    time.sleep(0.5)  # let the other process start; nothing is asserted about when
    spent, begun = processes.cpu_seconds(seat.daemon.pid), time.perf_counter()
    found = counted(seat.http.port, requests)
    taken = time.perf_counter() - begun
    spent = processes.cpu_seconds(seat.daemon.pid) - spent
    out, _ = beside.communicate(timeout=60)
    health: list[float] = json.loads(out)
    return [
        Figure(f"{name}: answered 200", found[200], ""),
        Figure(f"{name}: answered 429", found[429], ""),
        Figure(f"{name}: not answered", connections - found[200] - found[429], "", "0"),
        Figure(f"{name}: until all were", taken, "s"),
        Figure(f"{name}: cpu of the daemon", spent, "s"),
        Figure(f"{name}: health p99", percentile(health, 0.99), "ms"),
        Figure(f"{name}: health max", max(health), "ms", "<= 600"),
    ]


def _request(seat: Seat, query: str) -> bytes:
    body = json.dumps({"query": query, "namespaces": seat.names}).encode()
    lines = (
        f"Authorization: Bearer {seat.http.token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return raw.head(seat.http.port, "POST", "/v1/recall", *lines) + body


def run(rows: int, connections: int) -> list[Figure]:
    """A storm on a namespace never asked before, and one on a namespace in use."""
    size = Size(rows, 1)
    data = grown(size)
    shutil.rmtree(data / "shelves", ignore_errors=True)
    with seated(data, size.names()) as seat:
        figures = storm(seat, connections, "cold")
        eventually(lambda: any((data / "shelves").glob("*.shelf")), within=120)
        seat.http.close()  # idle for long; the daemon may have closed it
        for query in queries(20, seed=8):
            seat.http.recall(query, namespaces=seat.names)
        figures += storm(seat, connections, "hot")
        resident = processes.resident_bytes(seat.daemon.pid) / (1 << 20)
    return [*figures, Figure("RSS afterwards", resident, "MB")]


def main() -> None:
    """Parse the options and print the table."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench storm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=20_000, help="memories in the namespace")
    parser.add_argument("--connections", type=int, default=3_000, help="opened at once")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    os.nice(1)  # the daemon under test comes before the one who asks
    report("storm", run(options.rows, options.connections))


if __name__ == "__main__":
    main()

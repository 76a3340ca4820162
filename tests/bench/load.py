"""Client processes that all do the same for a while; each prints its times as JSON."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.corpus import queries, texts
from tests.bench.wire import Wire
from tests.harness.http import Http

BETWEEN_LOOKS = 0.005
"""Seconds a client that looks at health waits: without a pause it would be the heaviest load."""
ROOT = Path(__file__).resolve().parents[2]


def together(
    kind: str, http: Http, clients: int, seconds: float, namespaces: Sequence[str] = ()
) -> tuple[float, list[float]]:
    """Run `clients` processes for `seconds`; returns calls per second and all times in ms."""
    started = [start(kind, http, seconds, n, namespaces) for n in range(clients)]
    times: list[float] = []
    for process in started:
        out, _ = process.communicate(timeout=seconds + 60)
        assert process.returncode == 0
        times += json.loads(out)
    return len(times) / seconds, sorted(times)


def start(
    kind: str, http: Http, seconds: float, seed: int, namespaces: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """One client process of this kind: store, recall or health.

    Recalls ask the namespaces in turns, or without any all that the token may read.
    """
    words = [kind, str(http.port), str(http.token), str(seconds), str(seed), *namespaces]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.bench.load", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def _client(
    kind: str, port: int, token: str, seconds: float, seed: int, namespaces: Sequence[str]
) -> list[float]:
    wire = Wire(port, token)
    asked = queries(200, seed)
    told = texts(100_000, seed + 1000)
    turns = itertools.cycle(namespaces)
    times: list[float] = []
    wire.get("/v1/health")
    until = time.perf_counter() + seconds
    while (before := time.perf_counter()) < until:
        if kind == "store":
            status = wire.post("/v1/memories", {"content": f"client {seed}: {next(told)}"})
        elif kind == "recall":
            within = {"namespaces": [next(turns)]} if namespaces else {}
            status = wire.post("/v1/recall", {"query": asked[len(times) % len(asked)], **within})
        else:
            status = wire.get("/v1/health")
        if status in {200, 201}:
            times.append((time.perf_counter() - before) * 1000)
        if kind == "health":
            time.sleep(BETWEEN_LOOKS)
    wire.close()
    return times


def main() -> None:
    """Be one client: KIND PORT TOKEN SECONDS SEED [NAMESPACE]..."""
    kind, port, token, seconds, seed, *names = sys.argv[1:]
    print(json.dumps(_client(kind, int(port), token, float(seconds), int(seed), names)))


if __name__ == "__main__":
    main()

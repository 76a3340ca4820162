"""Figures of a benchmark: percentiles, a table for people, JSON for machines."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parent / "results"


class Figure(NamedTuple):
    """One measured number beside its goal; `goal` is what the design promises, if anything."""

    name: str
    value: float
    unit: str
    goal: str = ""


def milliseconds(action: Callable[[], object], count: int) -> list[float]:
    """How long each of `count` calls took, sorted."""
    times: list[float] = []
    for _ in range(count):
        started = time.perf_counter()
        action()
        times.append((time.perf_counter() - started) * 1000)
    return sorted(times)


def percentile(times: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the sorted `times` lie."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def spread(name: str, times: Sequence[float], p50: str = "", p95: str = "") -> list[Figure]:
    """Median and 95th percentile as figures in milliseconds."""
    return [
        Figure(f"{name}, p50", percentile(times, 0.5), "ms", p50),
        Figure(f"{name}, p95", percentile(times, 0.95), "ms", p95),
    ]


def report(title: str, figures: Sequence[Figure]) -> None:
    """Print the table and keep the figures in `tests/bench/results/<title>.json`."""
    width = max(len(figure.name) for figure in figures)
    load = os.getloadavg()[0]
    print(f"{title}: {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}\n")
    for figure in figures:
        goal = f"   goal {figure.goal}" if figure.goal else ""
        print(f"  {figure.name:<{width}}  {figure.value:>10.2f} {figure.unit:<8}{goal}")
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{title}.json"
    machine = {"cores": os.cpu_count(), "load": load, "python": platform.python_version()}
    document = {"machine": machine, "figures": [figure._asdict() for figure in figures]}
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\nWritten to {path}")

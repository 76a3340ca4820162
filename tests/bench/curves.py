"""Growth curves as an SVG file: milliseconds over rows, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 820, 460, 60, 30, 230, 45
SHOWN = {
    "hot, p50 ms": "#1b6ca8",
    "hot, p95 ms": "#7fb2d6",
    "hot, cpu ms": "#0a8754",
    "cold, p95 ms": "#e08e0b",
    "turns, p95 ms": "#b5446e",
    "new, p95 ms": "#8a6fb0",
    "plain FTS5, p50 ms": "#999999",
    "store, p50 ms": "#444444",
}


def draw(path: Path, columns: Mapping[str, Mapping[str, float]]) -> None:
    """Write one curve for every shown figure; the columns' titles begin with their rows."""
    rows = [int(title.split()[0].replace(",", "")) for title in columns]
    across = _scale(min(rows), max(rows) * 1.0001, LEFT, WIDTH - RIGHT)
    up = _scale(0.5, 200, HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}">',
        "<style>text { font: 12px sans-serif }</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for tick in (0.5, 1, 2, 5, 10, 20, 50, 100, 200):
        y = up(tick)
        parts.append(_line([(LEFT, y), (WIDTH - RIGHT, y)], "#e5e5e5"))
        parts.append(_text(LEFT - 8, y + 4, f"{tick:g} ms", "end"))
    for row in rows:
        parts.append(_text(across(row), HEIGHT - BOTTOM + 20, f"{row:,}", "middle"))
    for place, (name, colour) in enumerate(SHOWN.items()):
        values = [column.get(name) for column in columns.values()]
        found = [(across(r), up(max(v, 0.5))) for r, v in zip(rows, values, strict=True) if v]
        parts.append(_line(found, colour, 2))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in found]
        at = TOP + 20 * place + 8
        parts.append(_line([(WIDTH - RIGHT + 20, at), (WIDTH - RIGHT + 44, at)], colour, 2))
        parts.append(_text(WIDTH - RIGHT + 50, at + 4, name.removesuffix(" ms"), "start"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "rows in the store", "middle"))
    path.write_text("\n".join([*parts, "</svg>", ""]))


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """From a value between `low` and `high` to a place between `start` and `end`."""
    span = math.log(high / low) or 1.0
    return lambda value: start + (end - start) * math.log(value / low) / span


def _line(points: list[tuple[float, float]], colour: str, width: int = 1) -> str:
    listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{listed}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _text(x: float, y: float, said: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{said}</text>'

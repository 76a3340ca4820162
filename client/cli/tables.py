"""Rows of cells: tables on a terminal, tab-separated lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import terminal

_LEAST = 32
"""Columns the last cell gets beside the others, unless all of it is shorter; else it goes below."""
_GAP = 3
"""What the library puts between two columns."""
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
_RELATIVE_SECONDS = 30 * 86_400


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, once: str | None = None
) -> None:
    """A table on a terminal, tab-separated lines without a head when piped.

    The last column is the one that may be long. A terminal too narrow for it shows each row's other
    cells on one line and the long one below. The column `once` is said above the table instead of
    in it when all rows agree on it.
    """
    if not terminal.on_terminal():
        for row in rows:
            terminal.say("\t".join(terminal.one_line(cell) for cell in row))
        return
    if not rows:
        return
    if not rows:
        return
    safe = [[terminal.one_line(cell) for cell in row] for row in rows]
    if once is not None and len({row[columns.index(once)] for row in safe}) == 1:
        place = columns.index(once)
        terminal.say(f"{once}: {safe[0][place]}")
        columns = [*columns[:place], *columns[place + 1 :]]
        safe = [[*row[:place], *row[place + 1 :]] for row in safe]
    _draw(columns, safe)


def when(moment: str) -> str:
    """A time as it came in a pipe; on a terminal how long ago or ahead, or its day if far off."""
    if not terminal.on_terminal() or not moment:
        return moment
    from datetime import UTC, datetime  # only a terminal pays

    try:
        age = (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
    except (ValueError, TypeError):
        return moment
    if abs(age) >= _RELATIVE_SECONDS:
        return moment[:10]
    if abs(age) < 1:
        return "now"
    return f"{span(age)} ago" if age > 0 else f"in {span(-age)}"


def span(seconds: float) -> str:
    """So many seconds in the largest unit that fits."""
    return next((f"{int(seconds // size)}{unit}" for unit, size in _UNITS if seconds >= size), "0s")


def _draw(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box  # 100 ms that only a terminal pays
    from rich.cells import cell_len
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    widths = [max(cell_len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    *others, longest = widths
    console = Console(file=sys.stdout, highlight=False)
    # Text, not str: a str would be parsed as markup, and memories contain square brackets.
    if console.width < sum(others) + _GAP * len(others) + min(longest, _LEAST):
        for row in rows:
            console.print(Text(_heading(columns, row), style="dim"))
            console.print(Padding(Text(row[-1], overflow="fold"), (0, 0, 0, 2)))
        return
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns[:-1]:
        drawn.add_column(name, no_wrap=True)
    drawn.add_column(columns[-1], overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))
    console.print(drawn)


def _heading(columns: Sequence[str], row: Sequence[str]) -> str:
    """All but the last cell of a row on one line; what comes first explains itself."""
    named = zip(columns[1:-1], row[1:-1], strict=True)
    return "  ".join([row[0], *(f"{name} {cell}" for name, cell in named if cell)])

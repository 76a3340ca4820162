"""Answers within a number of bytes: whole items, best first, and what is left named.

The measure is what travels: an answer is JSON inside a JSON text, where every quote and line break
takes another byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import orjson

Row = dict[str, object]

DEFAULT_BYTES = 8_192
MOST_BYTES = 61_440
"""Hosts cut or refuse results of about 25,000 tokens; this is well below."""
LEAST_BYTES = 1_024
FRAME_BYTES = 256
"""Kept free for what stands around the items: brackets, the cursor, a remark."""

_LONG_FIELDS = ("text", "detail", "title")
_CUT = " …"


def weigh(value: object) -> int:
    """Bytes the value takes in an answer."""
    return len(orjson.dumps(orjson.dumps(value).decode()))


def room(budget: object) -> int:
    """Bytes for items, given the budget asked for (None: the default one)."""
    asked = budget if isinstance(budget, int) else DEFAULT_BYTES
    return max(LEAST_BYTES, min(asked, MOST_BYTES)) - FRAME_BYTES


def fit(rows: Iterable[Row], space: int) -> list[Row]:
    """The rows from the first on that fit together; the first is shortened if it must be.

    So an answer is never empty because its best item is huge.
    """
    kept: list[Row] = []
    left = space
    for whole in rows:
        row = whole if kept else shortened(whole, left)
        cost = weigh(row)
        if cost > left:
            break
        kept.append(row)
        left -= cost
    return kept


def shortened(row: Row, space: int) -> Row:
    """The row with its long texts cut until it fits; `cut` then says how long each was."""
    for name in reversed(_LONG_FIELDS):
        over = weigh(row) - space
        if over <= 0:
            break
        text = row.get(name)
        if isinstance(text, str):
            keep = max(0, weigh(text) - over - 64)
            row = cut(row, name, keep)
    # Thirty-two long tags alone may be too much; the id is what the rest can be fetched by.
    return row if weigh(row) <= space else {n: row[n] for n in ("id", "kind", "cut") if n in row}


def cut(row: Row, name: str, most: int) -> Row:
    """The row with this text taking at most `most` bytes, and its full length under `cut`."""
    text = str(row[name])
    if weigh(text) <= most:
        return row
    low, high = 0, min(len(text), most)
    while low < high:  # escapes make bytes a crooked measure of characters
        middle = (low + high + 1) // 2
        low, high = (middle, high) if weigh(text[:middle]) <= most else (low, middle - 1)
    lengths = cast("dict[str, int]", row.get("cut") or {})
    return {**row, name: text[:low].rstrip() + _CUT, "cut": {name: len(text), **lengths}}

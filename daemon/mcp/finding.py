"""Tools that find: recall with texts, search for an index, the timeline, and details by id."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import cast

from ...auth.errors import InvalidRequest
from ...storage import memories, pages, timeline
from ...storage.memories import Memory
from ...storage.reader import Reader
from ...storage.ulid import is_ulid
from ..deadline import Deadline
from ..http.bodies import validate
from ..http.call import Call
from ..http.recalls import recalled
from ..http.schemas import RecallRequest
from ..recall.request import MOST_HITS, RecallAnswer
from . import packing, rows
from .arguments import Given
from .packing import Row
from .walks import Walk, Walks, cursor

HITS = 10
LINES = 20
AROUND = 5
MOST_IDS = 20
TEXT_LEAST = 360
"""Bytes of a memory's text in a list, at least: most memories are shorter."""

Shape = Callable[[Memory], Row]


async def recall(call: Call, given: Given) -> Row:
    """The memories that answer a question, with their texts."""
    limit = _limit(given, HITS)
    most = max(TEXT_LEAST, packing.room(given.get("budget_bytes")) * 3 // 5 // limit - 120)
    return await _find(
        call, given, limit, lambda memory: packing.cut(rows.hit(memory), "text", most)
    )


async def search(call: Call, given: Given) -> Row:
    """The same memories as an index: one line each."""
    return await _find(call, given, _limit(given, LINES), rows.index)


async def _find(call: Call, given: Given, limit: int, shape: Shape) -> Row:
    """A page of a walk, a new one or one that goes on."""
    started = given.get("cursor")
    degraded: list[str] = []
    if isinstance(started, str):
        walk, position = call.services.part(Walks).find(started, call.access.by)
        call.access.readable(walk.scope)  # the grant may have shrunk since
        if walk.is_shallow_at(position + limit):
            deeper = walk.request.model_copy(update={"limit": MOST_HITS})
            walk.deepen(deeper, _rids(await recalled(call, deeper)))
    else:
        walk, degraded = await _begin(call, given, limit)
        position = 0

    def job(reader: Reader, deadline: Deadline) -> list[tuple[int, Row]]:
        page = itertools.islice(walk.read(reader.connection, position, deadline), limit)
        return [(end, shape(memory)) for end, memory in page]

    found = await call.read(job)
    kept = packing.fit((row for _, row in found), packing.room(given.get("budget_bytes")))
    answer: Row = {"hits": kept}
    if degraded:
        answer["degraded"] = degraded
    if len(kept) < len(found) or len(found) == limit:
        end = found[len(kept) - 1][0]
        if not walk.ends_at(end):
            call.services.part(Walks).keep(walk)
            answer["more"] = cursor(walk, end)
    return answer


async def _begin(call: Call, given: Given, limit: int) -> tuple[Walk, list[str]]:
    names = ("query", "kinds", "tags", "since", "until")
    asked = {name: given[name] for name in names if name in given}
    if not asked.get("kinds"):  # an empty list is what some hosts send for none
        asked.pop("kinds", None)
    # One more than is shown says whether there is more; a hundred would take three times as long.
    request = validate(RecallRequest, {**asked, "limit": min(limit + 1, MOST_HITS)})
    answer = await recalled(call, request)
    return Walk(call.access.by, call.access.readable(), request, _rids(answer)), list(
        answer.degraded
    )


def _rids(answer: RecallAnswer) -> list[int]:
    return [hit.memory.rid for hit in answer.hits]


async def around(call: Call, given: Given) -> Row:
    """What was stored around a memory, or last, as an index, oldest first."""
    scope = call.access.readable()
    before, after = (_count(given, name, AROUND, 50) for name in ("before", "after"))
    anchor = given.get("id")

    def job(reader: Reader, _: Deadline) -> list[Memory]:
        if anchor is None:
            latest = pages.page(reader.connection, scope, pages.Filter(), None, before + after + 1)
            return [one for one in latest.items[::-1] if one.status != "quarantined"]
        found = memories.get(reader.connection, scope, _ulid(anchor))
        return timeline.around(reader.connection, scope, found, before=before, after=after)

    found = await call.read(job)
    lines = [rows.index(memory) for memory in found]
    kept = _nearest(lines, anchor, packing.room(given.get("budget_bytes")))
    answer: Row = {"items": kept}
    if len(kept) < len(lines):
        answer["left_out"] = len(lines) - len(kept)
    return answer


def _nearest(lines: list[Row], anchor: object, space: int) -> list[Row]:
    """The lines that fit, those nearest to the anchor (else the newest) first chosen."""
    middle = next((n for n, line in enumerate(lines) if line["id"] == anchor), len(lines) - 1)
    order = sorted(range(len(lines)), key=lambda n: abs(n - middle))
    kept = packing.fit((lines[n] for n in order), space)
    return [line for _, line in sorted(zip(order, kept, strict=False), key=lambda pair: pair[0])]


async def fetch(call: Call, given: Given) -> Row:
    """Whole memories by id, in the order asked for; one too large is shortened."""
    ids = list(dict.fromkeys(cast("list[str]", given["ids"])))
    if not 0 < len(ids) <= MOST_IDS:
        raise InvalidRequest(f"Name 1 to {MOST_IDS} ids.")
    scope = call.access.readable()

    def job(reader: Reader, _: Deadline) -> list[Memory]:
        found = (memories.find(reader.connection, scope, ulid) for ulid in ids if is_ulid(ulid))
        return [memory for memory in found if memory is not None]

    offset = _count(given, "offset", 0, 1_000_000)
    return _details(ids, await call.read(job), offset, packing.room(given.get("budget_bytes")))


def _details(ids: list[str], found: Iterable[Memory], offset: int, space: int) -> Row:
    whole = [rows.full(memory, offset) for memory in found]
    kept = packing.fit(whole, space)
    known = {row["id"] for row in whole}
    answer: Row = {"memories": kept}
    if len(kept) < len(whole):
        answer["more"] = [row["id"] for row in whole[len(kept) :]]
    missing = [ulid[:40] for ulid in ids if ulid not in known]
    return {**answer, "missing": missing} if missing else answer


def _limit(given: Given, default: int) -> int:
    return max(1, _count(given, "limit", default, MOST_HITS))


def _count(given: Given, name: str, default: int, most: int) -> int:
    value = given.get(name)
    return min(value, most) if isinstance(value, int) else default


def _ulid(value: object) -> str:
    if not (isinstance(value, str) and is_ulid(value)):
        raise InvalidRequest("An id is the 26 characters that a search shows.")
    return value

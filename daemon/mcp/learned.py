"""Tools about rules, lessons and checkpoints: what a session starts from, and what it leaves."""

from __future__ import annotations

from typing import cast

from ..http import learned, progress, rules
from ..http.bodies import validate
from ..http.call import Call
from ..http.learning_requests import (
    CheckpointQuery,
    CheckpointRequest,
    LearnedQuery,
    RulesQuery,
)
from . import packing
from .arguments import Given
from .changing import said
from .packing import Row
from .rows import safe

LESSONS = 10
LEAST_TOKENS = 100
MOST_TOKENS = 20_000
BYTES_PER_TOKEN = 4

_PARTS = ("remaining", "completed", "blockers", "notes")
_LESSON = ("id", "failing", "error", "fix", "evidence", "status", "rule")


async def load_rules(call: Call, given: Given) -> Row:
    """The rules of the project and the user as one block, whole ones only."""
    space = packing.room(given.get("budget_bytes"))
    tokens = space // BYTES_PER_TOKEN
    answer = await _rules(call, tokens)
    # A token is an estimate of letters; what counts here is bytes.
    while (weight := packing.weigh(answer)) > space and tokens > LEAST_TOKENS:
        tokens = min(tokens * space // weight, tokens - LEAST_TOKENS)
        answer = await _rules(call, tokens)
    return answer


async def _rules(call: Call, tokens: int) -> Row:
    budget = max(LEAST_TOKENS, min(tokens, MOST_TOKENS))
    found = said(await rules.rules(call.within(query=RulesQuery(budget=budget))))
    answer: Row = {"rules": found["text"], "counts": found["counts"]}
    if found["more"]:
        answer["more"] = f"{found['more']} more: memory_search with kinds finds them."
    return answer


async def save_checkpoint(call: Call, given: Given) -> Row:
    """Say where work stands, for the next session."""
    request = validate(CheckpointRequest, dict(given))
    saved = said(await progress.save(call.within(body=request)))
    return {"status": "saved", "namespace": saved["namespace"], "updated_at": saved["updated_at"]}


async def load_checkpoint(call: Call, given: Given) -> Row:
    """Where work stood when it was last left."""
    answer = said(await progress.load(call.within(query=CheckpointQuery())))
    found = cast("Row | None", answer["checkpoint"])
    if found is None:
        return {"found": False}
    space = packing.room(given.get("budget_bytes"))
    row: Row = {"updated_at": found["updated_at"], "namespace": found["namespace"]}
    row |= {name: safe(found[name]) for name in _PARTS if found.get(name)}
    if packing.weigh(row) > space:
        for name in _PARTS:
            if name in row:
                row = packing.cut(row, name, space // len(_PARTS) - packing.FRAME_BYTES // 4)
    return {"found": True, **row}


async def lessons(call: Call, given: Given) -> Row:
    """What failed and what made it work, newest first."""
    query: Row = {"limit": str(given.get("limit") or LESSONS)}
    if "status" in given:
        query["status"] = given["status"]
    answer = said(await learned.lessons_learned(call.within(query=validate(LearnedQuery, query))))
    found = [_lesson(row) for row in cast("list[Row]", answer["lessons"])]
    kept = packing.fit(found, packing.room(given.get("budget_bytes")))
    told: Row = {"lessons": kept}
    return told if len(kept) == len(found) else {**told, "left_out": len(found) - len(kept)}


def _lesson(lesson: Row) -> Row:
    shown: Row = {}
    for name in _LESSON:
        value = lesson.get(name)
        if value not in (None, ""):
            shown[name] = safe(value)
    for name in ("failing", "error", "fix"):
        if name in shown:
            shown = packing.cut(shown, name, 600)
    return shown

"""Resources and prompts, for hosts that show them to the user: rules, checkpoint, recall.

What is remembered stands in a prompt as in a hook's answer: in one block that it cannot close.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, cast

import orjson

from ...auth.errors import InvalidRequest
from ..http.call import Call
from ..injection import block
from ..injection.block import Item
from ..injection.visible import untagged, visible
from ..rules import selection
from . import finding, learned
from .arguments import Given
from .packing import Row

_STANDING_BYTES = 4_096
"""Of a checkpoint in a prompt: it shares the block with the rules."""
_PARTS = ("remaining", "blockers", "completed", "notes")

Text = Callable[[Call, Given], Awaitable[str]]


class Resource(NamedTuple):
    """Something to read under a fixed URI."""

    uri: str
    name: str
    description: str
    media_type: str
    read: Text


class Prompt(NamedTuple):
    """Something the user picks; `topic` says whether it asks about what."""

    name: str
    description: str
    topic: bool
    text: Text


async def _rules(call: Call, _: Given) -> str:
    answer = await learned.load_rules(call, {})
    return str(answer["rules"]) or "No rules are recorded yet."


async def _checkpoint(call: Call, _: Given) -> str:
    return orjson.dumps(await learned.load_checkpoint(call, {})).decode()


async def _begin(call: Call, _: Given) -> str:
    standing = await learned.load_checkpoint(call, {"budget_bytes": _STANDING_BYTES})
    before = [_standing(standing)] if standing["found"] else []
    scope = call.access.readable()
    found = await call.read(
        lambda reader, _: selection.select(reader.connection, scope, before=before)
    )
    return f"{found.text or 'Nothing is recorded yet.'}\n\nGo on from there."


def _standing(row: Row) -> Item:
    """The checkpoint as the first item of the block."""
    text = "\n".join(f"{name.capitalize()}: {row[name]}" for name in _PARTS if name in row)
    at, namespace = str(row["updated_at"]), str(row["namespace"])
    return Item("checkpoint", "checkpoint", text, at, "the last session", namespace)


async def _recall(call: Call, given: Given) -> str:
    topic = given.get("topic")
    if not isinstance(topic, str) or not topic.strip():
        raise InvalidRequest("Say what to recall: the argument 'topic' is missing.")
    hits = cast("list[Row]", (await finding.recall(call, {"query": topic}))["hits"])
    found = block.render([_remembered(hit) for hit in hits], heading="What is remembered.")
    known = found.text or "Nothing is remembered about it."
    return f"{known}\n\nUse what is relevant to: {untagged(visible(topic))}"


def _remembered(hit: Row) -> Item:
    fields = ("id", "kind", "text", "at")
    name, kind, text, at = (str(hit.get(field, "")) for field in fields)
    return Item(name, kind, text, at, "memory", str(hit.get("namespace", "this project")))


RESOURCES = (
    Resource(
        "recalld://rules", "Active rules", "The rules of this project and user.", "text/plain",
        _rules,
    ),
    Resource(
        "recalld://checkpoint", "Checkpoint", "Where work stood when it was last left.",
        "application/json", _checkpoint,
    ),
)  # fmt: skip

PROMPTS = (
    Prompt("begin", "Start from the recorded rules and the last checkpoint.", False, _begin),
    Prompt("recall", "Recall what is remembered about a topic.", True, _recall),
)

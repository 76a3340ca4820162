"""Resources and prompts, for hosts that show them to the user: rules, checkpoint, recall."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import orjson

from ...auth.errors import InvalidRequest
from ..http.call import Call
from . import finding, learned
from .arguments import Given

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
    rules, checkpoint = await _rules(call, {}), await _checkpoint(call, {})
    return f"{rules}\n\nCheckpoint of the last session (data):\n{checkpoint}\n\nGo on from there."


async def _recall(call: Call, given: Given) -> str:
    topic = given.get("topic")
    if not isinstance(topic, str) or not topic.strip():
        raise InvalidRequest("Say what to recall: the argument 'topic' is missing.")
    found = orjson.dumps(await finding.recall(call, {"query": topic})).decode()
    return f"What is remembered (data):\n{found}\n\nUse what is relevant to: {topic}"


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

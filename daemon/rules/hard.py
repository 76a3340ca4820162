"""Which tool calls a user's hard rules forbid."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ...storage.hard_rules import HardRule
from ..injection.visible import one_line
from ..intake.event import Event
from ..lessons.attempts import attempt, subjects

LONGEST_REASON = 600


def forbidding(marked: Iterable[HardRule], event: Event) -> list[HardRule]:
    """The rules that forbid this tool call."""
    texts = subjects(event)
    names = {"*", event.tool, "shell" if attempt(event).shell else event.tool}
    return [
        rule
        for rule in marked
        if rule.tool in names and any(fnmatchcase(text, rule.pattern) for text in texts)
    ]


def reason(rule: HardRule) -> str:
    """What the agent is told; once it knows, the same call may be made again."""
    said = one_line(rule.content, LONGEST_REASON)
    return (
        f"A rule of the user forbids this: {said} [recalld:{rule.ulid}] "
        "It is said once in a session; if the user insists, the call can be repeated."
    )

"""Which success was the fix of which failure, and what the fix was.

A success is about a failure when it is the same kind of command or shares most of its words. What
made the difference is then either in the command itself, or in what was done between the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from ...storage.outcomes import Outcome
from . import commands
from .attempts import LONGEST, Attempt

WITHIN_S: Final = 1800.0
"""A success later than this is another story. claude-recall takes five minutes, which builds and
test suites alone can take."""
SHARED_WORDS: Final = 0.3
"""Share of words two commands must have in common to be about the same thing (its threshold)."""
MOST_STEPS: Final = 3

_ENABLES: Final = re.compile(
    r"(?i)(?:^|[\s:])(?:install|add|up|start|restart|run|enable|migrate|upgrade|update|build|compile|"
    r"init|login|sync|ci|generate|create|createdb|seed|pull|fetch|export|restore|download|chmod|"
    r"chown|mkdir|mkdirp|touch|ln|cp|mv|kill|rm|unset|source|ensurepip|use|link|lock|prune|clean)"
    r"(?:$|[\s:])"
)
_VERSIONED: Final = re.compile(r"[=@<>~!]=?[\w.^*-]+$")


class Fix(NamedTuple):
    """What made the failing thing work: words to quote, its class, and how sure that is (0 to 1).

    `names` is False when nothing can be named: the same command simply worked later, or only after
    edits, which belong to that one moment.
    """

    text: str
    command_class: str
    confidence: float
    names: bool


def related(failure: Outcome, success: Attempt, at: str) -> bool:
    """Whether the success is about what the failure was about, and soon enough after it."""
    if not success.shell or not 0 <= _seconds(failure.at, at) <= WITHIN_S:
        return False
    if failure.command_class in commands.classes(success.text):
        return True
    mine, theirs = commands.words_of(failure.attempt), commands.words_of(success.text)
    return bool(mine and theirs) and len(mine & theirs) / len(mine | theirs) >= SHARED_WORDS


def fix(failure: Outcome, success: Attempt, between: Sequence[Outcome]) -> Fix | None:
    """The fix, or None when the success only tried something smaller or elsewhere.

    `between` are the successes of the session after the failure, in order.
    """
    if len(success.text) > LONGEST:
        return Fix("", "", 0.0, names=False)
    if success.text == failure.attempt:
        return _in_between(success, between)
    if success.command_class != failure.command_class:
        return Fix(success.text, success.command_class, _sureness(failure, success), names=True)
    if _adds_something(failure.attempt, success.text):
        return Fix(success.text, success.command_class, 0.8, names=True)
    return None


def steps(between: Sequence[Outcome]) -> list[str]:
    """Of the commands run in between, those that change what the next one finds."""
    found = [one.attempt for one in between if one.kind == "success" and one.tool != "edit"]
    named = [step for step in found if _ENABLES.search(step) and len(step) <= LONGEST]
    return list(dict.fromkeys(named))[-MOST_STEPS:]


def _in_between(success: Attempt, between: Sequence[Outcome]) -> Fix:
    """The same command worked later: because of what was run before it, if anything was."""
    taken = steps(between)
    edits = any(one.tool == "edit" for one in between)
    if not taken:
        return Fix("", "", 0.5 if edits else 0.3, names=False)
    # A file was changed as well: the commands may be only half of the truth.
    confidence = (0.8 if len(taken) == 1 else 0.75) - (0.1 if edits else 0.0)
    text = " && ".join([*taken, success.text])
    first = commands.classify(taken[0])
    return Fix(text, first, confidence, names=len(text) <= LONGEST)


def _sureness(failure: Outcome, success: Attempt) -> float:
    if failure.command_class in commands.classes(success.text):
        return 0.85  # the failing command itself, with something before it
    mine, theirs = commands.words_of(failure.attempt), commands.words_of(success.text)
    return 0.8 if len(mine & theirs) / len(mine | theirs) >= 0.5 else 0.7


def _adds_something(before: str, after: str) -> bool:
    """Whether the second command adds a flag, a variable, a version or a step to the first.

    `pytest tests/a.py` passing says nothing about `pytest`; `git push -u origin main` does.
    """
    old, new = before.split(), after.split()
    added = [word for word in new if word not in old]
    stems = {_VERSIONED.sub("", word) for word in old}
    for position, word in enumerate(new):
        if word not in added:
            continue
        flagged = position > 0 and new[position - 1].startswith("-") and new[position - 1] in old
        versioned = _VERSIONED.search(word) and _VERSIONED.sub("", word) in stems
        if word.startswith("-") or "=" in word or word == "&&" or versioned or flagged:
            return True
    return False


def _seconds(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()

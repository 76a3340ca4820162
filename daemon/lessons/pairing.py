"""Which success was the fix of which failure, and what the fix was.

A success is about a failure when it is the same kind of command or shares most of its words. What
made the difference is then either in the command itself, or in what was done between the two.
A success that proves nothing (see proof) is about no failure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from ...storage.outcomes import Outcome
from . import commands, proof
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
    if not proof.proves(success.text, failure.attempt):
        return False
    working = proof.decisive(success.text)
    if failure.command_class in map(commands.class_of, working):
        return True
    if not any(commands.runs_something(words) for words in working) and not _enables(success.text):
        return False
    return _shared(failure, success) >= SHARED_WORDS


def fix(failure: Outcome, success: Attempt, between: Sequence[Outcome]) -> Fix | None:
    """The fix, or None when the success only tried something smaller or elsewhere.

    `between` are the successes of the session after the failure, in order.
    """
    if len(success.text) > LONGEST:
        return Fix("", "", 0.0, names=False)
    text = proof.core(success.text)
    if text == proof.core(failure.attempt):
        return _in_between(text, between)
    kind = commands.classify(text)
    if kind != failure.command_class:
        return Fix(text, kind, _sureness(failure, success), names=True)
    if _adds_something(failure.attempt, text):
        return Fix(text, kind, 0.8, names=True)
    return None


def steps(between: Sequence[Outcome]) -> list[str]:
    """Of the commands run in between, those that change what the next one finds."""
    found = [one.attempt for one in between if one.kind == "success" and one.tool != "edit"]
    named = [step for step in found if _enables(step) and len(step) <= LONGEST]
    return list(dict.fromkeys(named))[-MOST_STEPS:]


def _enables(command: str) -> bool:
    """Whether the command changes what the next one finds, and not by looking away."""
    working = proof.decisive(command)
    told = any(_ENABLES.search(" ".join(words)) for words in working)
    return told and not proof.evasions(command)


def _in_between(worked: str, between: Sequence[Outcome]) -> Fix:
    """The same command worked later: because of what was run before it, if anything was."""
    taken = steps(between)
    edits = any(one.tool == "edit" for one in between)
    if not taken:
        return Fix("", "", 0.5 if edits else 0.3, names=False)
    # A file was changed as well: the commands may be only half of the truth.
    confidence = (0.8 if len(taken) == 1 else 0.75) - (0.1 if edits else 0.0)
    text = " && ".join([*taken, worked])
    first = commands.classify(taken[0])
    return Fix(text, first, confidence, names=len(text) <= LONGEST)


def _sureness(failure: Outcome, success: Attempt) -> float:
    if failure.command_class in commands.classes(success.text):
        return 0.85  # the failing command itself, with something before it
    return 0.8 if _shared(failure, success) >= 0.5 else 0.7


def _shared(failure: Outcome, success: Attempt) -> float:
    """The share of words the two commands have in common; what is only read does not count."""
    mine = commands.words_of(failure.attempt)
    theirs = commands.words_of(proof.core(success.text))
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else 0.0


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

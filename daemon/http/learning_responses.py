"""The response models about agents at work: events, rules, checkpoints, lessons."""

from __future__ import annotations

from typing import Literal

from .fields import Response


class Denial(Response):
    """A tool call that a hard rule forbids."""

    rule: str
    reason: str


class EventsTaken(Response):
    """How many events were taken, and what there is to say to the last one."""

    taken: int
    context: str | None
    deny: Denial | None
    notice: str | None


class Mark(Response):
    """What a hard rule forbids: calls of `tool` (`*`: of any) which fit `pattern`."""

    tool: str
    pattern: str


class Rule(Response):
    """One rule; `cited` is how often agents said they applied it, `hard` what it forbids."""

    id: str
    namespace: str
    kind: str
    content: str
    created_at: str
    cited: int
    hard: Mark | None


class HardRule(Mark):
    """A hard rule by its id."""

    id: str


class Rules(Response):
    """The rules for a session, their block, the number shown of each kind, and how many are left.

    `more` of them were left out and are found by searching; those of them that are hard forbid all
    the same, and are `hard_unshown`.
    """

    rules: list[Rule]
    text: str
    counts: dict[str, int]
    more: int
    hard_unshown: list[HardRule]


class Softened(Response):
    """The rule forbids nothing any more."""

    id: str
    result: Literal["softened"]


class Progress(Response):
    """Where work stands; `automatic` ones were made at the end of a session."""

    namespace: str
    completed: str
    remaining: str
    blockers: str
    notes: str
    session: str | None
    automatic: bool
    updated_at: str


class Checkpoints(Response):
    """The current checkpoint, and those before it."""

    checkpoint: Progress | None
    history: list[Progress]


class CheckpointCleared(Response):
    """There is no checkpoint any more."""

    result: Literal["cleared"]
    namespace: str


class Lesson(Response):
    """What failed and what worked; a promoted one is the `rule` with that id."""

    id: str
    failing: str
    error: str
    fix: str
    confidence: float
    evidence: int
    severe: bool
    status: str
    rule: str | None
    created_at: str
    updated_at: str


class Lessons(Response):
    """Lessons, newest first."""

    lessons: list[Lesson]


class SeenOutcome(Response):
    """One attempt and what came of it."""

    session: str
    at: str
    kind: str
    tool: str
    attempt: str
    error: str
    test: str
    pending: bool
    fix: str | None


class Episode(Response):
    """One stretch of work and how it came out."""

    session: str
    started_at: str
    ended_at: str
    goal: str
    outcome: str
    failures: int
    fixes: int
    reasks: int
    tests_passed: int
    tests_failed: int


class Outcomes(Response):
    """The latest outcomes and episodes, and the totals of all."""

    outcomes: list[SeenOutcome]
    episodes: list[Episode]
    totals: dict[str, int]

"""Taking in what came of a tool call: failures wait, successes settle them, both may teach."""

from __future__ import annotations

from collections.abc import Sequence

from ...storage import agent_sessions, outcomes
from ...storage.outcomes import Outcome
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.event import Event
from . import doubts, failures, learning, pairing, proof, solutions
from .attempts import Attempt, attempt
from .pairing import Fix

MOST_PENDING = 5
"""Failures of a session that wait for a fix; the oldest is given up for a new one."""
MANY_ATTEMPTS = 3
"""From so many failures on a pair is severe: it makes a rule at once."""


def failed(tx: Transaction, caller: Caller, event: Event) -> None:
    """Keep a failure that may teach something; of a failed test run at least that it was red."""
    made = attempt(event)
    line = failures.telling(event.error)
    noise = failures.is_noise(event, made)
    test = "failed" if made.is_test and event.reason != "interrupt" else ""
    if noise and not test:
        return
    outcome = _outcome(event, made, "failure", test=test)._replace(
        error=line, signature=failures.signature(made, line), pending=made.shell and not noise
    )
    outcomes.add(tx, caller.namespace, outcome)
    doubts.fix_failed(tx, caller, event.session, made, line)
    waiting = outcomes.pending(tx.connection, caller.home, event.session)
    given_up = [one.id for one in waiting[:-MOST_PENDING]]
    outcomes.settle(tx, caller.namespace, given_up, None)


def succeeded(tx: Transaction, caller: Caller, event: Event) -> None:
    """Pair the success with the failures it settles; without any only test runs are kept."""
    made = attempt(event)
    waiting = outcomes.pending(tx.connection, caller.home, event.session)
    test = "passed" if made.is_test and proof.decisive(made.text) else ""
    if not (test or (waiting and (made.edits or made.shell))):
        return
    number = outcomes.add(tx, caller.namespace, _outcome(event, made, "success", test=test))
    about = [one for one in waiting if pairing.related(one, made, event.at)]
    if about:
        _settle(tx, caller, event, made, about, number)


def asked_again(tx: Transaction, caller: Caller, event: Event) -> None:
    """Keep that the user came back, and about which failures.

    What seemed to settle some since the user last spoke did not: they wait again.
    """
    outcomes.add(
        tx,
        caller.namespace,
        Outcome(event.session, event.at, "reask", attempt=event.text[: failures.LONGEST]),
    )
    reopened = outcomes.settled(tx.connection, caller.home, event.session)
    for failure in reopened:
        doubts.refute(tx, caller, failure)
    outcomes.ask_again(tx, caller.namespace, event.session, [one.id for one in reopened])


def matters(event: Event, waiting: bool) -> bool:
    """Whether a success has anything to say at all; most have not, and cost no write."""
    made = attempt(event)
    return made.is_test or (waiting and (made.shell or bool(made.edits)))


def _settle(
    tx: Transaction,
    caller: Caller,
    event: Event,
    made: Attempt,
    about: Sequence[Outcome],
    number: int,
) -> None:
    since = outcomes.since(tx.connection, caller.home, event.session, about[0].id)
    earlier = [one for one in since if one.kind == "success" and one.id < number]
    last = about[-1]
    fix = pairing.fix(last, made, [one for one in earlier if one.id > last.id])
    if fix is None:
        return
    outcomes.settle(tx, caller.namespace, [one.id for one in about], fix.text or made.text)
    vain = pairing.steps([one for one in earlier if one.id < last.id])
    _teach(tx, caller, about, vain, fix)


def _teach(
    tx: Transaction, caller: Caller, about: Sequence[Outcome], vain: Sequence[str], fix: Fix
) -> None:
    tried = solutions.attempts(about, vain)
    solved = fix.names and len(tried) >= solutions.LEAST_ATTEMPTS
    # A solution is a rule already; its lessons only have to be found by their signature.
    severe = not solved and (len(about) >= MANY_ATTEMPTS or any(one.reasked for one in about))
    for failure in {one.signature: one for one in about}.values():
        learning.learn(tx, caller.namespace, failure, fix, severe=severe, by=caller.by)
    if solved:
        goal = _goal(tx, caller, about[-1].session)
        solutions.keep(tx, caller.namespace, about, tried, fix, goal=goal, by=caller.by)


def _goal(tx: Transaction, caller: Caller, session: str) -> str:
    found = agent_sessions.find(tx.connection, caller.home, session)
    return (found.goal or "") if found else ""


def _outcome(event: Event, made: Attempt, kind: str, *, test: str) -> Outcome:
    return Outcome(
        session=event.session,
        at=event.at,
        kind=kind,
        tool="edit" if made.edits else "shell" if made.shell else made.tool,
        command_class=made.command_class,
        attempt=made.edits or made.text,
        test=test,
    )

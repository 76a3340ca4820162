"""Routes about rules: the selection for a session, promoting and demoting, hard marks."""

from __future__ import annotations

from collections.abc import Callable

from ...auth.errors import NotFound
from ...storage import hard_rules, memories
from ...storage.hard_rules import HardRule
from ...storage.memories import Memory
from ...storage.rules import Rule
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from ...storage.ulid import is_ulid
from ..rules import promotion, selection
from . import shapes
from .answers import Answer, reply
from .call import Call
from .learning_requests import HardRequest, RulesQuery
from .writing import Outcome, write

Deed = Callable[[Transaction, Scope, str, bool], Memory]


async def rules(call: Call) -> Answer:
    """The rules a session is given at its start, within a budget of tokens."""
    query = call.query(RulesQuery)
    scope = call.access.readable(query.namespaces)
    chosen, marked = await call.read(
        lambda reader, _: (
            selection.select(reader.connection, scope, query.budget),
            hard_rules.marked(reader.connection, scope),
        )
    )
    marks = {mark.ulid: mark for mark in marked}
    shown = [_rule(rule, marks.pop(rule.memory.ulid, None)) for rule in chosen.rules]
    return reply(
        {
            "rules": shown,
            "text": chosen.text,
            "counts": chosen.counts,
            "more": chosen.counts["dropped"],
            "hard_unshown": [{"id": mark.ulid, **_mark(mark)} for mark in marks.values()],
        }
    )


async def promote(call: Call) -> Answer:
    """Make a lesson a rule, or a rule that was put away or replaced active again."""
    by = call.access.by

    def deed(tx: Transaction, scope: Scope, ulid: str, own: bool) -> Memory:
        return promotion.promote(tx, scope, ulid, by=by, only_own=own)

    return await _change(call, deed)


async def demote(call: Call) -> Answer:
    """Put a rule away; promoting it brings it back."""
    by = call.access.by

    def deed(tx: Transaction, scope: Scope, ulid: str, own: bool) -> Memory:
        return promotion.demote(tx, scope, ulid, by=by, only_own=own)

    return await _change(call, deed)


async def harden(call: Call) -> Answer:
    """Let a rule forbid tool calls: each session is told once, with the rule as the reason."""
    request, by = call.body(HardRequest), call.access.by
    scope, ulid = call.access.readable(), _id(call)

    def job(tx: Transaction) -> Outcome:
        own = call.access.check_write(memories.get(tx.connection, scope, ulid).namespace)
        tool, pattern = request.tool, request.pattern
        marked = hard_rules.mark(tx, scope, ulid, tool=tool, pattern=pattern, by=by, only_own=own)
        return Outcome(200, {"id": ulid, **_mark(marked)})

    return await write(call, job)


async def soften(call: Call) -> Answer:
    """Take the mark off a rule; the rule stays."""
    scope, ulid, by = call.access.readable(), _id(call), call.access.by

    def job(tx: Transaction) -> Outcome:
        own = call.access.check_write(memories.get(tx.connection, scope, ulid).namespace)
        if not hard_rules.unmark(tx, scope, ulid, by=by, only_own=own):
            raise NotFound("This rule is not marked as hard.")
        return Outcome(200, {"id": ulid, "result": "softened"})

    return await write(call, job)


async def _change(call: Call, deed: Deed) -> Answer:
    scope, ulid = call.access.readable(), _id(call)

    def job(tx: Transaction) -> Outcome:
        own = call.access.check_write(promotion.home_of(tx, scope, ulid))
        return Outcome(200, shapes.memory(deed(tx, scope, ulid, own)))

    return await write(call, job)


def _rule(rule: Rule, mark: HardRule | None) -> dict[str, object]:
    memory = rule.memory
    return {
        "id": memory.ulid,
        "namespace": memory.namespace,
        "kind": memory.kind,
        "content": memory.content,
        "created_at": memory.created_at,
        "cited": rule.cited,
        "hard": None if mark is None else _mark(mark),
    }


def _mark(mark: HardRule) -> dict[str, object]:
    return {"tool": mark.tool, "pattern": mark.pattern}


def _id(call: Call) -> str:
    ulid = call.path["id"]
    if not is_ulid(ulid):
        raise NotFound("There is no such rule.")
    return ulid

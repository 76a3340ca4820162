"""Tools that store and forget; what became of a text is a status, not an error."""

from __future__ import annotations

from typing import cast

import orjson

from ...auth.errors import AccessDenied, InvalidRequest, NotFound, RecalldError
from ...auth.namespaces import USER
from ...storage.faults import StorageFault
from ..http import memories, stores
from ..http.answers import Answer
from ..http.bodies import validate
from ..http.call import Call
from ..http.schemas import StoreRequest
from ..http.translation import translate
from ..injection.visible import one_line
from ..intake import suspicion
from ..intake.flags import secrets_of
from ..rules import preferences
from .arguments import Given
from .packing import Row
from .rows import safe

_TOLD = ("id", "namespace", "flags")
LONGEST_IGNORED = 160
"""Characters shown of a memory that no longer holds."""
_FIELDS = ("content", "kind", "tags", "importance", "detail", "supersedes", "namespace")


async def store(call: Call, given: Given) -> Row:
    """Store one memory: `status` says what became of it, `message` why, `ignore` what it replaced.

    What gives orders to whoever reads it is set aside for the user to look at.
    """
    wanted = {name: given[name] for name in _FIELDS if name in given}
    if given.get("scope") == "user":
        wanted["namespace"] = USER
    try:
        request = validate(StoreRequest, wanted)
        signs = suspicion.signs(request.content, request.detail, *request.tags)
        way = preferences.set_aside if signs else preferences.told
        stored = said(await stores.keep(call.within(body=request), way))
    except AccessDenied as error:
        return _refused("blocked", error)
    except (InvalidRequest, NotFound) as error:
        return _refused("invalid", error)
    except StorageFault as fault:
        refusal = translate(fault)
        if not isinstance(refusal, InvalidRequest | NotFound):
            raise
        return _refused("invalid", refusal)
    return _became(stored, signs)


def _became(stored: Row, signs: list[str]) -> Row:
    row: Row = {"status": stored["result"]}
    row |= {name: safe(stored[name]) for name in _TOLD if name in stored}
    secrets = secrets_of(cast("list[str]", stored.get("flags", [])))
    if secrets:
        row["message"] = (
            f"It carries a secret ({', '.join(secrets)}) and was kept as given. Tell the user; if "
            f"it should not be kept, call memory_forget with id {stored['id']}."
        )
    if stored["result"] == "quarantined":
        row["message"] = (
            f"It holds {', '.join(signs)}, so no agent gets to see it before the user has: "
            f"recalld edit {stored['id']} --status active"
        )
    if "ignore" in stored:
        ignored = cast("list[Row]", stored["ignore"])
        row["ignore"] = [
            {"id": one["id"], "text": one_line(str(one["content"]), LONGEST_IGNORED)}
            for one in ignored
        ]
    return row


async def forget(call: Call, given: Given) -> Row:
    """Forget one memory; `recalld undo ID` brings it back."""
    inner = call.within(path={"id": str(given["id"])})
    forgotten = said(await memories.forget(inner))
    return {"status": "forgotten", "id": forgotten["id"]}


def said(answer: Answer) -> Row:
    """What a route answered, as an object."""
    return cast("Row", orjson.loads(answer.body))


def _refused(status: str, error: RecalldError) -> Row:
    return {"status": status, "message": f"{error.message} {error.hint or ''}".strip()}

"""Running a change on the writer: once per idempotency key, finished even if the client leaves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple, cast

import orjson

from ...auth.errors import Busy, InvalidRequest
from ...storage import idempotency
from ...storage.transaction import Transaction
from .answers import Answer
from .call import Call

MAX_KEY = 200


class Outcome(NamedTuple):
    """What a change came to, still inside its transaction."""

    status: int
    content: object


async def write(call: Call, job: Callable[[Transaction], Outcome]) -> Answer:
    """Run the job in a transaction and answer when it is on disk.

    With an Idempotency-Key the answer is kept in the same transaction, and a repetition gets it
    again, as long as the grant reaches as far as it did. Once queued the job runs whether or not
    anybody still listens.

    Raises:
        AccessDenied: the grant was narrowed since the answer was given.
        Busy: too many writes are waiting; nothing was begun.
        IdempotencyMismatch: the key was used for another request.
    """
    key = _key(call)
    writer = call.services.store.writer
    if writer.queue_length() >= call.services.settings.writes_waiting:
        raise Busy("Too many writes are waiting.", retry_after_ms=100)

    def once(tx: Transaction) -> Answer:
        if key is None:
            return _answer(job(tx))
        by, digest = call.access.by, _digest(call)
        saved = idempotency.replay(tx.connection, by, key, digest)
        if saved is not None:
            return _again(call, saved)
        answer = _answer(job(tx))
        kept = orjson.dumps(call.access.rights()) + b"\n" + answer.body
        idempotency.save(tx, by, key, digest, status=answer.status, body=kept)
        return answer

    return await call.services.returns.of(writer.submit(once))


def _answer(outcome: Outcome) -> Answer:
    return Answer(outcome.status, orjson.dumps(outcome.content))


def _again(call: Call, saved: idempotency.Saved) -> Answer:
    """The answer given before, which may quote any namespace the grant covered then.

    It is kept below a line with the rights of that time (JSON has no line breaks of its own).
    """
    rights, _, body = saved.body.partition(b"\n")
    call.access.check_still(cast("dict[str, str]", orjson.loads(rights)))
    return Answer(saved.status, body)


def _key(call: Call) -> str | None:
    value = call.head.headers.get(b"idempotency-key")
    if value is None:
        return None
    key = value.decode("latin-1")
    if not (0 < len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
        raise InvalidRequest(f"An Idempotency-Key is 1 to {MAX_KEY} printable ASCII characters.")
    return key


def _digest(call: Call) -> bytes:
    """What makes two requests the same: method, path, query and body, each with its length."""
    head, digest = call.head, hashlib.sha256()
    path = head.path.encode("utf-8", "surrogateescape")
    for part in (head.method.encode("ascii"), path, head.query, call.raw):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()

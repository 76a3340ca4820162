"""A store a test works with: writes wait for the disk, reads have five seconds."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw
from recalld.storage import drafts, edits, memories
from recalld.storage.drafts import Draft, Stored
from recalld.storage.engine import Store
from recalld.storage.memories import Memory
from recalld.storage.scope import Scope
from recalld.storage.transaction import Transaction

T = TypeVar("T")
HERE = "project:here-00000000"
THERE = "project:there-11111111"
SCOPE = Scope([HERE])
PATIENCE = 30.0


def sign(digest: bytes) -> bytes:
    """A stand-in for Ed25519: as long, and nobody else's."""
    return hashlib.sha512(b"test key" + digest).digest()


def is_signed(digest: bytes, signature: bytes) -> bool:
    """Whether `sign` made the signature."""
    return signature == sign(digest)


class Opened:
    """An open store with short names for what tests do most."""

    def __init__(self, path: Path, *, vectors: bool = True) -> None:
        self.path = path
        self.store = Store.open(str(path), signer=sign, vectors=vectors)
        self.reader = self.store.reader()

    def write(self, job: Callable[[Transaction], T]) -> T:
        """Run a job in the writer and wait for it."""
        return self.store.writer.submit(job).result(PATIENCE)

    def read(self, question: Callable[[apsw.Connection], T]) -> T:
        """Ask the reader."""
        with self.reader.until(time.monotonic() + PATIENCE) as connection:
            return question(connection)

    def add(self, draft: Draft, by: str = "grant") -> Stored:
        """Store a draft."""
        return self.write(lambda tx: drafts.insert(tx, draft, by=by))

    def note(self, content: str, namespace: str = HERE) -> str:
        """Store a note and return its id."""
        return self.add(Draft(namespace, content)).ulid

    def edit(self, ulid: str, **changes: object) -> Memory:
        """Edit a memory of HERE."""
        return self.write(lambda tx: edits.update(tx, SCOPE, ulid, changes, by="grant"))

    def forget(self, ulid: str) -> Memory:
        """Forget a memory of HERE."""
        return self.write(lambda tx: edits.forget(tx, SCOPE, ulid, by="grant"))

    def undo(self, ulid: str) -> Memory:
        """Undo the last change of a memory of HERE."""
        return self.write(lambda tx: edits.undo(tx, SCOPE, ulid, by="grant"))

    def get(self, ulid: str, scope: Scope = SCOPE) -> Memory:
        """Read a memory."""
        return self.read(lambda connection: memories.get(connection, scope, ulid))

    def close(self) -> None:
        """Close the store in order."""
        self.store.close()

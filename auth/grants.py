"""The grants in `grants.json`: which token may do what in which namespaces, and from where.

Only the daemon reads and writes this file. It keeps digests, never tokens. A lookup is one dict
access however many grants there are; the file is read again only when its inode, time or size say
that someone replaced it. Every change is one atomic rewrite, so a crash leaves the old set or the
new one. A file that does not hold together is refused as a whole: taking it for empty would lock
everybody out, and the next write would make that final. One that disappears while the daemon runs
is refused for the same reason.
"""

from __future__ import annotations

import hmac
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, cast

from . import tokens
from .errors import GrantElsewhere, InvalidRequest, NotFound, StoreDamaged, Unauthenticated
from .grant import Action, Grant, Role, decode, encode, normal_namespaces, normal_time, timestamp
from .paths import read_private, write_private

__all__ = ["Action", "Grant", "Grants", "Role"]

SCHEMA = 1
"""Shape of the file; another one is refused."""

FILE_LIMIT = 64 * 1024 * 1024
"""Bytes; 20,000 grants take about 8 MB."""

LABEL_LIMIT = 200
"""Characters of a label."""

_Signature = tuple[int, int, int]


class _Book(NamedTuple):
    """The grants by token digest, as of one version of the file; never changed, only replaced."""

    signature: _Signature | None
    by_digest: dict[str, Grant]


class Grants:
    """The grants of one data folder; every method may be called from any thread.

    All raise UnsafePermissions when the file is open to others, StoreDamaged when it does not hold
    together; the changing ones also DiskFull or StorageTrouble, and then nothing changed.
    """

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()  # one reader of a new file, one writer; lookups take none
        self._book = _Book(None, {})

    def verify(self, token: str, *, checkout: str | None, now: float) -> Grant:
        """The grant of a token presented for `checkout` (its real root, None when not said).

        `now` is seconds since the epoch. Raises Unauthenticated for an unknown, revoked or expired
        token, GrantElsewhere when it was issued for another checkout.
        """
        digest = tokens.digest(token)
        grant = self._current().by_digest.get(digest)
        # The dict compared hashes and may have compared digests; neither depends on the token's
        # bytes in a way a caller could use, but the decision itself takes the same time for all.
        if grant is None or not hmac.compare_digest(grant.token_sha256, digest):
            raise _unknown()
        if grant.expires_at is not None and grant.expires_at <= timestamp(now):
            raise _unknown()
        if grant.checkout is not None and checkout is not None and grant.checkout != checkout:
            raise GrantElsewhere(
                f"The token belongs to {grant.checkout}; this checkout was copied or moved.",
                hint="Remove .recalld/token here; the next command asks for a new grant.",
            )
        return grant

    def issue(
        self,
        *,
        namespaces: Mapping[str, str],
        checkout: str | None = None,
        label: str = "",
        expires_at: str | None = None,
    ) -> tuple[Grant, str]:
        """A new grant and its token, which is not kept here and can't be had again.

        `namespaces` maps names to roles; `checkout` is an absolute real path; `expires_at` is RFC
        3339. Raises InvalidNamespace or InvalidRequest.
        """
        if checkout is not None and not os.path.isabs(checkout):
            raise InvalidRequest(f"{checkout!r} is not an absolute path.")
        if len(label) > LABEL_LIMIT:
            raise InvalidRequest(f"A label has at most {LABEL_LIMIT} characters.")
        token = tokens.mint()
        grant = Grant(
            id="g_" + os.urandom(8).hex(),
            token_sha256=tokens.digest(token),
            namespaces=normal_namespaces(namespaces),
            checkout=checkout,
            created_at=timestamp(self._clock()),
            expires_at=None if expires_at is None else normal_time(expires_at),
            label=label,
        )
        with self._lock:
            self._save({**self._fresh().by_digest, grant.token_sha256: grant})
        return grant, token

    def list(self) -> tuple[Grant, ...]:
        """Every grant, expired ones included, oldest first."""
        return tuple(self._current().by_digest.values())

    def revoke(self, grant_id: str) -> Grant:
        """Remove the grant; its token is worth nothing from now on. Raises NotFound."""
        with self._lock:
            left = dict(self._fresh().by_digest)
            grant = left.pop(_find(left, grant_id).token_sha256)
            self._save(left)
        return grant

    def rotate(self, grant_id: str) -> tuple[Grant, str]:
        """The same grant under a new token; the old one is worth nothing. Raises NotFound."""
        token = tokens.mint()
        with self._lock:
            present = self._fresh().by_digest
            old = _find(present, grant_id)
            new = replace(old, token_sha256=tokens.digest(token))
            # Rebuilt rather than popped and added: the order of issue is kept.
            everyone = (new if grant is old else grant for grant in present.values())
            self._save({grant.token_sha256: grant for grant in everyone})
        return new, token

    def is_current(self) -> bool:
        """Whether the file is the one we know, so that a lookup does not have to read it."""
        return self._signature() == self._book.signature

    def refresh(self) -> None:
        """Read the file again if it was replaced; for a thread that may take its time."""
        self._current()

    def _current(self) -> _Book:
        """The grants on disk, from memory when the file is the one we know."""
        book = self._book
        if self._signature() == book.signature:
            return book
        with self._lock:
            return self._fresh()

    def _fresh(self) -> _Book:
        """As `_current`, for a caller that holds the lock."""
        signature = self._signature()
        if signature != self._book.signature:
            # Signed before reading: a file replaced in between is read once more, never missed.
            self._book = _Book(signature, self._load())
        return self._book

    def _signature(self) -> _Signature | None:
        try:
            return _signed(os.stat(self._path, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def _load(self) -> dict[str, Grant]:
        data = read_private(self._path, FILE_LIMIT)
        if data is None:
            if self._book.by_digest:  # what we knew last
                raise StoreDamaged(
                    f"{self._path} is gone, and with it every grant.",
                    hint="Restore it from a backup, or restart recalld to begin without grants.",
                )
            return {}
        try:
            return _parse(data)
        except (ValueError, RecursionError) as error:
            raise StoreDamaged(
                f"{self._path} does not hold together: {error}.",
                hint="Restore it from a backup; moved away, every checkout needs a new grant.",
            ) from error

    def _save(self, by_digest: dict[str, Grant]) -> None:
        document = {"schema": SCHEMA, "grants": [encode(grant) for grant in by_digest.values()]}
        written = write_private(self._path, json.dumps(document).encode())
        self._book = _Book(_signed(written), by_digest)


def _unknown() -> Unauthenticated:
    # One answer for unknown, revoked and expired: a guesser learns nothing.
    return Unauthenticated(
        "The token is not known here, or no longer.", hint="Run: recalld grant issue"
    )


def _find(by_digest: Mapping[str, Grant], grant_id: str) -> Grant:
    for grant in by_digest.values():
        if grant.id == grant_id:
            return grant
    raise NotFound(f"There is no grant {grant_id!r}.", hint="Run: recalld grant list")


def _signed(found: os.stat_result) -> _Signature:
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _parse(data: bytes) -> dict[str, Grant]:
    """The grants of the file's bytes by digest; raises ValueError for anything out of place."""
    document: object = json.loads(data)
    members = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    entries = members.get("grants")
    if members.get("schema") != SCHEMA or not isinstance(entries, list):
        raise ValueError(f"it is not a set of grants of schema {SCHEMA}")
    grants = [decode(entry) for entry in cast("list[object]", entries)]
    by_digest = {grant.token_sha256: grant for grant in grants}
    if len(by_digest) != len(grants) or len({grant.id for grant in grants}) != len(grants):
        raise ValueError("two grants share a token or an id")
    return by_digest

"""On whose behalf spooled events are kept: as if they had been delivered when they happened.

What a live event would be refused, the spool must not let in: a grant that was revoked, has expired
or may only read takes the waiting events with it.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from ...auth import tokens
from ...auth.checkout import Checkout, locate, pin
from ...auth.errors import (
    AccessDenied,
    InvalidNamespace,
    InvalidRequest,
    InvalidSettings,
    PinUnconfirmed,
    Unauthenticated,
    UnsafePermissions,
)
from ...auth.grant import Grant, timestamp
from ...auth.grants import Grants
from ...auth.namespaces import USER
from ...storage.scope import Scope
from ..caller import Caller
from ..http.access import Access


class Origin(NamedTuple):
    """Where events come from: the checkout's root, or the digest of a token given by hand."""

    checkout: str
    token_sha256: str | None = None


def caller(origin: Origin, grants: Grants, data_dir: str) -> Caller | None:
    """The caller that the hook would have been; None while its folder is not there, its token is
    open to others, or its settings are broken.

    Raises Unauthenticated or AccessDenied when it would have been refused, and what Grants raises.
    """
    everyone = grants.list()
    if origin.token_sha256 is not None:
        return _bearer(_holder(everyone, origin.token_sha256))
    try:
        found = locate(origin.checkout)
    except InvalidRequest:
        return _absent(everyone, origin.checkout)
    try:
        kept, pinned = tokens.read(found.root, data_dir), _pinned(found)
    except (UnsafePermissions, InvalidSettings, InvalidNamespace):
        return None
    if kept is not None:
        holder = _holder(everyone, tokens.digest(kept))
        if holder.checkout in (None, found.root):
            return _bearer(holder, pinned)
        # Else the checkout was moved or copied with its token: here it has what every one has.
    grant = _newest(everyone, found.root)
    if grant is not None:
        return _bearer(grant, pinned)
    if pinned is not None:
        raise PinUnconfirmed(f"The checkout pins {pinned}, which is not granted to it.")
    return Caller(found.namespace, Scope([found.namespace, USER]), "spool")


def _pinned(found: Checkout) -> str | None:
    """The namespace that the checkout pins, if it is not its own anyway."""
    wanted = pin(found.root)
    if wanted == USER:  # every grant covers it, so it would need nobody's consent
        raise PinUnconfirmed(f"{found.root} pins {USER}.")
    return None if wanted == found.namespace else wanted


def _absent(everyone: tuple[Grant, ...], root: str) -> Caller | None:
    """A folder that is gone has the namespace its grant has."""
    grant = _newest(everyone, root)
    return None if grant is None else _bearer(grant)


def _newest(everyone: tuple[Grant, ...], root: str) -> Grant | None:
    """The checkout's newest grant, one that still holds before one that does not."""
    mine = [grant for grant in everyone if grant.checkout == root]
    return max(reversed(mine), key=_holds, default=None)


def _holder(everyone: tuple[Grant, ...], digest: str) -> Grant:
    for grant in everyone:
        if grant.token_sha256 == digest:
            return grant
    raise Unauthenticated("The token of these events is not known here, or no longer.")


def _holds(grant: Grant) -> bool:
    expired = grant.expires_at is not None and grant.expires_at <= timestamp(time.time())
    return not expired and grant.home() is not None


def _bearer(grant: Grant, pinned: str | None = None) -> Caller:
    if not _holds(grant):
        raise AccessDenied("The grant of these events has expired, or may only read.")
    access = Access(grant, pinned)
    home = access.writable()
    return Caller(home, access.readable(), access.by, only_own=access.check_write(home))

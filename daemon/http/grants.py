"""Owner routes: issue, list, revoke and rotate grants.

Whatever touches a file system runs in a thread: a checkout may lie on a network mount whose server
is gone, and a grant is on disk before its token is told.
"""

from __future__ import annotations

import asyncio
import os

from ...auth.checkout import Checkout, locate
from ...auth.errors import DeadlineExceeded, InvalidRequest
from ...auth.grant import Grant, Role
from ...auth.namespaces import USER
from .answers import Answer, reply
from .call import Call
from .schemas import GrantRequest

LOOK_S = 5.0
"""Seconds the look at a checkout may take; it is a handful of small reads."""


async def issue(call: Call) -> Answer:
    """A new grant.

    Without namespaces it covers what the checkout's location derives, and the user's own. The
    location is looked up here, not believed: the folder could tell a client anything.
    """
    request = call.body(GrantRequest)
    found = await _located(request.checkout) if request.checkout is not None else None
    wanted: dict[str, str] = dict(request.namespaces or {})
    if request.namespaces is None:
        if found is not None:
            wanted[found.namespace] = Role.ADMIN
        wanted[USER] = Role.EDITOR
    grant, token = await asyncio.to_thread(
        call.services.grants.issue,
        namespaces=wanted,
        checkout=found.root if found is not None else None,
        label=request.label,
        expires_at=request.expires_at,
    )
    return reply({**describe(grant), "token": token}, 201)


async def listing(call: Call) -> Answer:
    """Every grant, without tokens: those are not kept."""
    grants = await asyncio.to_thread(call.services.grants.list)
    return reply({"grants": [describe(grant) for grant in grants]})


async def revoke(call: Call) -> Answer:
    """Remove a grant; its token is worth nothing from now on."""
    grant = await asyncio.to_thread(call.services.grants.revoke, call.path["id"])
    return reply({"id": grant.id, "result": "revoked"})


async def rotate(call: Call) -> Answer:
    """The same grant under a new token."""
    grant, token = await asyncio.to_thread(call.services.grants.rotate, call.path["id"])
    return reply({**describe(grant), "token": token})


def describe(grant: Grant) -> dict[str, object]:
    """A grant as it is shown: neither token nor digest."""
    return {
        "id": grant.id,
        "namespaces": dict(grant.namespaces),
        "checkout": grant.checkout,
        "created_at": grant.created_at,
        "expires_at": grant.expires_at,
        "label": grant.label,
        "fingerprint": grant.token_sha256[:8],
    }


async def _located(checkout: str) -> Checkout:
    if not os.path.isabs(checkout):  # seen from where the daemon stands, it would be another one
        raise InvalidRequest(f"{checkout!r} is not an absolute path.")
    try:
        async with asyncio.timeout(LOOK_S):
            return await asyncio.to_thread(locate, checkout)
    except TimeoutError:
        raise DeadlineExceeded(
            f"{checkout} could not be looked at within {LOOK_S:g} s; is its disk there?"
        ) from None

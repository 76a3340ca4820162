"""Owner routes: issue, list, revoke and rotate grants."""

from __future__ import annotations

from ...auth.checkout import locate
from ...auth.grant import Grant, Role
from ...auth.namespaces import USER
from .answers import Answer, reply
from .call import Call
from .schemas import GrantRequest


async def issue(call: Call) -> Answer:
    """A new grant, or with `reuse` a wider one under its old token.

    Without namespaces it covers what the checkout's location derives, and the user's own. The
    location is looked up here, not believed: the folder could tell a client anything.
    """
    request = call.body(GrantRequest)
    grants = call.services.grants
    found = locate(request.checkout) if request.checkout is not None else None
    wanted: dict[str, str] = dict(request.namespaces or {})
    if request.namespaces is None:
        if found is not None:
            wanted[found.namespace] = Role.ADMIN
        wanted[USER] = Role.EDITOR
    root = found.root if found is not None else None
    old = _existing(call, root) if request.reuse else None
    if old is not None:
        grants.set_namespaces(old.id, {**old.namespaces, **wanted})
        grant, token = grants.rotate(old.id)
    else:
        grant, token = grants.issue(
            namespaces=wanted, checkout=root, label=request.label, expires_at=request.expires_at
        )
    return reply({**describe(grant), "token": token}, 201)


async def listing(call: Call) -> Answer:
    """Every grant, without tokens: those are not kept."""
    return reply({"grants": [describe(grant) for grant in call.services.grants.list()]})


async def revoke(call: Call) -> Answer:
    """Remove a grant; its token is worth nothing from now on."""
    grant = call.services.grants.revoke(call.path["id"])
    return reply({"id": grant.id, "result": "revoked"})


async def rotate(call: Call) -> Answer:
    """The same grant under a new token."""
    grant, token = call.services.grants.rotate(call.path["id"])
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


def _existing(call: Call, root: str | None) -> Grant | None:
    """The newest grant of this checkout."""
    mine = [grant for grant in call.services.grants.list() if grant.checkout == root]
    return mine[-1] if mine else None

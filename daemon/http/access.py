"""From the Authorization header to what the caller may reach: the only maker of a Scope."""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterable, Mapping
from enum import Enum
from urllib.parse import unquote

from ...auth.errors import AccessDenied, InvalidRequest, Unauthenticated
from ...auth.grant import ACTIONS, Grant, Role
from ...auth.grants import Grants
from ...auth.namespaces import parse
from ...storage.scope import Scope
from .head import Head


class Need(Enum):
    """Who may call a route."""

    NOBODY = "anyone, without a token"
    GRANT = "the bearer of a grant"
    OWNER = "the owner, with the secret of the discovery record"
    EITHER = "the bearer of a grant, or the owner"


class Access:
    """What one verified caller may do; `grant` is None for the owner, who is not a grant.

    `home` is where the caller's checkout wants to be kept what names no namespace. It is a wish
    from a file in the checkout, so it is judged like a namespace that is named.
    """

    def __init__(self, grant: Grant | None, home: str | None = None) -> None:
        self.grant = grant
        self._home = home

    @property
    def home(self) -> str | None:
        """What the checkout pins, else the grant's own namespace; None where it can only read."""
        return self._home or (None if self.grant is None else self.grant.home())

    @property
    def by(self) -> str:
        """Whose name goes into the history."""
        return "owner" if self.grant is None else self.grant.id

    def readable(self, wanted: Iterable[str] | None = None) -> Scope:
        """The namespaces to read: those wanted, or all that the grant covers.

        Raises:
            AccessDenied: one wanted is not granted (or does not exist: the answer is the same).
        """
        if self.grant is None:
            raise AccessDenied("The owner's secret opens no memories; use a token.")
        names = [parse(name) for name in wanted or ()]
        for name in names:
            if not self.grant.allows(name, "read"):
                raise _not_granted(name)
        reach = names or self.grant.reach("read")
        if not reach:
            raise AccessDenied("The grant covers no namespace.")
        return Scope(reach)

    def writable(self, wanted: str | None = None) -> str:
        """The namespace to write to: the one wanted, or the caller's home.

        Raises:
            AccessDenied: it may not be written, or the grant can write nowhere.
        """
        if self.grant is None:
            raise AccessDenied("The owner's secret opens no memories; use a token.")
        named = self._home if wanted is None else wanted
        if named is not None:
            name = parse(named)
            if not self.grant.allows(name, "write"):
                raise _not_granted(name)
            return name
        home = self.grant.home()
        if home is None:
            raise AccessDenied("The grant may only read.")
        return home

    def check_write(self, namespace: str) -> bool:
        """Refuse a change to a readable memory the grant may not change.

        Returns whether only rows written under this grant may be changed (everyone but admins).

        Raises:
            AccessDenied: the grant may only read there.
        """
        if self.grant is None or not self.grant.allows(namespace, "write"):
            raise AccessDenied("The grant may only read there.")
        return not self.grant.allows(namespace, "administer")

    def rights(self) -> dict[str, str]:
        """What the grant covers now: namespaces and roles."""
        return {} if self.grant is None else {**self.grant.namespaces}

    def check_still(self, rights: Mapping[str, str]) -> None:
        """Refuse a grant that reaches less far than these `rights` of an earlier time.

        Raises:
            AccessDenied: a namespace is gone from the grant, or its role there is a lesser one.
        """
        for name, role in rights.items():
            for action in ACTIONS:
                if Role(role).allows(action) and not (
                    self.grant is not None and self.grant.allows(name, action)
                ):
                    raise _not_granted(name)


def shows_token(head: Head) -> bool:
    """Whether the caller names a token, so that the grants will be asked for it."""
    return head.headers.get(b"authorization", b"")[:7].lower() == b"bearer "


def authenticate(head: Head, need: Need, grants: Grants, secret: str) -> Access | None:
    """Who calls; None on routes that are open to anyone.

    Raises:
        Unauthenticated, GrantElsewhere: the token opens nothing, or not from that checkout.
    """
    if need is Need.NOBODY:
        return None
    scheme, _, credentials = head.headers.get(b"authorization", b"").partition(b" ")
    match scheme.lower():
        case b"bearer" if need is not Need.OWNER:
            token = credentials.decode("latin-1")
            grant = grants.verify(token, checkout=_checkout(head), now=time.time())
            return Access(grant, _pinned(head))
        case b"owner" if need is not Need.GRANT:
            if hmac.compare_digest(credentials, secret.encode("ascii")):
                return Access(None)
            raise Unauthenticated("The owner's secret is not the one of this daemon.")
        case _:
            raise Unauthenticated(
                "This needs the owner's secret." if need is Need.OWNER else "This needs a token.",
                hint="Run a recalld command in the checkout; it asks for a grant by itself.",
            )


def _checkout(head: Head) -> str | None:
    value = head.headers.get(b"recalld-checkout")
    if value is None:
        return None
    try:
        return unquote(value.decode("ascii"), errors="surrogateescape")
    except UnicodeDecodeError:
        raise InvalidRequest("Recalld-Checkout must be percent-encoded.") from None


def _pinned(head: Head) -> str | None:
    value = head.headers.get(b"recalld-namespace")
    return None if value is None else parse(value.decode("latin-1"))


def _not_granted(name: str) -> AccessDenied:
    return AccessDenied(
        f"The grant does not cover {name}.",
        hint=f"Run `recalld grant issue --namespace {name}` if it should.",
    )

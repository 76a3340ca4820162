"""Which token a call from a folder carries, and how a checkout gets its first one.

The first use in a checkout mints a grant for that checkout's own namespace and user:local, says so
in one line, and keeps the token in `.recalld/token`. Two verbs at once mint one grant, not two:
grant.lock is held from the second look to the written token. A token that was revoked is never
replaced by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...auth import tokens
from ...auth.checkout import Checkout, locate, pin
from ...auth.errors import GrantElsewhere, PinUnconfirmed, Unauthenticated
from ...auth.namespaces import USER
from .channel import Channel
from .documents import Document, document, text
from .grants import grant

TOKEN_VARIABLE = "RECALLD_TOKEN"  # noqa: S105 - the variable's name
"""Carries a token by hand, for callers outside any checkout; no checkout is then claimed."""

Notice = Callable[[str], None]
"""Takes one line for the person in front of the terminal."""


class Credentials(NamedTuple):
    """A token, and the checkout it belongs to unless it was given by hand."""

    token: str
    checkout: Checkout | None

    @property
    def root(self) -> str | None:
        """The real path the token is bound to."""
        return None if self.checkout is None else self.checkout.root


def credentials(
    channel: Channel, folder: str, environ: Mapping[str, str], notice: Notice
) -> Credentials:
    """The credentials for calls made in `folder`, minted now if the checkout has none yet."""
    given = environ.get(TOKEN_VARIABLE)
    if given:
        return Credentials(given.strip(), None)
    checkout = locate(folder)
    token = tokens.read(checkout.root, channel.layout.data)
    return Credentials(token or _first_use(channel, checkout, notice), checkout)


def _first_use(channel: Channel, checkout: Checkout, notice: Notice) -> str:
    from . import lock

    with lock.held(channel.layout.grant_lock, channel.deadline):
        token = tokens.read(checkout.root, channel.layout.data)
        return token or issue(channel, checkout, notice, {})


def moved(channel: Channel, found: Credentials, notice: Notice) -> Credentials:
    """Fresh credentials for a checkout whose token was made in another folder (moved or copied).

    The token that came along stays valid where it was made; here it is replaced, so the new place
    gets its own namespace and cannot read on in the old one. What it said of the old place is
    noted, for callers whom somebody reads to announce.
    """
    if found.checkout is None:
        raise GrantElsewhere(
            f"The token in {TOKEN_VARIABLE} belongs to a checkout elsewhere.",
            hint=f"Unset {TOKEN_VARIABLE}, or issue one: recalld grant issue --anywhere",
        )
    from . import former_note, lock

    with lock.held(channel.layout.grant_lock, channel.deadline):
        token = tokens.read(found.checkout.root, channel.layout.data)
        if token is None or token == found.token:  # else somebody was faster
            former_note.keep(channel, found.checkout, found.token)
            token = issue(channel, found.checkout, notice, {})
    return Credentials(token, found.checkout)


def issue(channel: Channel, checkout: Checkout, notice: Notice, wishes: Document) -> str:
    """Have the owner grant this checkout what is its own plus `wishes`, and keep the token there.

    `wishes` are fields of POST /v1/grants. The token is returned; `notice` gets one line.
    """
    granted = grant(channel, {"checkout": checkout.root, **wishes})
    token = text(granted, "token")
    path = tokens.write(checkout.root, channel.layout.data, token)
    names = ", ".join(document(granted.get("namespaces"))) or checkout.namespace
    notice(f"granted {checkout.root} access to {names} (token in {path})")
    return token


def pinned(found: Credentials) -> str | None:
    """The namespace this checkout's config file pins for writes, if it pins another than its own.

    Pinning cannot widen anything: the daemon still asks the grant. What every grant holds anyway
    (user:local) must not be chosen by a cloned repository either, so that is refused here.
    """
    if found.checkout is None:
        return None
    wanted = pin(found.checkout.root)
    if wanted is None or wanted == found.checkout.namespace:
        return None
    if wanted == USER:
        raise unconfirmed(wanted, found.checkout)
    return wanted


def unconfirmed(wanted: str, checkout: Checkout) -> PinUnconfirmed:
    """The refusal of a pinned namespace that the owner has not granted to this checkout."""
    return PinUnconfirmed(
        f"{checkout.root}/.recalld/config.toml pins {wanted}, which is not granted to it.",
        hint=f"If that is what you want, run: recalld grant issue --namespace {wanted}",
    )


def refused(error: Unauthenticated, found: Credentials) -> Unauthenticated:
    """The same refusal with the remedy for where the token came from."""
    if found.checkout is None:
        error.hint = f"Check {TOKEN_VARIABLE}, or unset it."
    else:
        error.hint = "If it was revoked by mistake or has expired, run: recalld grant issue"
    return error

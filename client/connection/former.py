"""Where a checkout was before: what it kept there is not lost, only in another namespace.

A moved or copied checkout is a new project on purpose. Nothing is opened here: the owner's list of
grants says what to name in the one command that does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from ...auth import tokens
from ...auth.checkout import Checkout
from ...auth.errors import RecalldError
from .channel import Channel
from .documents import Document, document, maybe_text, rows, text
from .grants import listing

_PROJECT = "project:"
_LOOKED_FOR = 8
"""Places of the same name that are looked for on the disk."""


class Former(NamedTuple):
    """A place that lies elsewhere or is gone, and the namespace that was its own.

    `certain` where the token that came along says so; a name alone is a guess.
    """

    root: str
    namespace: str
    certain: bool

    def told(self) -> str:
        """What to know about it, and the command that opens it here."""
        if self.certain:
            known = f"{self.namespace} holds what {self.root} kept"
        else:
            known = f"if this checkout once lay at {self.root}, {self.namespace} holds what it kept"
        return f"{known}; to reach it from here: {self.command()}"

    def command(self) -> str:
        """What opens it here."""
        return f"recalld grant issue --namespace {self.namespace}"

    def announced(self) -> str:
        """The same for somebody who did not ask."""
        return f"this checkout was moved or copied: {self.told()}"


def by_token(channel: Channel, checkout: Checkout, token: str | None) -> Former | None:
    """The place this token was made in, when that is not this checkout."""
    if token is None:
        return None
    mark = tokens.fingerprint(token)
    for grant in _grants(channel):
        root = maybe_text(grant, "checkout")
        if root is not None and root != checkout.root and text(grant, "fingerprint") == mark:
            there = _own(grant, root, certain=True)
            # A linked worktree may be moved and keep the namespace of its repository.
            return next((one for one in there if one.namespace != checkout.namespace), None)
    return None


def by_name(channel: Channel, checkout: Checkout) -> Former | None:
    """A checkout that is gone, was called like this one, and whose namespace is not open here.

    The latest of those that were granted before this one was: one that had its own memory by then
    did not come from there. That it is the same project is a guess even so. It is told to people at
    a checkout's first use and when they ask where they are, never in answers that agents read.
    """
    grants = _grants(channel)
    ours = [one for one in grants if maybe_text(one, "checkout") == checkout.root]
    began = min((text(one, "created_at") for one in ours), default="")
    if began:
        grants = ours + [one for one in grants if text(one, "created_at") < began]
    covered = {name for grant in ours for name in document(grant.get("namespaces"))}
    covered.add(checkout.namespace)
    alike = [
        former
        for grant in grants
        if (root := maybe_text(grant, "checkout")) is not None
        for former in _own(grant, root, certain=False)
        if former.namespace not in covered and _slug(former.namespace) == _slug(checkout.namespace)
    ]
    # Only these are looked for: any other may lie on a disk that does not answer.
    return next(
        (one for one in reversed(alike[-_LOOKED_FOR:]) if not os.path.isdir(one.root)), None
    )


def _grants(channel: Channel) -> list[Document]:
    """All grants; none where the daemon cannot be asked, for a hint is not worth an error."""
    try:
        return rows(channel.call(listing()).get("grants"))
    except RecalldError:
        return []


def _own(grant: Document, root: str, *, certain: bool) -> Iterator[Former]:
    """The project namespaces a grant administers: a checkout's own, not what it was given."""
    for name, role in document(grant.get("namespaces")).items():
        if name.startswith(_PROJECT) and role == "admin":
            yield Former(root, name, certain)


def _slug(namespace: str) -> str:
    return namespace.rpartition("-")[0]

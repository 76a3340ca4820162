"""What `recalld doctor` sees of a namespace that the checkout pins: whether its owner agreed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...auth.checkout import Checkout, locate
from ...auth.errors import RecalldError
from ...auth.paths import Layout
from ..connection import access
from ..connection.access import TOKEN_VARIABLE, Credentials
from ..connection.channel import Channel
from ..connection.deadline import Deadline
from ..connection.documents import document, items, text
from ..connection.grants import listing
from .examination import Check

_WRITING = ("editor", "admin")


def examine(
    layout: Layout, environ: Mapping[str, str], deadline: Deadline, folder: str
) -> Iterator[Check]:
    """One line where the checkout pins another namespace than its own; none where it does not.

    Until its owner has granted what is pinned, nothing that happens there is captured.
    """
    if environ.get(TOKEN_VARIABLE):  # then no checkout is claimed, and none has a say
        return
    try:
        found = locate(folder)
        pinned = access.pinned(Credentials("", found))
        if pinned is None:
            return
        if not _is_granted(Channel(layout, environ, deadline, start=False), found, pinned):
            raise access.unconfirmed(pinned, found)
    except RecalldError as error:
        yield Check(
            "pin", "warning", f"{error.message} Nothing is captured here.", error.hint or ""
        )
    else:
        yield Check("pin", "ok", f"What happens here is kept in {pinned}.")


def _is_granted(channel: Channel, found: Checkout, pinned: str) -> bool:
    try:
        grants = map(document, items(channel.call(listing()).get("grants")))
        return any(
            text(document(grant.get("namespaces")), pinned) in _WRITING
            for grant in grants
            if text(grant, "checkout") == found.root
        )
    finally:
        channel.close()

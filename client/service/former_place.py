"""What `recalld doctor` sees of a moved checkout: what it kept before is out of its reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...auth import tokens
from ...auth.checkout import locate
from ...auth.errors import RecalldError
from ...auth.paths import Layout
from ..connection import former, former_note
from ..connection.channel import Channel
from ..connection.deadline import Deadline
from .examination import Check


def examine(
    layout: Layout, environ: Mapping[str, str], deadline: Deadline, folder: str
) -> Iterator[Check]:
    """One line in a checkout that was moved or copied, until the old namespace is open there."""
    channel = Channel(layout, environ, deadline, start=False)
    try:
        found = locate(folder)
        before = former.by_token(channel, found, tokens.read(found.root, layout.data))
        before = before or former_note.kept(layout, found.root)
    except RecalldError:  # of the folder or its token: not what is looked for here
        return
    finally:
        channel.close()
    if before is not None:
        seen = f"This checkout was moved or copied: {before.namespace} holds what it kept before."
        yield Check("former place", "note", seen, f"To reach it from here, run: {before.command()}")

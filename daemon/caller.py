"""On whose behalf something captured is kept: where it goes, what it may see, whose name it has."""

from __future__ import annotations

from typing import NamedTuple

from ..storage.scope import Scope


class Caller(NamedTuple):
    """A grant's view, or that of a checkout whose events waited in the spool.

    `namespace` is where things are kept, `scope` all that may be read, `by` goes into the history.
    `only_own`: what was written under another name may not be changed.
    """

    namespace: str
    scope: Scope
    by: str
    only_own: bool = True

    @property
    def home(self) -> Scope:
        """The one namespace things are kept in."""
        return Scope([self.namespace])

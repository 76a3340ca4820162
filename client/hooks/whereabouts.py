"""Which checkout an event belongs to, also when the folder it names is gone.

Agents remove folders they are in (worktrees, temporary ones). Another checkout, such as the one the
hook's own process happens to be in, must not get the event then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...auth.checkout import locate
from ...auth.errors import InvalidRequest

_PROJECT = "CLAUDE_PROJECT_DIR"


def root(cwd: str, environ: Mapping[str, str]) -> str | None:
    """The root of the checkout the agent works in; None when it can no longer be told.

    `cwd` is the folder that the payload names. When it is gone, the repository it was in counts,
    then the project's folder. Only a payload without one is about where we were started.
    """
    named = _root(cwd) or _above(cwd) if cwd else None
    return named or _root(environ.get(_PROJECT, "")) or (None if cwd else _root("."))


def _root(folder: str) -> str | None:
    try:
        return locate(folder).root if folder else None
    except (InvalidRequest, OSError):
        return None


def _above(folder: str) -> str | None:
    """The repository that a folder which is gone lay in: what is above one is nobody's project."""
    if not os.path.isabs(folder):
        return None
    place = os.path.dirname(folder)
    while not (found := _root(place)):
        place, below = os.path.dirname(place), place
        if place == below:
            return None
    return found if os.path.lexists(os.path.join(found, ".git")) else None

"""Whether memory.db is still the file the store opened, or something took its name."""

from __future__ import annotations

import os

from .faults import Damaged


class Original:
    """The file at `path` when the store was opened, known by its device and inode.

    SQLite goes on with its open file whatever becomes of the name: rows written to a file nobody
    will open again would be acknowledged and lost.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity = _identity(path)

    def check(self) -> None:
        """Raise Damaged if the name is gone or belongs to another file now; costs a microsecond."""
        if _identity(self._path) != self._identity:
            raise Damaged("memory.db was moved or replaced while it was in use.")

    def is_replaced(self) -> bool:
        """Whether another file bears the name now; not so while there is none."""
        return _identity(self._path) not in (None, self._identity)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino

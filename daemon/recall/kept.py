"""Shelves on disk: what a namespace looked like when its shelf was last made, read back in 5 ms.

Making a shelf of 20,000 rows takes a second; reading one that was kept, and then the few rows that
changed since, is cheaper than asking SQLite's indexes once. The files hold nothing memory.db does
not hold and may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import apsw
import numpy as np

from ...auth import paths
from ...auth.errors import RecalldError
from ...storage import lineage
from ...storage.lineage import Moment
from ..identity import VERSION
from . import shelf_file
from .shelf import Shelf
from .slot import Marks
from .stored import load_vectors, refresh

log = logging.getLogger("recalld.recall")

FOLDER: Final = "shelves"
MOST_CHANGED: Final = 1000
"""With more rows than this to read again (30 ms) a shelf is made anew, behind the recall's back."""
FEW_CHANGED: Final = 100
"""From this many on a kept shelf is used, and replaced by a newer one."""
_AT_ONCE: Final = 1 << 18


class Restored(NamedTuple):
    """A shelf as the store is now; `stale` says that what is kept of it should be replaced."""

    shelf: Shelf
    stale: bool


class Kept:
    """The kept shelves beside one store, for the vectors of one space: one file a namespace.

    All methods may be called from any thread. A file that is of no use is passed over.
    """

    def __init__(self, folder: str, space: str, dimension: int) -> None:
        self._folder = folder
        self._space = space
        self._dimension = dimension

    @classmethod
    def beside(cls, database: str, space: str, dimension: int) -> Kept:
        """The kept shelves of the store in the file `database`."""
        return cls(os.path.join(os.path.dirname(database), FOLDER), space, dimension)

    def keep(self, ns: int, shelf: Shelf, moment: Moment, *, being_read: bool) -> None:
        """Keep a shelf that was just filled with everything that was there at that moment.

        While a namespace is `being_read` rows get other vectors, which history does not tell of.
        """
        if len(shelf.lacking_vectors()) > FEW_CHANGED:
            return  # its vectors are still being made
        about = {
            **self._about(),
            "entry": moment.entry,
            "hash": moment.hash.hex(),
            "being_read": being_read,
        }
        try:
            paths.ensure_private_dir(self._folder)
            _write(self._path(ns), shelf_file.pack(shelf, about))
        except (RecalldError, OSError) as error:
            log.warning("a namespace could not be kept in order: %s", error)

    def restore(
        self, connection: apsw.Connection, ns: int, check: Callable[[], None]
    ) -> Restored | None:
        """The namespace's shelf as the open transaction sees it; None if none of use is kept."""
        try:
            shelf, about = shelf_file.unpack(_read(self._path(ns)))
            moment = Moment(int(about.pop("entry")), bytes.fromhex(about.pop("hash")))
            being_read = bool(about.pop("being_read"))
        except FileNotFoundError:
            return None
        except (shelf_file.Unreadable, RecalldError, OSError, KeyError, ValueError) as error:
            log.warning("a kept namespace is of no use: %s", error)
            self._discard(ns)
            return None
        if about != self._about():
            return None
        restored = self._caught_up(connection, ns, shelf, moment, check)
        if being_read and restored is not None:
            load_vectors(connection, shelf, ns, self._space)
        return restored

    def _caught_up(
        self,
        connection: apsw.Connection,
        ns: int,
        shelf: Shelf,
        moment: Moment,
        check: Callable[[], None],
    ) -> Restored | None:
        changed = lineage.since(connection, ns, moment)
        if changed is None or len(changed.rids) > MOST_CHANGED:
            return None
        marks = Marks()
        marks.rows.update(changed.rids)
        if changed.forgotten:
            marks.rows.update(shelf.missing_from(lineage.present(connection, ns)))
        marks.vectors.update(shelf.lacking_vectors())
        refresh(connection, shelf, ns, marks, self._space, check)
        return Restored(shelf, stale=len(marks) > FEW_CHANGED)

    def _about(self) -> dict[str, object]:
        return {"code": VERSION, "space": self._space, "dimension": self._dimension}

    def _path(self, ns: int) -> str:
        return os.path.join(self._folder, f"{ns}.shelf")

    def _discard(self, ns: int) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._path(ns))


def _write(path: str, parts: Iterable[memoryview]) -> None:
    """Replace the file, as a whole or not at all. Only one thread at a time does so."""
    temporary = f"{path}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(temporary, flags, 0o600), "wb", buffering=0) as file:
            for part in parts:
                at = 0
                while at < len(part):
                    at += file.write(part[at:]) or 0
            # A name that outlives a power cut must not name a file that did not.
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _read(path: str) -> shelf_file.Octets:
    """The file mapped, with changes kept to ourselves: 1 ms where filling new memory takes 7.

    It is read through first: a disk error must fail here, where it is an OSError, and not end the
    daemon with a SIGBUS. Nobody shortens these files: they are replaced, never rewritten.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(fd, "rb", buffering=0) as file:
        paths.refuse_unsafe(path, os.fstat(fd))
        room = bytearray(_AT_ONCE)
        while file.readinto(room):
            pass
        return np.frombuffer(mmap.mmap(fd, 0, access=mmap.ACCESS_COPY), np.uint8)

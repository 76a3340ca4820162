"""What we wrote into whose settings, and what was there before.

    <data>/connections/<name>-<hash of the path>.json    who, where, and what the file was after it
    <data>/connections/<name>-<hash of the path>.before  the file as it was, byte for byte

Settings hold other programs' secrets, so both are 0600 like everything else in the data folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ...auth.paths import Layout, ensure_private_dir, read_private, write_private
from ..connection.documents import document, flag, items, parse, strings, text
from .json_editor import Path
from .settings_file import MOST_BYTES

_SCHEMA = 1


class Receipt(NamedTuple):
    """One file we changed. `hosts` are those who want our part of it; `after` is the hash of what
    we left; `made` and `folders` are what was added around our entries and around the file.
    """

    path: str
    kind: str
    hosts: Sequence[str]
    scope: str
    root: str
    existed: bool
    after: str
    made: Sequence[Path]
    folders: Sequence[str]

    def untouched(self, data: bytes | None) -> bool:
        """Whether nobody has changed the file since."""
        return data is not None and digest(data) == self.after


def digest(data: bytes) -> str:
    """How a file's content is remembered."""
    return hashlib.sha256(data).hexdigest()


def load(place: Layout, path: str) -> Receipt | None:
    """The receipt for the file of this real path; an unreadable one is none."""
    raw = read_private(_path(place, path, ".json"), MOST_BYTES)
    found = _receipt(raw) if raw else None
    return found if found and found.path == path else None


def every(place: Layout) -> Iterator[Receipt]:
    """All receipts there are."""
    folder = _folder(place)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names:
        if name.endswith(".json"):
            found = _receipt(read_private(os.path.join(folder, name), MOST_BYTES) or b"")
            if found:
                yield found


def save(place: Layout, receipt: Receipt, before: bytes | None) -> str:
    """Remember a file; the path of its backup, "" when there was nothing to back up.

    Written before the file itself: after a crash in between, the backup is still what is there.
    """
    ensure_private_dir(place.data)
    ensure_private_dir(_folder(place))
    backup = _path(place, receipt.path, ".before")
    if before is not None:
        write_private(backup, before)
    fields = {"schema": _SCHEMA, **receipt._asdict()}
    write_private(_path(place, receipt.path, ".json"), json.dumps(fields, indent=2).encode())
    return backup if before is not None else ""


def before(place: Layout, receipt: Receipt) -> bytes | None:
    """What the file was; None when it did not exist, or when its backup is gone."""
    if not receipt.existed:
        return None
    return read_private(_path(place, receipt.path, ".before"), MOST_BYTES)


def drop(place: Layout, path: str) -> None:
    """Forget the file."""
    for ending in (".json", ".before"):
        with suppress(FileNotFoundError):
            os.unlink(_path(place, path, ending))


def _folder(place: Layout) -> str:
    return os.path.join(place.data, "connections")


def _path(place: Layout, path: str, ending: str) -> str:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return os.path.join(_folder(place), f"{os.path.basename(path)[:40]}-{name}{ending}")


def _receipt(raw: bytes) -> Receipt | None:
    found = document(parse(raw))
    if found.get("schema") != _SCHEMA:
        return None
    made = [tuple(strings(path)) for path in items(found.get("made"))]
    return Receipt(
        path=text(found, "path"),
        kind=text(found, "kind"),
        hosts=strings(found.get("hosts")),
        scope=text(found, "scope"),
        root=text(found, "root"),
        existed=flag(found, "existed"),
        after=text(found, "after"),
        made=made,
        folders=strings(found.get("folders")),
    )

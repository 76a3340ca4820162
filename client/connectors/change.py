"""One file's way from what it is to what it will be: planned, then written or only shown."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from ...auth.paths import Layout
from . import receipts, settings_file
from .formats import FORMATS, judged
from .json_editor import Path
from .receipts import Receipt
from .settings_file import Content
from .target import Target


class Change(NamedTuple):
    """What is to become of one file. `after` None means that it goes; `receipt` is what to remember
    about it, None to forget it. `deed` is what happens, in a word: connected, unchanged, restored,
    cleaned, removed, kept or absent (there was nothing of ours).
    """

    content: Content
    after: bytes | None
    deed: str
    receipt: Receipt | None
    before: bytes | None = None

    @property
    def changes(self) -> bool:
        """Whether the file will be another one."""
        return self.after != self.content.data

    def diff(self) -> str:
        """The change as a unified diff; empty when there is none."""
        path = self.content.path
        lines = difflib.unified_diff(_lines(self.content.data), _lines(self.after), path, path)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)


def connecting(layout: Layout, target: Target, host: str, scope: str, root: str) -> Change:
    """What connecting does to this file. Raises InvalidSettings, InvalidRequest, StorageTrouble."""
    # A person's rules file lies in a checkout whatever the scope of the settings is.
    inside = root if scope == "project" or target.kind == "rules" else ""
    content = settings_file.read(target.path, inside)
    settings_file.check_writable(content)
    old = receipts.load(layout, content.path)
    mark, text = settings_file.decoded(content)
    with judged(content.path):
        new, made = FORMATS[target.kind].merged(text, target)
        before = _before(layout, old, content, host, target.kind)
    after = (mark + new).encode()
    if after == (content.data or b""):
        return Change(content, content.data, "unchanged", _joined(old, host), None)
    receipt = Receipt(
        path=content.path,
        kind=target.kind,
        hosts=sorted({host, *(old.hosts if old else ())}),
        scope="project" if inside else scope,
        root=inside,
        existed=before is not None,
        after=receipts.digest(after),
        made=[*(old.made if old and content.data is not None else ()), *made],
        folders=old.folders if old else settings_file.missing_folders(content.path),
    )
    return Change(content, after, "connected", receipt, before)


def _joined(old: Receipt | None, host: str) -> Receipt | None:
    """The receipt with one more host that wants what is there already (a shared rules file)."""
    if old is None or host in old.hosts:
        return old
    return old._replace(hosts=sorted({host, *old.hosts}))


def _before(
    layout: Layout, old: Receipt | None, content: Content, host: str, kind: str
) -> bytes | None:
    """What there was before us: exact where nobody else wrote to it, the first time in any case.

    None when there was no file.
    """
    if content.data is None or old is None:
        return content.data
    if old.untouched(content.data):
        saved = receipts.before(layout, old)
        if saved is not None or not old.existed:
            return saved
    mark, text = settings_file.decoded(content)
    rest = FORMATS[kind].without(text, host, old.made)
    if not old.existed and FORMATS[kind].is_left_over(rest, old.made):
        return None
    return (mark + rest).encode()


def disconnecting(layout: Layout, path: str, kind: str, host: str, root: str) -> Change:
    """What disconnecting does to this file. Raises as `connecting` does."""
    content = settings_file.read(path, root)
    old = receipts.load(layout, content.path)
    others = [name for name in old.hosts if name != host] if old else []
    if content.data is None:
        return Change(content, None, "absent", None)
    if old and others:  # a rules file that another host shares
        return Change(content, content.data, "kept", old._replace(hosts=others))
    if old and old.untouched(content.data):
        before = receipts.before(layout, old)
        if before is not None:
            return Change(content, _cleaned(content, kind, host, before), "restored", None)
        if not old.existed:
            return Change(content, None, "removed", None)
    return _cleaning(content, kind, host, old)


def _cleaned(content: Content, kind: str, host: str, before: bytes) -> bytes:
    """What there was, without entries that an earlier connecting left whose receipt was lost."""
    mark, text = settings_file.decoded(content._replace(data=before))
    with judged(content.path):
        return (mark + FORMATS[kind].without(text, host, None)).encode()


def _cleaning(content: Content, kind: str, host: str, old: Receipt | None) -> Change:
    """Only our entries go: somebody else has written to the file, or nobody remembers it."""
    mark, text = settings_file.decoded(content)
    made: list[Path] | None = list(old.made) if old else None
    with judged(content.path):
        new = FORMATS[kind].without(text, host, made)
        if new == text:
            return Change(content, content.data, "absent", None)
        if old and not old.existed and FORMATS[kind].is_left_over(new, old.made):
            return Change(content, None, "removed", None)
    return Change(content, (mark + new).encode(), "cleaned", None)


def carry_out(layout: Layout, change: Change) -> str:
    """Do it; the path of the backup, "" when there is none. Raises Moved or StorageTrouble."""
    if change.deed in ("unchanged", "kept", "absent"):
        _remember(layout, change)
        return ""
    backup = ""
    if change.receipt is not None:
        backup = receipts.save(layout, change.receipt, change.before)
    if change.after is None:
        folders = _folders(layout, change.content.path)
        settings_file.remove(change.content, folders)
    else:
        settings_file.replace(change.content, change.after)
    if change.receipt is None:
        receipts.drop(layout, change.content.path)
    return backup


def _remember(layout: Layout, change: Change) -> None:
    """Keep the receipts right for a file that stays as it is."""
    if change.receipt is None:
        receipts.drop(layout, change.content.path)
    elif change.receipt != receipts.load(layout, change.content.path):
        receipts.save(layout, change.receipt, None)


def _folders(layout: Layout, path: str) -> list[str]:
    old = receipts.load(layout, path)
    return list(old.folders) if old else []

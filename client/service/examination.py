"""What can be wrong with an installation, each as a check that says what it saw and what to run.

Nothing here mends anything or starts anything: looking must be safe at any time.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ...auth import record
from ...auth.errors import RecalldError, StoreDamaged, UnsafePermissions
from ...auth.paths import (
    Layout,
    check_private,
    check_private_dir,
    quote,
    refuse_written_by_anybody,
)
from ...auth.record import StaleRecord
from ..connection.channel import Channel
from ..connection.deadline import Deadline
from ..connection.discovery import Absent, Live, look
from ..connection.documents import Document, document, maybe_text
from ..connection.request import Request
from ..connection.stopping import owned
from ..version import VERSION
from . import installation, last_start, vectors
from . import unit as service
from .wording import counted, holdings, starter

_LOW_SPACE = 200 * 1024 * 1024
"""Bytes below which a vacuum, a snapshot or a migration may no longer fit."""

_LEAVING = 2.0
"""Seconds for a process that could not start to let go of the lock; it is gone within one."""


class Check(NamedTuple):
    """One finding: `state` is ok, note, warning or failure; `fix` is what to run."""

    name: str
    state: str
    seen: str
    fix: str = ""


def examine(
    layout: Layout, environ: Mapping[str, str], deadline: Deadline, argv0: str
) -> Iterator[Check]:
    """Every check, from the ground up; later ones make sense only when earlier ones are fine."""
    yield _folder(layout)
    yield from _files(layout)
    yield from _grants(layout)
    yield _space(layout)
    yield _record(layout)
    try:
        found = _looked(layout, deadline)
    except UnsafePermissions:
        yield Check("daemon", "note", "None is looked for before the permissions are mended.")
    except RecalldError as error:
        yield Check("daemon", "failure", error.message, error.hint or "")
    else:
        yield _daemon(found, layout)
        if isinstance(found, Live):
            found.wire.close()
            yield _version(found)
            yield from _inside(layout, environ, deadline)
    yield _unit(layout, environ, argv0)


def _looked(layout: Layout, deadline: Deadline) -> Live | Absent:
    """The daemon, or why there is none; raises like `look`.

    Right after a start that failed, the process that gave up may still hold the lock.
    """
    leaving = Deadline(deadline.within(_LEAVING))
    found = look(layout, deadline)
    while isinstance(found, Absent) and found.record is None and owned(layout):
        if leaving.over:
            break
        time.sleep(0.05)
        found = look(layout, deadline)
    return found


def _guarded(name: str, seen: str, look_at: Callable[[], None]) -> Check:
    """A check that passes unless it raises one of our errors, which carry their own remedy."""
    try:
        look_at()
    except RecalldError as error:
        return Check(name, "failure", error.message, error.hint or "")
    except FileNotFoundError as error:
        return Check(name, "note", f"{error.filename} does not exist yet.", "")
    return Check(name, "ok", seen)


def _folder(layout: Layout) -> Check:
    return _guarded("data folder", layout.data, lambda: check_private_dir(layout.data))


def _files(layout: Layout) -> Iterator[Check]:
    for path in (layout.run, layout.db, layout.grants, layout.signing_key, layout.log):
        if os.path.lexists(path):
            yield _mode(path)
    if os.path.exists(layout.config):
        yield _settings(layout.config)


def _settings(path: str) -> Check:
    """Refused only when anybody may write it: a file made by hand, with the modes of most."""
    found, name = os.stat(path), os.path.basename(path)
    check = _guarded(name, f"{path} is yours.", lambda: refuse_written_by_anybody(path, found))
    if check.state != "ok" or not found.st_mode & 0o077 or found.st_uid != os.geteuid():
        return check
    seen = f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):o})."
    return Check(name, "warning", seen, f"Run: chmod 600 {quote(path)}")


def _grants(layout: Layout) -> Iterator[Check]:
    """Whether the grants can be read; that they are ours alone has been looked at."""
    if not os.path.lexists(layout.grants):
        return
    from ...auth.grants import Grants  # the daemon's; nobody else who looks into it pays for it

    try:
        known = Grants(layout.grants).list()
    except UnsafePermissions:
        return
    except RecalldError as error:
        aside = f"mv {quote(layout.grants)} {quote(layout.grants + '.damaged')}"
        yield Check("grants", "failure", error.message, f"{error.hint or ''} Or run: {aside}")
        return
    yield Check("grants", "ok", f"{counted(len(known), 'grant')} can be read.")


def _mode(path: str) -> Check:
    return _guarded(os.path.basename(path), f"{path} is yours alone.", lambda: check_private(path))


def _space(layout: Layout) -> Check:
    place = layout.data
    while not os.path.exists(place):
        place = os.path.dirname(place)
    free = shutil.disk_usage(place).free
    seen = f"{free // (1024 * 1024)} MiB are free at {place}."
    if free < _LOW_SPACE:
        return Check("disk space", "warning", seen, "Free some space; writes will fail first.")
    return Check("disk space", "ok", seen)


def _record(layout: Layout) -> Check:
    try:
        found = record.read(layout)
    except StaleRecord as error:
        return Check("record", "warning", f"{error.reason}.", "Run: recalld restart")
    except RecalldError as error:
        return Check("record", "failure", error.message, error.hint or "")
    if found is None:
        return Check("record", "note", "No daemon has published itself.")
    return Check(
        "record", "ok", f"pid {found.pid}, port {found.port}, {starter(found.managed_by)}."
    )


def _daemon(found: Live | Absent, layout: Layout) -> Check:
    if isinstance(found, Live):
        return Check("daemon", "ok", f"pid {found.record.pid} has proven itself.")
    if owned(layout):
        fix = f"Read {quote(layout.log)}, then run: recalld restart"
        return Check("daemon", "failure", f"One holds the lock, but {found.reason}.", fix)
    failed = last_start.failure(layout)
    if failed is not None:
        return _failed(failed, layout)
    before = last_start.ending(layout)
    told = f"None is running ({before})" if before else "None is running"
    return Check("daemon", "note", f"{told}; the next call starts one.")


def _failed(failed: last_start.Failure, layout: Layout) -> Check:
    """What kept the last daemon from starting; named by what is broken where the log says it."""
    if failed.code == StoreDamaged.code:
        seen = failed.said.partition(" Run `recalld doctor`")[0]  # that is us
        aside = f"Put a backup in place of {quote(layout.db)}, its -wal and -shm moved away"
        return Check("memory.db", "failure", seen, f"{aside}; then run: recalld start")
    seen = f"The last start failed: {failed.said}"
    return Check("daemon", "failure", seen, "Once that is mended, run: recalld start")


def _version(found: Live) -> Check:
    seen = f"The daemon runs recalld {found.hello.version}, this is {VERSION}."
    if found.hello.stale_code or found.hello.version != VERSION:
        return Check("version", "warning", seen, "Run: recalld restart")
    return Check("version", "ok", seen)


def _inside(layout: Layout, environ: Mapping[str, str], deadline: Deadline) -> Iterator[Check]:
    """What only the daemon knows: the state of its store and of its vectors."""
    channel = Channel(layout, environ, deadline, start=False)
    try:
        told = channel.call(Request("GET", "/v1/status", owner=True))
    except RecalldError as error:
        yield Check("status", "failure", error.message, error.hint or "")
        return
    finally:
        channel.close()
    yield _store(told)
    yield _vectors(told, layout.config)
    if maybe_text(told, "ranking") == "unavailable":
        seen = "The trees of the second ranking cannot be read; the first one stands."
        yield Check("ranking", "warning", seen, "Install recalld anew.")


def _store(told: Document) -> Check:
    trouble = maybe_text(told, "last_error")
    seen = f"{holdings(told)}."
    if trouble and trouble not in vectors.troubles(document(told.get("embedding"))):
        return Check("store", "warning", f"{seen} Last error: {trouble}", "Run: recalld logs")
    return Check("store", "ok", seen)


def _vectors(told: Document, config: str) -> Check:
    found = vectors.finding(document(told.get("embedding")), config)
    return Check("vectors", found.state, f"{found.seen}.", found.fix)


def _unit(layout: Layout, environ: Mapping[str, str], argv0: str) -> Check:
    if service.installed(environ) is None:
        return Check("service", "note", "None is installed; clients start the daemon themselves.")
    if not service.serves(layout, environ):
        return Check("service", "note", "One is installed, for another data folder.")
    wrong = installation.drift(layout, environ, argv0)
    if wrong:
        reload = "Run: systemctl --user daemon-reload && recalld restart"
        install = f"Run: recalld service install{installation.insistence(argv0, environ)}"
        fix = reload if "manager" in wrong else install
        return Check("service", "warning", f"{wrong[:1].upper()}{wrong[1:]}.", fix)
    name = service.LABEL if sys.platform == "darwin" else service.UNIT
    return Check("service", "ok", f"{name} is installed and up to date.")

"""The entry of the process: arguments, folders, lock, settings, logs; a life; an exit code."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING

from ..auth import paths
from ..auth.errors import RecalldError
from .life.exits import leave_note
from .life.lock import OwnerLock
from .life.notify import Notifier
from .life.ready import ReadyPipe

if TYPE_CHECKING:
    from .process import Process

MANAGERS = ("spawn", "foreground", "systemd", "launchd")
TAKEOVER_S = 10.0
"""Seconds a daemon that agreed to leave gets for it: twice what it may need."""

LASTING = (75, 78)
"""Exit codes that starting again does not mend; systemd is told so in its unit."""

log = logging.getLogger("recalld")


class Options(argparse.Namespace):
    """The command line, parsed."""

    ready_fd: int | None
    wait_lock: float
    managed_by: str
    takeover: bool
    check: bool


def main(argv: Sequence[str] | None = None) -> int:
    """Run the daemon until it is told to end; the exit code.

    0 after a stop, a signal or idleness; 75 when another daemon owns the data folder; 78 for
    settings, permissions or a store that need a person (both 0 under launchd); 70 for what should
    not happen.
    """
    os.umask(0o077)
    options = _parse(argv)
    ready = ReadyPipe(options.ready_fd)
    # While there is no log, a failure is told on stderr in words, and only once.
    logging.getLogger().addHandler(logging.NullHandler())
    # Until the loop takes over, a signal ends the start; lock and transaction end with it.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end_early)
    try:
        return _check() if options.check else _live(options, ready)
    except RecalldError as error:
        return _for_manager(options, error, _give_up(error, ready))
    except SystemExit:
        return 0
    except Exception as error:
        log.exception("the daemon failed")
        failure = RecalldError(f"The daemon failed ({type(error).__name__}); see its log.")
        return _give_up(failure, ready)


def _parse(argv: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="recalld.daemon", description=__doc__)
    parser.add_argument("--ready-fd", type=int, help="descriptor to report readiness on")
    parser.add_argument("--wait-lock", type=float, default=0.0, help="seconds to wait for the lock")
    parser.add_argument("--managed-by", choices=MANAGERS, default="foreground")
    parser.add_argument("--takeover", action="store_true", help="ask a spawned daemon to leave")
    parser.add_argument("--check", action="store_true", help="only see whether it could start")
    return parser.parse_args(argv, namespace=Options())


def _check() -> int:
    """Read the settings and nothing else: a wrong one ends as it would end the start."""
    from . import settings

    settings.load(paths.layout(os.environ).config, os.environ)
    return 0


def _live(options: Options, ready: ReadyPipe) -> int:
    layout = paths.layout(os.environ)
    paths.ensure_private_dir(layout.data)
    paths.ensure_private_dir(layout.run)
    os.chdir("/")  # the folder we were started in must stay removable
    lock = _own(layout, options)
    process = _prepare(layout, lock, options, ready)
    # Only now: a process that loses the race for the lock need not have paid for this.
    from ..storage.faults import StorageFault
    from .http.translation import translate

    try:
        reason = process.run()
    except StorageFault as fault:
        raise translate(fault) from fault
    log.info("ended", extra={"reason": reason})
    _leave_note(layout, reason)
    return 0


def _own(layout: paths.Layout, options: Options) -> OwnerLock:
    wait = options.wait_lock
    if options.takeover:
        from .life.takeover import ask_to_leave

        if ask_to_leave(layout):
            wait = max(wait, TAKEOVER_S)
    return OwnerLock.take(layout.lock, wait=wait)


def _prepare(layout: paths.Layout, lock: OwnerLock, options: Options, ready: ReadyPipe) -> Process:
    """Settings and logs, then everything that needs them."""
    from . import logs, settings
    from .life import environment
    from .process import Process

    chosen = settings.load(layout.config, os.environ)
    logs.configure(layout.log, chosen, foreground=options.managed_by == "foreground")
    for name in settings.unknown_variables(os.environ):
        log.debug("not a setting of the daemon", extra={"variable": name})
    notifier = Notifier.take(os.environ)
    environment.scrub(os.environ)
    return Process(
        layout,
        chosen,
        lock,
        managed_by=options.managed_by,
        ready=ready,
        notifier=notifier,
    )


def _leave_note(layout: paths.Layout, reason: str) -> None:
    from .identity import VERSION

    leave_note(layout.last_exit, reason=reason, version=VERSION)


def _give_up(error: RecalldError, ready: ReadyPipe) -> int:
    """Tell everyone who may be waiting why there is no daemon."""
    ready.failed(error)
    log.error("start failed", extra={"code": error.code})
    hint = f" {error.hint}" if error.hint else ""
    with contextlib.suppress(OSError):
        print(f"recalld: {error.message}{hint}", file=sys.stderr)
    return error.exit_code


def _for_manager(options: Options, error: RecalldError, code: int) -> int:
    """The exit code as the service manager understands it.

    launchd knows no codes to stay down for: it would start us every ten seconds for ever, though
    neither another owner nor a wrong setting goes away by that. The note says why we ended.
    """
    if options.managed_by != "launchd" or code not in LASTING:
        return code
    with contextlib.suppress(RecalldError):
        _leave_note(paths.layout(os.environ), error.message)
    return 0


def _end_early(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)

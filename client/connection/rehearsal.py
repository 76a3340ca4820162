"""Whether a new daemon could start, asked before the running one is told to leave.

The program that would be started is run to read its settings and nothing else: what they may be is
its business, and its modules are too heavy for ours.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from ...auth.errors import RecalldError, StartFailed, from_wire
from ...auth.paths import Layout
from ..service import unit as service
from .deadline import Deadline
from .documents import document, parse
from .spawn import daemon_environment

_HOME = "RECALLD_HOME"


def rehearse(layout: Layout, environ: Mapping[str, str], deadline: Deadline) -> None:
    """Raise what a new daemon would report of its settings, or StartFailed when it cannot run.

    Taking too long says nothing against it.
    """
    import subprocess  # only a restart pays

    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "recalld.daemon", "--check", "--ready-fd", "1"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            env=_environment(layout, environ),
            timeout=deadline.left(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return
    if done.returncode != 0:
        raise _refusal(done.returncode, done.stdout, done.stderr)


def _environment(layout: Layout, environ: Mapping[str, str]) -> dict[str, str]:
    """What the new daemon will see; one that a service manager starts knows nothing of ours."""
    passed = daemon_environment(environ)
    if not service.serves(layout, environ):
        return passed
    passed = {name: value for name, value in passed.items() if not name.startswith("RECALLD_")}
    return passed | {_HOME: layout.data}


def _refusal(status: int, output: bytes, errors: bytes) -> RecalldError:
    told = document(parse(output))
    if told:
        error = from_wire({"error": told}, StartFailed.status)
    else:
        said = errors.decode("utf-8", "replace").strip().splitlines()
        last = said[-1][:300] if said else f"it ended with exit status {status}."
        error = StartFailed(f"a new one cannot run: {last}", hint="Run: recalld doctor")
    error.message = f"The daemon was not restarted: {error.message}"
    return error

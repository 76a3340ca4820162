"""What verbs show to a person in front of a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path
from typing import IO

from tests.harness.cli import Cli, program


def on_terminal(
    recalld: Cli,
    *args: str,
    columns: int = 200,
    cwd: Path | None = None,
    errors: IO[bytes] | None = None,
) -> str:
    """What a verb writes to a terminal of this width; its stderr goes to `errors` if given."""
    control, terminal = pty.openpty()
    env = recalld.env | {"TERM": "xterm", "COLUMNS": str(columns)}
    with subprocess.Popen(
        [*program(), *args],
        cwd=cwd or recalld.cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=errors or subprocess.DEVNULL,
    ):
        os.close(terminal)
        said = b""
        while True:
            try:
                piece = os.read(control, 65_536)
            except OSError:  # how Linux reports the end of a terminal
                break
            if not piece:
                break
            said += piece
    os.close(control)
    return said.decode().replace("\r\n", "\n")

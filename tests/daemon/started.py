"""One daemon process under test: its ready line, its clients, its end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from tests.harness import processes
from tests.harness.daemons import Daemon
from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject, decode

START_S = 20.0
LIMITED = 'ulimit -n "$1" && shift && exec "$@"'


class Started(Daemon):
    """`python -P -m recalld.daemon` with a ready pipe and settings from the environment."""

    def __init__(
        self, data: Path, *arguments: str, limit_files: int | None = None, **settings: object
    ) -> None:
        super().__init__(data)
        read, write = os.pipe()
        self._ready = read
        environ = {"PATH": os.environ["PATH"], "HOME": str(data.parent), "RECALLD_HOME": str(data)}
        # Names in capitals are whole variables, others settings.
        environ |= {
            name if name.isupper() else f"RECALLD_{name.upper()}": str(value)
            for name, value in settings.items()
        }
        module = ["-m", "recalld.daemon", "--ready-fd", str(write)]
        limited = [] if limit_files is None else ["sh", "-c", LIMITED, "sh", str(limit_files)]
        self.process = subprocess.Popen(
            [*limited, sys.executable, "-P", *module, *arguments],
            env=environ,
            pass_fds=(write,),
            cwd="/",
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(write)

    def line(self) -> JsonObject:
        """The ready line; fails when none comes."""
        readable, _, _ = select.select([self._ready], [], [], START_S)
        assert readable, "no ready line in time"
        text = os.read(self._ready, 65_536)
        assert text, f"ended without a ready line, status {self.process.wait()}"
        return decode(text)

    def ready(self) -> Started:
        """Wait until it answers; fails when it says why it does not."""
        line = self.line()
        assert line["ok"], line
        return self

    def client(self, folder: Path, **fields: object) -> Http:
        """A client with a new grant for the checkout `folder`."""
        grant = self.grant(checkout=str(folder), **fields)
        return Http(self.port, token=grant["token"])

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal."""
        processes.send(self.process.pid, number)

    def exit_code(self, *, within: float = 6.0) -> int:
        """Wait for the process to end by itself."""
        return self.process.wait(within)

    def end(self) -> None:
        """End it, politely if possible, and let go of the pipe."""
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.signal()
            try:
                self.process.wait(8)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self._ready >= 0:
            os.close(self._ready)
            self._ready = -1

"""The `recalld` command as its users run it: a process with its own environment and folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.harness.jsontypes import JsonObject, decode

TIMEOUT_S = 60.0


def program() -> list[str]:
    """The installed console script, or the module where there is no script."""
    script = Path(sys.executable).parent / "recalld"
    return [str(script)] if script.exists() else [sys.executable, "-P", "-m", "recalld"]


class Cli:
    """Runs `recalld` in `cwd` with `env`; every call is a new process."""

    def __init__(self, env: Mapping[str, str], cwd: Path) -> None:
        self.env = dict(env)
        self.cwd = cwd

    def __call__(
        self,
        *args: str,
        cwd: Path | None = None,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_S,
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end and return what it said; `env` is laid over the clean one."""
        return subprocess.run(
            [*program(), *args],
            cwd=cwd or self.cwd,
            env=self.env | dict(env or {}),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=timeout,
        )

    def ok(self, *args: str, cwd: Path | None = None, stdin: str | None = None) -> str:
        """Run, insist on exit code 0, and return stdout."""
        done = self(*args, cwd=cwd, stdin=stdin)
        assert done.returncode == 0, (args, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def json(self, *args: str, cwd: Path | None = None, stdin: str | None = None) -> JsonObject:
        """Run with `--json`, insist on exit code 0, and return the decoded object."""
        return decode(self.ok(*args, "--json", cwd=cwd, stdin=stdin))

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a shell script that calls `recalld` by its name."""
        return self._run(["/bin/sh", "-c", script])

    def python(
        self, program: str, *args: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a Python program that uses the SDK."""
        return self._run([sys.executable, "-P", "-c", program, *args], env)

    def _run(
        self, command: list[str], env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.cwd,
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
        )

    def start(
        self, *args: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start without waiting; the caller ends the process."""
        return subprocess.Popen(
            [*program(), *args],
            cwd=cwd or self.cwd,
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
        )

"""What a command line call imports: every heavy module is milliseconds at every hook and verb."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon

HEAVY = {
    "anyio",
    "apsw",
    "asyncio",
    "email",
    "http.client",
    "httpcore",
    "httpx",
    "importlib.metadata",
    "logging",
    "mcp",
    "nacl",
    "numpy",
    "orjson",
    "pydantic",
    "rich",
    "sqlite3",
    "ssl",
    "starlette",
    "structlog",
    "urllib.request",
    "uvicorn",
}

PROGRAM = """
import json, os, sys
from recalld.client.cli import main
out = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
code = main(sys.argv[1:])
os.write(out, json.dumps([code, sorted(sys.modules)]).encode())
"""


def loaded(cli: Cli, *args: str) -> set[str]:
    """The modules one warm call of the command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, *args],
        cwd=cli.cwd,
        env=cli.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    code, modules = json.loads(done.stdout)
    assert code == 0, done.stderr
    return set(modules)


@pytest.mark.parametrize(
    "args",
    [("store", "a note"), ("recall", "a note"), ("recall", "a note", "--json"), ("search", "note")],
    ids=" ".join,
)
def test_a_warm_verb_loads_nothing_heavy(recalld: Cli, daemon: Daemon, args: tuple[str]) -> None:
    """Storing and recalling get by with the standard library's light half and our own modules."""
    recalld.ok("store", "warm up")
    assert daemon.published
    assert loaded(recalld, *args) & HEAVY == set()


def test_auth_modules_of_the_hook_path_are_light() -> None:
    """The part of `auth` that hooks use loads neither dataclasses nor pathlib nor logging."""
    names = ("errors", "paths", "namespaces", "checkout", "tokens", "record", "hello")
    program = (
        "import sys\n"
        + "".join(f"import recalld.auth.{name}\n" for name in names)
        + "print('\\n'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-S", "-c", "import site; site.main()\n" + program],
        capture_output=True,
        text=True,
        check=True,
    )
    light = {"dataclasses", "pathlib", "subprocess", "inspect"} | HEAVY
    assert set(done.stdout.split()) & light == set()

"""What a hook imports: every module is paid for at every tool call of every agent."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.harness.fake_daemon import FakeDaemon
from tests.hooks.conftest import Hooks
from tests.hooks.payloads import payload

PROGRAM = """
import json, os, sys
out = os.dup(1)
def ended(code):
    os.write(out, json.dumps([code, sorted(sys.modules)]).encode())
    os.close(out)
    raise SystemExit(code)
os._exit = ended
from recalld.client.cli import main
main(["hook", "claude-code"])
"""

NEEDLESS = {
    "argparse",
    "asyncio",
    "base64",
    "dataclasses",
    "datetime",
    "email",
    "fcntl",
    "hashlib",
    "hmac",
    "http",
    "httpx",
    "inspect",
    "logging",
    "numpy",
    "pathlib",
    "pydantic",
    "random",
    "secrets",
    "shutil",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
    "tomllib",
    "urllib",
    "uuid",
}

OURS_FOR_TROUBLE = {
    "recalld.auth.redaction",
    "recalld.client.cli.catalogue",
    "recalld.client.cli.command",
    "recalld.client.cli.terminal",
    "recalld.client.cli.verb",
    "recalld.client.hooks.hosts.codex",
    "recalld.client.hooks.spool",
    "recalld.client.hooks.starter",
    "recalld.client.connection.lock",
    "recalld.client.connection.spawn",
    "recalld.client.connection.starting",
    "recalld.client.connection.stopping",
}


def modules(hooks: Hooks) -> set[str]:
    """What one hook process has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM],
        input=json.dumps(payload("claude-code", "UserPromptSubmit", str(hooks.cwd))).encode(),
        capture_output=True,
        cwd=hooks.cwd,
        env=hooks.cli.env,
        timeout=20,
        check=True,
    )
    code, loaded = json.loads(done.stdout[done.stdout.index(b"[") :])
    assert code == 0
    return set(loaded)


def test_a_warm_hook_loads_nothing_needless(hooks: Hooks, fake: FakeDaemon) -> None:
    """A delivered event costs json, a socket and our own small modules."""
    hooks("claude-code", "Stop")  # the grant is minted here
    bare = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = modules(hooks)
    assert len(fake.events) == 2
    assert loaded & NEEDLESS == set()
    assert loaded & OURS_FOR_TROUBLE == set()
    assert len(loaded - set(bare.stdout.split())) <= 90

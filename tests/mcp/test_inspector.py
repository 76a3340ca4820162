"""The MCP inspector on the command line, where it is installed: a stock client written in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import cast

import pytest

from tests.harness.cli import Cli, program
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject

INSPECTOR = shutil.which("mcp-inspector")
pytestmark = pytest.mark.skipif(INSPECTOR is None, reason="needs mcp-inspector 2 on PATH")


def inspect(cli: Cli, *words: str) -> JsonObject:
    """What the inspector prints."""
    done = subprocess.run(
        [INSPECTOR or "", "--cli", *words],
        cwd=cli.cwd,
        env=cli.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return cast("JsonObject", json.loads(done.stdout))


def use(cli: Cli, way: list[str], tool: str, **arguments: str) -> JsonObject:
    """What a tool answers."""
    given = [f"{name}={value}" for name, value in arguments.items()]
    pairs = [word for pair in given for word in ("--tool-arg", pair)]
    found = inspect(cli, *way, "--method", "tools/call", "--tool-name", tool, *pairs)
    assert found["isError"] is False
    return cast("JsonObject", json.loads(found["content"][0]["text"]))


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_calls_and_comes_back(
    recalld: Cli, daemon: Daemon, transport: str
) -> None:
    """Over either transport, and once more after the daemon was restarted."""
    recalld.ok("store", "The inspector looks for this")  # the checkout gets its token

    def way() -> list[str]:
        if transport == "stdio":  # it passes on no variable that is not named
            return [*program(), "mcp", "-e", f"RECALLD_HOME={recalld.env['RECALLD_HOME']}"]
        token = (recalld.cwd / ".recalld" / "token").read_text().strip()
        url = f"http://127.0.0.1:{daemon.port}/mcp"
        shown = f"Authorization: Bearer {token}"
        return ["--transport", "http", "--server-url", url, "--header", shown]

    assert len(inspect(recalld, *way(), "--method", "tools/list")["tools"]) >= 10
    stored = use(recalld, way(), "memory_store", content="the inspector looks for  this!")
    assert stored["status"] == "merged"
    recalld.ok("restart")
    found = use(recalld, way(), "memory_recall", query="inspector")
    assert [hit["id"] for hit in found["hits"]] == [stored["id"]]
    (shown,) = inspect(recalld, *way(), "--method", "prompts/get", "--prompt-name", "begin")[
        "messages"
    ]
    assert shown["role"] == "user"

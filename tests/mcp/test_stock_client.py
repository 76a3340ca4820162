"""The official SDK's own client, over both transports and both kinds of protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from tests.harness.checkouts import Checkouts
from tests.harness.cli import Cli, program
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject, decode

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
Use = Callable[[Client], Awaitable[None]]


def told(found: CallToolResult) -> JsonObject:
    """What a tool answered."""
    (block,) = found.content
    assert isinstance(block, TextContent)
    assert not found.is_error, block.text
    return decode(block.text)


async def ordinary(client: Client) -> None:
    """What a host does: list, store, recall."""
    listed = await client.list_tools()
    assert {"memory_recall", "memory_store"} <= {tool.name for tool in listed.tools}
    stored = await client.call_tool("memory_store", {"content": "The port is 6380."})
    assert told(stored)["status"] in {"stored", "duplicate"}
    found = told(await client.call_tool("memory_recall", {"query": "which port"}))
    assert found["hits"][0]["text"] == "The port is 6380."


@asynccontextmanager
async def over_http(port: int, token: str, mode: str) -> AsyncGenerator[Client]:
    """A client connected to /mcp with a bearer token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=30) as client:
            yield client


@asynccontextmanager
async def over_stdio(recalld: Cli, mode: str) -> AsyncGenerator[Client]:
    """A client that runs `recalld mcp` in the checkout."""
    command, *arguments = [*program(), "mcp"]
    server = StdioServerParameters(
        command=command, args=arguments, env=recalld.env, cwd=recalld.cwd
    )
    async with Client(server, mode=mode, read_timeout_seconds=30) as client:
        yield client


@MODES
def test_over_http(daemon: Daemon, checkout: Checkouts, mode: str) -> None:
    """Lists and calls."""
    token = daemon.grant(checkout=str(checkout()))["token"]

    async def session() -> None:
        async with over_http(daemon.port, token, mode) as client:
            await ordinary(client)

    asyncio.run(session())


@MODES
def test_over_stdio(recalld: Cli, any_daemon: Daemon, mode: str) -> None:
    """The bridge starts the daemon, mints the grant, and serves a whole session."""

    async def session() -> None:
        async with over_stdio(recalld, mode) as client:
            await ordinary(client)

    asyncio.run(session())
    assert any_daemon.published, "the daemon must outlive its bridge"


@MODES
def test_stdio_goes_on_after_a_restart(recalld: Cli, any_daemon: Daemon, mode: str) -> None:
    """Killed or stopped, on whatever port it comes back: the same session goes on."""

    async def session() -> None:
        async with over_stdio(recalld, mode) as client:
            await ordinary(client)
            for end in (any_daemon.kill, any_daemon.terminate):
                before = any_daemon.port
                await asyncio.to_thread(end)
                await ordinary(client)
                assert any_daemon.port != before

    asyncio.run(session())


@MODES
def test_http_reconnects_after_a_restart(
    daemon: Daemon, recalld: Cli, checkout: Checkouts, mode: str
) -> None:
    """A new connection to the new port works with the old token and the old session's habits."""
    token = daemon.grant(checkout=str(checkout()))["token"]

    async def session() -> None:
        async with over_http(daemon.port, token, mode) as client:
            await ordinary(client)

    asyncio.run(session())
    recalld.ok("restart")
    asyncio.run(session())


def test_a_stranger_is_told_to_go(daemon: Daemon) -> None:
    """A wrong token is 401 before anything else, which the client reports."""

    async def session() -> None:
        async with over_http(daemon.port, "rk_wrong", "legacy") as client:
            await client.list_tools()

    with pytest.raises(BaseException) as caught:  # noqa: PT011 - the SDK wraps it in groups
        asyncio.run(session())
    assert caught.value

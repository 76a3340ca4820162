"""Calling tools by plain HTTP, one POST a call, the way no SDK would hide from us."""

from __future__ import annotations

from collections.abc import Mapping

from tests.harness.http import Http, Reply
from tests.harness.jsontypes import JsonObject, decode

MODERN = "2026-07-28"


def post(
    client: Http,
    method: str,
    params: object = None,
    *,
    number: object = 1,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """One JSON-RPC request and its HTTP answer."""
    body: JsonObject = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
    return client.post("/mcp", body, headers=headers)


def result(client: Http, method: str, params: object = None) -> JsonObject:
    """The result of a request that works."""
    reply = post(client, method, params)
    assert reply.status == 200, reply
    assert "result" in reply.json, reply
    found: JsonObject = reply.json["result"]
    return found


def text(client: Http, tool: str, **arguments: object) -> str:
    """The text a tool answers with."""
    found = result(client, "tools/call", {"name": tool, "arguments": arguments})
    assert not found["isError"], found
    (block,) = found["content"]
    assert "structuredContent" not in found
    return str(block["text"])


def use(client: Http, tool: str, **arguments: object) -> JsonObject:
    """What a tool answers, decoded."""
    return decode(text(client, tool, **arguments))


def refused(client: Http, tool: str, **arguments: object) -> JsonObject:
    """The error a tool answers."""
    found = result(client, "tools/call", {"name": tool, "arguments": arguments})
    assert found["isError"], found
    error: JsonObject = decode(found["content"][0]["text"])["error"]
    return error

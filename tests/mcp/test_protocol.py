"""/mcp as a protocol: no sessions, no version gate, the guards of every other route."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.daemon.started import Started
from tests.harness import processes
from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject
from tests.mcp.toolbox import MODERN, post, result, use

HELLO = {"capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_revision_with_a_handshake(client: Http, version: str) -> None:
    """The revision asked for is the one spoken."""
    found = result(client, "initialize", {"protocolVersion": version, **HELLO})
    assert found["protocolVersion"] == version
    assert found["serverInfo"]["name"] == "recalld"
    assert len(found["instructions"].encode()) < 2_000
    headers = {"MCP-Protocol-Version": version}
    assert post(client, "tools/list", headers=headers).status == 200


def test_the_revision_without_a_handshake(client: Http) -> None:
    """Each request carries what it needs, and is answered at once."""
    meta: JsonObject = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"}
    reply = post(client, "server/discover", {"_meta": meta}, headers=headers)
    assert reply.status == 200
    assert MODERN in reply.json["result"]["supportedVersions"]


def test_a_future_revision_is_negotiated(client: Http) -> None:
    """A client from the future gets what we speak instead of a refusal."""
    found = result(client, "initialize", {"protocolVersion": "2099-01-01", **HELLO})
    assert found["protocolVersion"] >= "2025-11-25"


def test_unknown_sessions_do_no_harm(client: Http) -> None:
    """An id from before a restart is ignored, at every method."""
    stale = {"Mcp-Session-Id": "from-another-life"}
    assert post(client, "tools/list", headers=stale).status == 200
    params = {"protocolVersion": "2025-06-18", **HELLO}
    reply = post(client, "initialize", params, headers=stale)
    assert reply.status == 200
    assert "mcp-session-id" not in reply.headers
    assert client.get("/mcp", headers=stale).status == 405
    assert client.call("DELETE", "/mcp", headers=stale).status == 405


def test_a_thousand_abandoned_clients_leave_nothing(served: Started, client: Http) -> None:
    """Clients that initialise and go cost nothing that lasts."""
    params = {"protocolVersion": "2025-06-18", **HELLO}
    kept = Http(client.port, token=client.token, keep=True)
    for _ in range(200):
        result(kept, "initialize", params)
    before = processes.resident_bytes(served.pid)
    for _ in range(800):
        result(kept, "initialize", params)
    kept.close()
    assert processes.resident_bytes(served.pid) - before < 8_000_000


def test_notifications_are_taken(client: Http) -> None:
    """They are acknowledged and have no answer."""
    reply = client.post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (reply.status, reply.body) == (202, b"")


@pytest.mark.parametrize(
    "body",
    [[], [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], {}, {"jsonrpc": "1.0", "id": 1},
     {"jsonrpc": "2.0", "id": {}, "method": "ping"}, "text", 5,
     {"jsonrpc": "2.0", "id": None, "method": "ping"}],
)  # fmt: skip
def test_what_is_no_message_is_refused(client: Http, body: object) -> None:
    """A client error, whatever it is; the daemon lives on."""
    assert client.post("/mcp", body).status == 400
    assert post(client, "ping").json["result"] == {}


def test_unknown_methods_and_tools(client: Http) -> None:
    """JSON-RPC errors under the request's id."""
    reply = post(client, "tools/telepathy", number="a-7")
    assert (reply.json["id"], reply.json["error"]["code"]) == ("a-7", -32601)
    reply = post(client, "tools/call", {"name": "memory_sell", "arguments": {}}, number=9)
    assert (reply.json["id"], reply.json["error"]["code"]) == (9, -32602)


def test_half_an_emoji_is_text_all_the_same(client: Http) -> None:
    """JavaScript cuts texts between surrogates; the rest of the text is kept."""
    raw = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store",'
        b'"arguments":{"content":"half \\ud83d an emoji"}}}'
    )
    reply = client.send("POST", "/mcp", raw=raw, headers={"Content-Type": "application/json"})
    assert reply.status == 200
    hits = use(client, "memory_recall", query="half an emoji")["hits"]
    assert any(hit["text"].startswith("half \ufffd an") for hit in hits)


def test_browsers_are_kept_out_and_node_is_not(client: Http) -> None:
    """Node's fetch marks its requests a little like a browser does."""
    assert post(client, "ping", headers={"Sec-Fetch-Mode": "cors"}).status == 200
    for headers in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Mode": "navigate"},
        {"Host": "evil.example"},
    ):
        assert post(client, "ping", headers=headers).status in {403, 421}, headers


def test_a_repeated_write_is_one_write(client: Http) -> None:
    """What the bridge sends again after a broken connection is recognised by its key."""
    params = {"name": "memory_store", "arguments": {"content": "once and only once"}}
    headers = {"Idempotency-Key": "bridge-1"}
    first, second = (post(client, "tools/call", params, headers=headers) for _ in range(2))
    assert first.json == second.json
    assert '"stored"' in first.json["result"]["content"][0]["text"].replace("\\", "")


def test_the_sdk_is_not_loaded_before_it_is_needed() -> None:
    """A daemon nobody asks over MCP does without it."""
    program = "import sys, recalld.daemon.process; sys.exit('mcp' in sys.modules)"
    subprocess.run([sys.executable, "-P", "-c", program], check=True, timeout=30)

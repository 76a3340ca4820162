"""The one route of MCP, a protocol that describes itself."""

from __future__ import annotations

from ..http.access import Need
from ..http.answers import Answer
from ..http.call import Call
from ..http.route import Route
from .exchange import Exchange, Message
from .mount import Mount


async def serve(call: Call) -> Answer:
    """Answer one JSON-RPC message."""
    endpoint = await call.services.part(Mount).endpoint()
    exchange = Exchange(call)
    await endpoint.handle(exchange.scope, exchange.receive, exchange.send)
    return Answer(exchange.status, bytes(exchange.body))


ROUTES = (Route("POST", "/mcp", serve, Need.GRANT, "MCP", Message, body=Message),)

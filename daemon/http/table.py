"""The route table: every method on every path. Routing, guards and the description come from it."""

from __future__ import annotations

from ...auth import errors as e
from ..mcp import exchange
from . import control, grants, memories, openapi, recalls, responses, schemas, state, stores, stream
from .access import Need
from .route import Route

NOBODY, GRANT, OWNER, EITHER = Need.NOBODY, Need.GRANT, Need.OWNER, Need.EITHER

PROCESS = (
    Route(
        "GET",
        "/v1/health",
        control.health,
        NOBODY,
        "Is it alive?",
        responses.Health,
        while_draining=True,
    ),
    Route(
        "POST",
        "/v1/hello",
        control.hello,
        NOBODY,
        "Prove that this is our daemon",
        responses.Hello,
        body=schemas.HelloRequest,
        while_draining=True,
    ),
    Route(
        "POST",
        "/v1/stop",
        control.stop,
        OWNER,
        "Stop the daemon",
        responses.Stopping,
        status=(202,),
        body=schemas.StopRequest,
        while_draining=True,
    ),
    Route(
        "GET", "/v1/status", state.status, EITHER, "The daemon and what it holds", responses.Status
    ),
    Route("GET", "/v1/stats", state.stats, GRANT, "What each namespace holds", responses.Stats),
    Route(
        "GET",
        "/v1/stream",
        stream.stream,
        GRANT,
        "Follow changes",
        responses.Change,
        query=schemas.StreamQuery,
        streams=True,
    ),
    Route(
        "GET", "/openapi.json", openapi.openapi, NOBODY, "This description", responses.Description
    ),
)

MEMORIES = (
    Route(
        "POST",
        "/v1/memories",
        stores.store,
        GRANT,
        "Store a memory",
        responses.Stored,
        status=(200, 201),
        body=schemas.StoreRequest,
        errors=(e.NotFound,),
        keyed=True,
    ),
    Route(
        "POST",
        "/v1/memories/batch",
        stores.batch,
        GRANT,
        "Store many memories",
        responses.StoredMany,
        body=schemas.BatchRequest,
        batch=True,
        keyed=True,
    ),
    Route(
        "POST",
        "/v1/conversations",
        stores.conversation,
        GRANT,
        "Store the turns of a conversation",
        responses.StoredMany,
        body=schemas.ConversationRequest,
        batch=True,
        keyed=True,
    ),
    Route(
        "GET",
        "/v1/memories",
        memories.listing,
        GRANT,
        "List memories",
        responses.MemoryPage,
        query=schemas.PageQuery,
    ),
    Route("GET", "/v1/memories/{id}", memories.show, GRANT, "Show a memory", responses.Memory),
    Route(
        "PATCH",
        "/v1/memories/{id}",
        memories.edit,
        GRANT,
        "Change a memory",
        responses.Memory,
        body=schemas.EditRequest,
        errors=(e.Conflict,),
        keyed=True,
    ),
    Route(
        "DELETE",
        "/v1/memories/{id}",
        memories.forget,
        GRANT,
        "Forget a memory",
        responses.Forgotten,
        keyed=True,
    ),
    Route(
        "GET",
        "/v1/memories/{id}/history",
        memories.past,
        GRANT,
        "Every version of a memory",
        responses.History,
    ),
    Route(
        "POST",
        "/v1/memories/{id}/undo",
        memories.undo,
        GRANT,
        "Undo the last change",
        responses.Memory,
        errors=(e.Conflict,),
        keyed=True,
    ),
    Route(
        "POST",
        "/v1/recall",
        recalls.recall,
        GRANT,
        "Recall memories",
        responses.Recalled,
        body=schemas.RecallRequest,
        errors=(e.BlankQuery,),
    ),
    Route(
        "POST",
        "/v1/search",
        recalls.search,
        GRANT,
        "Search by words",
        responses.Found,
        body=schemas.SearchRequest,
        errors=(e.BlankQuery,),
    ),
)

GRANTS = (
    Route("GET", "/v1/grants", grants.listing, OWNER, "List the grants", responses.GrantList),
    Route(
        "POST",
        "/v1/grants",
        grants.issue,
        OWNER,
        "Issue a grant",
        responses.GrantWithToken,
        status=(201,),
        body=schemas.GrantRequest,
        errors=(e.InvalidNamespace, e.DiskFull, e.StorageTrouble),
    ),
    Route(
        "DELETE",
        "/v1/grants/{id}",
        grants.revoke,
        OWNER,
        "Revoke a grant",
        responses.Revoked,
        errors=(e.DiskFull, e.StorageTrouble),
    ),
    Route(
        "POST",
        "/v1/grants/{id}/rotate",
        grants.rotate,
        OWNER,
        "Give a grant a new token",
        responses.GrantWithToken,
        errors=(e.DiskFull, e.StorageTrouble),
    ),
)

ROUTES: tuple[Route, ...] = (*PROCESS, *MEMORIES, *GRANTS)
"""Every route that `/openapi.json` describes."""

PROTOCOLS = (
    Route("POST", "/mcp", exchange.serve, GRANT, "MCP", exchange.Message, body=exchange.Message),
)
"""Routes with a protocol of their own, which describes itself."""

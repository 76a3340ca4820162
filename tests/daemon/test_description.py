"""The OpenAPI document: every route, every parameter, every error; and nothing invented."""

from __future__ import annotations

from typing import cast

import orjson
import pytest
from recalld.auth.errors import DaemonUnreachable, RecalldError, every_error
from recalld.daemon.http.openapi import describe, errors_of
from recalld.daemon.http.route import Route
from recalld.daemon.http.router import Router
from recalld.daemon.http.table import ROUTES
from recalld.daemon.http.translation import TABLE, translate
from recalld.storage.faults import StorageFault, UnsafePlace

from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject

# Raised by clients or before the daemon listens: no route answers them.
NEVER_OVER_HTTP = {
    "already_running", "schema_newer", "unsafe_file_system", "invalid_settings",
    "pin_unconfirmed", "unavailable",
}  # fmt: skip


def document() -> JsonObject:
    """The document as JSON."""
    return cast("JsonObject", orjson.loads(orjson.dumps(describe(ROUTES))))


def test_it_is_served_as_generated(client: Http) -> None:
    """GET /openapi.json needs no token and is what the table says."""
    reply = client.as_token(None).get("/openapi.json")
    assert reply.status == 200
    assert reply.json == document()


def test_every_route_of_the_contract_is_there() -> None:
    """The routes the clients are built on."""
    wanted = """
        GET /v1/health; POST /v1/hello; POST /v1/recall; POST /v1/search; POST /v1/memories;
        POST /v1/memories/batch; GET /v1/memories; GET /v1/memories/{id}; PATCH /v1/memories/{id};
        DELETE /v1/memories/{id}; GET /v1/memories/{id}/history; POST /v1/memories/{id}/undo;
        POST /v1/conversations; GET /v1/status; GET /v1/stats; GET /v1/stream; GET /v1/grants;
        POST /v1/grants; DELETE /v1/grants/{id}; POST /v1/grants/{id}/rotate; POST /v1/stop;
        GET /openapi.json
    """
    named = {" ".join(part.split()) for part in wanted.split(";")}
    assert named <= {f"{route.method} {route.path}" for route in ROUTES}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_is_described(route: Route) -> None:
    """Summary, answers, errors by status, and the credentials it wants."""
    operation = document()["paths"][route.path][route.method.lower()]
    assert operation["summary"]
    assert operation["description"]
    for status in route.status:
        assert str(status) in operation["responses"]
    for error in errors_of(route):
        assert error.code in operation["responses"][str(error.status)]["x-error-codes"]
    assert ("requestBody" in operation) == (route.body is not None)


def test_every_error_the_daemon_can_answer_is_described() -> None:
    """Each code of the tree is on some route, or is one that only clients and starts raise."""
    described = {error.code for route in ROUTES for error in errors_of(route)}
    tree = every_error()
    clients = {code for code, error in tree.items() if issubclass(error, DaemonUnreachable)}
    assert set(tree) == described | clients | NEVER_OVER_HTTP


def test_operations_have_names_of_their_own() -> None:
    """Generated clients need unique names."""
    paths: list[JsonObject] = list(document()["paths"].values())
    names = [operation["operationId"] for path in paths for operation in path.values()]
    assert len(set(names)) == len(names)


def test_every_reference_leads_somewhere() -> None:
    """There is no dangling $ref."""
    text = orjson.dumps(document()).decode()
    schemas = document()["components"]["schemas"]
    for part in text.split('"#/components/schemas/')[1:]:
        assert part.partition('"')[0] in schemas


def test_every_fault_of_the_store_has_an_error() -> None:
    """The translation table is complete."""
    faults = {StorageFault, *StorageFault.__subclasses__()}
    assert set(TABLE) == faults
    place = UnsafePlace("file_system", "/mnt/x", "move it")
    assert (translate(place).code, translate(place).hint) == ("unsafe_file_system", "move it")
    assert isinstance(translate(StorageFault("odd")), RecalldError)


def test_the_router_finds_each_route_and_only_those() -> None:
    """Every row is found by its own method and path, with its parameters."""
    router = Router(ROUTES)
    for route in ROUTES:
        found, values = router.find(route.method, route.path.replace("{id}", "ABC"))
        assert found is route
        assert values == ({"id": "ABC"} if "{id}" in route.path else {})

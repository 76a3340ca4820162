"""The OpenAPI description: complete, and true under requests made up from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from recalld.auth.errors import every_error

from tests.harness.daemons import Daemon
from tests.harness.environment import rounds
from tests.harness.http import Http
from tests.harness.openapi import operations

SCHEMATHESIS = Path(sys.executable).parent / "schemathesis"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def test_every_error_of_every_route_is_described(http: Http) -> None:
    """Each operation has a summary, a described success and the errors any route can answer."""
    document = http.as_token(None).get("/openapi.json").json
    assert document["openapi"].startswith("3.")
    for operation in operations(document):
        described = operation.described
        assert described.get("summary"), operation.name
        statuses = set(described["responses"])
        assert any(status.startswith("2") for status in statuses), operation.name
        if "requestBody" in described:
            assert {"400", "413", "415"} <= statuses, operation.name
        if operation.path not in {"/v1/health", "/v1/hello", "/openapi.json"}:
            assert {"401", "503"} <= statuses, operation.name


def test_the_contract_is_there(http: Http) -> None:
    """The routes other tools build on exist under their names."""
    described = {op.name for op in operations(http.as_token(None).get("/openapi.json").json)}
    assert described >= {
        "GET /v1/health",
        "POST /v1/hello",
        "POST /v1/memories",
        "POST /v1/memories/batch",
        "GET /v1/memories",
        "GET /v1/memories/{id}",
        "PATCH /v1/memories/{id}",
        "DELETE /v1/memories/{id}",
        "GET /v1/memories/{id}/history",
        "POST /v1/memories/{id}/undo",
        "POST /v1/recall",
        "POST /v1/search",
        "GET /v1/status",
        "GET /v1/stats",
        "GET /v1/stream",
        "GET /v1/grants",
        "POST /v1/grants",
        "DELETE /v1/grants/{id}",
        "POST /v1/grants/{id}/rotate",
        "POST /v1/stop",
        "POST /v1/conversations",
        "GET /openapi.json",
    }


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not SCHEMATHESIS.exists(), reason="schemathesis is not installed here")
@pytest.mark.parametrize("who", ["grant", "owner"])
def test_made_up_requests_never_fail_inside(
    daemon: Daemon, http: Http, tmp_path: Path, who: str
) -> None:
    """Requests generated from the description end in described answers, never in a 5xx."""
    secret = f"Bearer {http.token}" if who == "grant" else f"Owner {daemon.secret}"
    # The owner's part alone; stopping the daemon would end the round.
    part = (
        "--exclude-path=/v1/stream"
        if who == "grant"
        else "--include-path-regex=/v1/(grants|status|jobs)"
    )
    done = subprocess.run(
        [
            str(SCHEMATHESIS),
            "run",
            f"http://127.0.0.1:{http.port}/openapi.json",
            f"--header=Authorization: {secret}",
            f"--checks={','.join(CHECKS)}",
            "--phases=examples,coverage,fuzzing",
            f"--max-examples={rounds(15)}",
            part,
            "--seed=7",
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=580,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert http.get("/v1/health").status == 200


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PUT", "HEAD", "OPTIONS", "BREW"])
def test_other_methods_are_refused(http: Http, method: str) -> None:
    """Methods no route has are refused without a word of CORS."""
    reply = http.send(method, "/v1/memories")
    assert reply.status in {400, 404, 405, 501}
    assert reply.status != 405 or reply.headers["allow"] == "GET, POST"
    assert not any(name.startswith("access-control") for name in reply.headers)


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/", "/v1/memories/", "//v1/health", "/v1/../v1/x"]
)
def test_unknown_paths_are_not_found(http: Http, path: str) -> None:
    """Paths nobody described are 404 in our own error shape."""
    reply = http.get(path)
    assert reply.status == 404
    assert reply.code == "not_found"
    assert reply.code in every_error()
    assert reply.headers["x-request-id"]

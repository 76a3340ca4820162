"""What waits for a disk does so in a thread: the loop answers everybody else meanwhile."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from recalld.auth import grants as module
from recalld.auth.checkout import Checkout
from recalld.auth.errors import DeadlineExceeded
from recalld.auth.grants import Grants
from recalld.auth.paths import write_private
from recalld.daemon.http import grants as routes
from recalld.daemon.http.call import Call
from recalld.daemon.http.head import Head
from recalld.daemon.http.schemas import GrantRequest
from recalld.daemon.services import Services
from uvicorn._types import ASGIReceiveCallable


def a_call(folder: Path) -> Call:
    """A request for a grant for `folder`, with nothing behind it but a set of grants."""
    services = cast("Services", SimpleNamespace(grants=Grants(str(folder / "grants.json"))))
    receive = cast("ASGIReceiveCallable", None)
    call = Call(services, Head("POST", "/v1/grants", b"", {}), receive, None, {})
    call.fill(b"", GrantRequest(checkout=str(folder)), None)
    return call


def test_a_checkout_is_looked_at_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a slow mount is asked where a checkout lies, the loop goes on."""
    released = threading.Event()
    went_on: list[bool] = []

    def slow(folder: str) -> Checkout:
        went_on.append(released.wait(5))
        return Checkout(folder, folder, "project:slow-00000000", "a test says so")

    monkeypatch.setattr(routes, "locate", slow)

    async def scenario() -> int:
        asyncio.get_running_loop().call_later(0.01, released.set)
        return (await routes.issue(a_call(tmp_path))).status

    tmp_path.chmod(0o700)
    assert asyncio.run(scenario()) == 201
    assert went_on == [True]


def test_a_mount_that_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is told that its disk does not answer, instead of nothing."""
    released = threading.Event()

    def dead(folder: str) -> Checkout:
        released.wait(5)
        return Checkout(folder, folder, "project:dead-00000000", "a test says so")

    monkeypatch.setattr(routes, "locate", dead)
    monkeypatch.setattr(routes, "LOOK_S", 0.05)

    async def scenario() -> None:
        try:
            with pytest.raises(DeadlineExceeded):
                await routes.issue(a_call(tmp_path))
        finally:
            released.set()

    asyncio.run(scenario())


def test_grants_are_written_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issuing, rotating and revoking wait for the disk in a thread."""
    tmp_path.chmod(0o700)
    threads: list[threading.Thread] = []
    write = write_private

    def noted(path: str, data: bytes) -> os.stat_result:
        threads.append(threading.current_thread())
        return write(path, data)

    monkeypatch.setattr(module, "write_private", noted)
    call = a_call(tmp_path)

    async def scenario() -> None:
        await routes.issue(call)
        call.path["id"] = call.services.grants.list()[0].id
        await routes.rotate(call)
        await routes.revoke(call)

    asyncio.run(scenario())
    assert len(threads) == 3
    assert threading.main_thread() not in threads

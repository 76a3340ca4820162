"""Fixtures of the client's tests: the test's own layout, and stand-in daemons in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from recalld.auth.paths import Layout, layout

from tests.client.fakes import FakeDaemon, Script


@pytest.fixture
def place(clean_env: dict[str, str]) -> Layout:
    """The layout of the test's data folder."""
    return layout(clean_env)


@pytest.fixture
def fake(place: Layout) -> Iterator[Callable[..., FakeDaemon]]:
    """Starts stand-in daemons; they end with the test."""
    started: list[FakeDaemon] = []

    def start(script: Script, **how: object) -> FakeDaemon:
        started.append(FakeDaemon(place, script, **how))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for one in started:
        one.close()

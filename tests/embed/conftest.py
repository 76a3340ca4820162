"""Fixtures of the tests that talk to providers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.embed.providing import Household, Provider, free_port
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon

Provide = Callable[..., Provider]


@pytest.fixture
def provide(shared: Path) -> Iterator[Provide]:
    """Starts providers, at a port of one's own or at a given one."""
    begun: list[Provider] = []

    def start(port: int | None = None, **options: object) -> Provider:
        program = shared / "cases" / "fake_embed.py"
        begun.append(Provider(program, port or free_port(), **options))
        return begun[-1]

    yield start
    for provider in begun:
        provider.end()


@pytest.fixture
def household(recalld: Cli, any_daemon: Daemon) -> Household:
    """A data folder without a daemon yet."""
    return Household(recalld, any_daemon)

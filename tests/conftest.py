"""Fixtures every test may use; `tests/harness/` holds what they are made of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import environment
from tests.harness.checkouts import Checkouts
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.http import Http

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _strip_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove every variable that could change what the product does."""
    for name in list(os.environ):
        if environment.is_foreign(name):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout under test."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared cases beside the checkout; tests that need it skip without it."""
    folder = REPOSITORY.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"shared cases are not at {folder}")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home folder of the test's own."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder (`RECALLD_HOME`) of the test's own; the product creates it."""
    return tmp_path / "data"


@pytest.fixture
def clean_env(home: Path, data: Path) -> dict[str, str]:
    """A login-like environment: PATH, HOME, RECALLD_HOME, LANG, and git without settings."""
    return environment.clean(home, data)


@pytest.fixture
def checkout(tmp_path: Path, clean_env: dict[str, str]) -> Checkouts:
    """Makes git checkouts: `checkout()` or `checkout("other")` returns the root."""
    return Checkouts(tmp_path / "checkouts", clean_env)


@pytest.fixture
def any_daemon(data: Path) -> Iterator[Daemon]:
    """The daemon of the test's data folder, if and when one runs; ended when the test ends."""
    found = Daemon(data)
    yield found
    found.end_all()


@pytest.fixture
def recalld(clean_env: dict[str, str], checkout: Checkouts, any_daemon: Daemon) -> Cli:
    """Runs the command as a process, by default in a checkout of the test's own."""
    assert not any_daemon.published
    return Cli(clean_env, checkout())


@pytest.fixture
def daemon(recalld: Cli, any_daemon: Daemon) -> Daemon:
    """A daemon that was started the way users start it, ready to answer."""
    done = recalld("start")
    assert done.returncode == 0, done.stderr
    return any_daemon


@pytest.fixture
def http(daemon: Daemon, checkout: Checkouts) -> Http:
    """A client proven against `daemon`, with a grant for the default checkout."""
    token: str = daemon.grant(checkout=str(checkout()), label="test")["token"]
    return daemon.http(token)

"""What becomes of spooled events when something is wrong: with the file, or around it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from recalld.auth.grants import Grants
from recalld.auth.paths import layout
from recalld.daemon.intake.spool import Spool
from recalld.storage.engine import Store
from recalld.storage.faults import FullDisk, StorageFault

from tests.harness.http import Http
from tests.loop.agent import Agent
from tests.storage.opened import sign

TEXT = "Always use spaces."
MINE = "project:mine-00000000"


class Place:
    """A data folder with a store and grants, and the spool that is taken in from it."""

    def __init__(self, data: Path) -> None:
        self.folder = data / "spool"
        self.folder.mkdir(mode=0o700, parents=True)
        data.chmod(0o700)
        self.store = Store.open(str(data / "memory.db"), signer=sign)
        self.grants = Grants(str(data / "grants.json"))
        self.grants_file = data / "grants.json"
        self.spool = Spool(layout({"RECALLD_HOME": str(data)}), self.store, self.grants)

    def put(self, root: Path, name: str = "01", **more: object) -> Path:
        """A file as hooks leave it; `more` replaces its members."""
        event = Agent(Http(1)).event("prompt", text=TEXT)
        path = self.folder / f"{name}.json"
        members = {"schema": 1, "checkout": str(root), "events": [event], **more}
        path.write_text(json.dumps(members))
        path.chmod(0o600)
        return path

    def left(self) -> list[str]:
        """What lies in the spool."""
        return sorted(path.name for path in self.folder.iterdir())

    def kept(self) -> list[tuple[str, str]]:
        """Namespace and text of every memory."""
        connection = self.store.reader().connection
        found = connection.execute(
            "SELECT n.name, m.content FROM memories m JOIN namespaces n ON n.id = m.ns"
        )
        return [(str(name), str(content)) for name, content in found]


@pytest.fixture
def place(data: Path) -> Iterator[Place]:
    """An open place."""
    opened = Place(data)
    yield opened
    opened.store.close()


def test_trouble_with_the_grants_is_waited_out(place: Place, tmp_path: Path) -> None:
    """While grants.json is damaged or open to others events stay where they are."""
    place.put(tmp_path)
    place.grants.issue(namespaces={MINE: "admin"})
    whole = place.grants_file.read_bytes()
    place.grants_file.write_bytes(b"half a fi")
    assert (place.spool.take_in(), place.left()) == (0, ["01.json"])
    place.grants_file.write_bytes(whole)
    place.grants_file.chmod(0o644)
    assert (place.spool.take_in(), place.left()) == (0, ["01.json"])
    place.grants_file.chmod(0o600)
    os.utime(place.grants_file)
    assert (place.spool.take_in(), place.left()) == (1, [])
    assert [content for _, content in place.kept()] == [TEXT]


@pytest.mark.parametrize("fault", [FullDisk, StorageFault, OSError, MemoryError])
def test_trouble_with_the_store_is_waited_out(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    """Events that could not be written now are written at a later look."""
    place.put(tmp_path)

    def fail(*_: object) -> None:
        raise fault("not now")

    with monkeypatch.context() as patched:
        patched.setattr("recalld.daemon.intake.spool.dispatch.take", fail)
        assert (place.spool.take_in(), place.left()) == (0, ["01.json"])
    assert (place.spool.take_in(), place.left()) == (1, [])


def test_a_file_that_cannot_be_read_now_waits(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many open files or a failing disk say nothing about a file."""
    place.put(tmp_path)

    def fail(*_: object) -> bytes:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr("recalld.daemon.intake.spool.read_private", fail)
        assert (place.spool.take_in(), place.left()) == (0, ["01.json"])
    assert (place.spool.take_in(), place.left()) == (1, [])


NONSENSE: list[dict[str, object]] = [
    {"schema": 2},
    {"events": 7},
    {"events": [{}]},
    {"checkout": 7},
    {"extra": "x" * 270_000},
]


@pytest.mark.parametrize("more", NONSENSE)
def test_nonsense_is_set_aside(place: Place, tmp_path: Path, more: dict[str, object]) -> None:
    """A file that will never make sense is not tried again, and holds up no other."""
    place.put(tmp_path, "00", **more)
    place.put(tmp_path, "01")
    assert place.spool.take_in() == 1
    assert place.left() == ["00.refused"]


@pytest.mark.parametrize("content", ["{}", "[]", "null", "[" * 100_000])
def test_odd_json_is_set_aside(place: Place, content: str) -> None:
    """Neither a missing member nor endless nesting stops the others."""
    path = place.folder / "00.json"
    path.write_text(content)
    path.chmod(0o600)
    assert place.spool.take_in() == 0
    assert place.left() == ["00.refused"]


def test_a_folder_that_is_away_waits(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events of a folder that is not there wait for it, the others of the spool do not."""
    monkeypatch.setattr("recalld.daemon.intake.spool.HOMELESS_S", 0.0)
    monkeypatch.setattr("recalld.daemon.intake.spool.MOST_AT_ONCE", 1)
    away = tmp_path / "away"
    place.put(away, "00")
    place.put(tmp_path, "01")
    assert (place.spool.take_in(), place.left()) == (1, ["00.json"])
    assert (place.spool.take_in(), place.left()) == (0, ["00.json"])
    away.mkdir()
    assert (place.spool.take_in(), place.left()) == (1, [])


def test_a_folder_that_is_gone_has_the_namespace_of_its_grant(place: Place) -> None:
    """Work in a worktree that was removed since is remembered all the same."""
    place.grants.issue(namespaces={MINE: "admin"}, checkout="/no/such/folder")
    place.put(Path("/no/such/folder"))
    assert (place.spool.take_in(), place.left()) == (1, [])
    assert place.kept() == [(MINE, TEXT)]


def test_a_folder_is_not_waited_for_for_ever(place: Place) -> None:
    """After two weeks without their folder events are set aside."""
    path = place.put(Path("/no/such/folder"))
    old = time.time() - 15 * 86_400
    os.utime(path, (old, old))
    assert (place.spool.take_in(), place.left()) == (0, ["01.refused"])

"""Events wait as private files, bounded in number."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from recalld.auth.errors import UnsafePermissions
from recalld.auth.paths import Layout, layout
from recalld.client.hooks import journal, spool
from recalld.client.hooks.event import Event
from recalld.client.hooks.packing import packed

from tests.harness.jsontypes import JsonObject

PASSWORD = "correct-horse-9!battery"


@pytest.fixture
def place(data: Path) -> Layout:
    """The layout of the test's own data folder."""
    return layout({"RECALLD_HOME": str(data)})


def event(text: str) -> JsonObject:
    """A packed prompt event."""
    return packed(Event("prompt", "s-1", text=text), "claude-code")


def test_a_spooled_event_is_private_and_clean(place: Layout) -> None:
    """The file is 0600 in a 0700 folder and holds neither secrets nor private parts."""
    told = event(text=f"password={PASSWORD} <private>4711</private>")
    assert spool.put(place, "/work/api", told)
    (file,) = Path(spool.folder(place)).iterdir()
    assert file.name == f"{told['id']}.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    kept = json.loads(file.read_bytes())
    assert (kept["schema"], kept["checkout"]) == (1, "/work/api")
    assert kept["events"][0]["id"] == told["id"]
    assert PASSWORD not in file.read_text()
    assert "4711" not in file.read_text()


def test_a_full_spool_keeps_the_oldest_and_counts(
    place: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest events are dropped, and how many is on record."""
    monkeypatch.setattr(spool, "MOST_FILES", 3)
    told = [event(text=str(number)) for number in range(5)]
    kept = [spool.put(place, "/work/api", one) for one in told]
    assert kept == [True, True, True, False, False]
    folder = Path(spool.folder(place))
    assert {file.stem for file in folder.glob("*.json")} == {one["id"] for one in told[:3]}
    assert (folder / "dropped").stat().st_size == 2


def test_a_spool_that_others_can_read_is_not_used(place: Layout) -> None:
    """Nothing is written where another user could see it."""
    os.makedirs(spool.folder(place), mode=0o700)
    os.chmod(place.data, 0o700)
    os.chmod(spool.folder(place), 0o755)
    with pytest.raises(UnsafePermissions):
        spool.put(place, "/work/api", event(text="x"))


def test_a_folder_name_of_any_bytes_survives(place: Layout) -> None:
    """A checkout's path need not be UTF-8."""
    root = os.fsdecode(b"/work/caf\xe9")
    assert spool.put(place, root, event(text="x"))
    (file,) = Path(spool.folder(place)).iterdir()
    assert json.loads(file.read_bytes())["checkout"] == root


def test_the_log_is_capped_and_holds_no_text(
    place: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only names and reasons are noted, one line each, in two files of bounded size."""
    monkeypatch.setattr(journal, "MOST_BYTES", 2_000)
    for _ in range(100):
        journal.note(place, "codex", "Stop\n: my secret plan", "spooled:\nwhy " + "x" * 900)
    path = Path(journal.path(place))
    assert sum(file.stat().st_size for file in path.parent.glob("hooks.log*")) < 2 * 2_500
    assert "my secret plan" not in path.with_name("hooks.log.1").read_text()
    assert path.with_name("hooks.log.1").read_text().endswith("\n")

"""On whose behalf spooled events are kept, and whose are not let in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from recalld.auth import tokens
from recalld.auth.checkout import locate
from recalld.auth.grant import Grant

from tests.loop.test_spool import MINE, TEXT, Place

PAST = "2020-01-01T00:00:00Z"


@pytest.fixture
def place(data: Path) -> Iterator[Place]:
    """An open place."""
    opened = Place(data)
    yield opened
    opened.store.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that somebody works in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder.resolve()


def granted(place: Place, root: Path, role: str = "admin", expires: str | None = None) -> Grant:
    """The folder's grant, its token kept there as by the first use."""
    grant, token = place.grants.issue(
        namespaces={MINE: role}, checkout=str(root), expires_at=expires
    )
    tokens.write(str(root), str(place.folder.parent), token)
    return grant


def refused(place: Place) -> bool:
    """Whether the spool's one file was set aside, and nothing was stored."""
    return (place.spool.take_in(), place.left(), place.kept()) == (0, ["01.refused"], [])


def test_a_revoked_grant_does_not_write_through_the_spool(place: Place, root: Path) -> None:
    """What the daemon would refuse now, it refuses also when it comes by the spool."""
    place.grants.revoke(granted(place, root).id)
    place.put(root)
    assert refused(place)


@pytest.mark.parametrize(("role", "expires"), [("viewer", None), ("admin", PAST)])
@pytest.mark.parametrize("kept", [True, False])
def test_a_grant_that_may_not_write_lets_nothing_in(
    place: Place, root: Path, role: str, expires: str | None, *, kept: bool
) -> None:
    """Neither a viewer's events nor those of an expired grant are stored, token at hand or not."""
    granted(place, root, role, expires)
    if not kept:
        (root / ".recalld" / "token").unlink()
    place.put(root)
    assert refused(place)


def test_a_checkouts_events_go_where_its_grant_says(place: Place, root: Path) -> None:
    """As when they are delivered at once."""
    grant = granted(place, root)
    place.put(root)
    assert (place.spool.take_in(), place.left(), place.kept()) == (1, [], [(MINE, TEXT)])
    rows = place.store.reader().connection.execute("SELECT created_by FROM memories")
    assert [by for (by,) in rows] == [grant.id]


def test_a_copied_token_does_not_lead_back(place: Place, root: Path, tmp_path: Path) -> None:
    """A copy of a checkout has a namespace of its own, whatever token came along."""
    granted(place, root)
    copy = tmp_path / "copy"
    root.rename(copy)
    place.put(copy)
    assert place.spool.take_in() == 1
    assert place.kept() == [(locate(str(copy)).namespace, TEXT)]


def test_a_token_given_by_hand_decides(place: Place, root: Path) -> None:
    """Not the folder: under RECALLD_TOKEN no folder is claimed."""
    granted(place, root)
    _, token = place.grants.issue(namespaces={"org:team": "editor"})
    place.put(root, token_sha256=tokens.digest(token))
    assert place.spool.take_in() == 1
    assert place.kept() == [("org:team", TEXT)]


def test_an_unknown_token_given_by_hand_lets_nothing_in(place: Place, root: Path) -> None:
    """Not even into the folder's namespace, which the checkout's own grant could write."""
    granted(place, root)
    place.put(root, token_sha256=tokens.digest("rk_guess"))
    assert refused(place)


def test_a_token_that_others_can_read_is_waited_out(
    place: Place, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events are taken in when its mode has been mended."""
    monkeypatch.setattr("recalld.daemon.intake.spool.HOMELESS_S", 0.0)
    granted(place, root)
    place.put(root)
    (root / ".recalld" / "token").chmod(0o644)
    assert (place.spool.take_in(), place.left()) == (0, ["01.json"])
    (root / ".recalld" / "token").chmod(0o600)
    assert (place.spool.take_in(), place.left()) == (1, [])

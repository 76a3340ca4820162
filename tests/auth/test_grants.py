"""Grants: issued, verified, narrowed, ended, and safe in their file."""

from __future__ import annotations

import json
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from recalld.auth import tokens
from recalld.auth.errors import (
    DiskFull,
    GrantElsewhere,
    InvalidNamespace,
    InvalidRequest,
    NotFound,
    StoreDamaged,
    Unauthenticated,
    UnsafePermissions,
)
from recalld.auth.grants import Action, Grants, Role

NOW = 1_800_000_000.0
API = "project:api-0123abcd"
OWN = {API: "admin", "user:local": "editor"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the grants lie."""
    return tmp_path / "grants.json"


@pytest.fixture
def grants(file: Path) -> Grants:
    """An empty set of grants whose clock stands still."""
    return Grants(str(file), clock=lambda: NOW)


def verify(grants: Grants, token: str, checkout: str | None = None) -> str:
    """The id of the token's grant."""
    return grants.verify(token, checkout=checkout, now=NOW).id


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (Role.VIEWER, {"read"}),
        (Role.EDITOR, {"read", "write"}),
        (Role.ADMIN, {"read", "write", "administer"}),
    ],
)
def test_each_role_includes_the_one_before(role: Role, allowed: set[str]) -> None:
    """Viewers read, editors also write, admins also administer."""
    actions: list[Action] = ["read", "write", "administer"]
    assert {action for action in actions if role.allows(action)} == allowed


def test_an_issued_token_is_known(grants: Grants) -> None:
    """The token opens exactly what was asked for."""
    grant, token = grants.issue(namespaces=OWN, checkout="/home/u/api", label="api")
    assert grants.verify(token, checkout="/home/u/api", now=NOW) == grant
    assert grants.list() == (grant,)
    assert grant.namespaces == {API: Role.ADMIN, "user:local": Role.EDITOR}
    assert (grant.checkout, grant.label, grant.expires_at) == ("/home/u/api", "api", None)
    assert grant.created_at == "2027-01-15T08:00:00.000Z"


def test_a_grant_says_what_it_reaches(grants: Grants) -> None:
    """Rights follow the roles; a namespace that was not granted allows nothing."""
    wanted = {"default": "viewer", "user:local": "editor", API: "admin"}
    grant, _ = grants.issue(namespaces=wanted)
    assert grant.reach("read") == ("default", "user:local", API)
    assert grant.reach("write") == ("user:local", API)
    assert grant.allows(API, "administer")
    assert not grant.allows("default", "write")
    assert not grant.allows("org:acme", "read")


@pytest.mark.parametrize(
    ("wanted", "home"),
    [
        ({"user:local": "editor", API: "editor"}, API),
        ({"user:local": "editor", API: "viewer"}, "user:local"),
        ({API: "viewer"}, None),
    ],
)
def test_writes_without_a_namespace_have_a_home(
    grants: Grants, wanted: dict[str, str], home: str | None
) -> None:
    """The first writable project, else the first writable namespace, else nowhere."""
    grant, _ = grants.issue(namespaces=wanted)
    assert grant.home() == home


def test_the_file_holds_no_token(grants: Grants, file: Path) -> None:
    """Only the digest is kept, in a file only the owner reads."""
    _, token = grants.issue(namespaces=OWN)
    text = file.read_text()
    assert token not in text
    assert token[3:] not in text
    assert tokens.digest(token) in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_another_token_is_unknown(grants: Grants) -> None:
    """Near misses are as wrong as anything else, and the digest is no token."""
    _, token = grants.issue(namespaces=OWN)
    for wrong in ("", token + "\n", " " + token, token[:-1], token.upper(), tokens.digest(token)):
        with pytest.raises(Unauthenticated):
            verify(grants, wrong)


def test_a_grant_is_bound_to_its_checkout(grants: Grants) -> None:
    """Elsewhere it is refused; without a checkout named, or bound to none, it is not."""
    grant, token = grants.issue(namespaces=OWN, checkout="/home/u/api")
    free, loose = grants.issue(namespaces=OWN)
    with pytest.raises(GrantElsewhere, match="/home/u/api"):
        verify(grants, token, "/home/u/copy")
    assert verify(grants, token) == grant.id
    assert verify(grants, loose, "/home/u/copy") == free.id


def test_an_expired_token_is_as_unknown_as_any(grants: Grants) -> None:
    """It works up to its last millisecond, and the answer afterwards tells nothing more."""
    _, token = grants.issue(namespaces=OWN, expires_at="2027-01-15T09:00:00+00:30")
    until = NOW + 30 * 60
    grants.verify(token, checkout=None, now=until - 0.001)
    with pytest.raises(Unauthenticated) as expired:
        grants.verify(token, checkout=None, now=until)
    with pytest.raises(Unauthenticated) as unknown:
        verify(grants, "rk_x")
    assert expired.value.to_wire() == unknown.value.to_wire()


def test_a_revoked_token_is_worth_nothing(grants: Grants) -> None:
    """Revoking ends one grant and no other, and can't be done twice."""
    grant, token = grants.issue(namespaces=OWN)
    other, kept = grants.issue(namespaces=OWN)
    assert grants.revoke(grant.id) == grant
    with pytest.raises(Unauthenticated):
        verify(grants, token)
    assert verify(grants, kept) == other.id
    with pytest.raises(NotFound):
        grants.revoke(grant.id)


def test_rotation_keeps_the_grant_and_ends_the_old_token(grants: Grants) -> None:
    """Everything but the token stays, the place in the list included."""
    grant, token = grants.issue(namespaces=OWN, checkout="/c", label="x")
    grants.issue(namespaces=OWN)
    rotated, fresh = grants.rotate(grant.id)
    assert verify(grants, fresh) == grant.id == grants.list()[0].id
    with pytest.raises(Unauthenticated):
        verify(grants, token)
    assert (rotated.namespaces, rotated.checkout, rotated.label) == (OWN, "/c", "x")
    with pytest.raises(NotFound):
        grants.rotate("g_absent")


def test_a_replaced_file_is_noticed_before_it_is_needed(grants: Grants, file: Path) -> None:
    """Whoever may not wait for a file can ask first, and have it read elsewhere."""
    _, token = grants.issue(namespaces=OWN)
    reader = Grants(str(file))
    assert not reader.is_current()
    reader.refresh()
    assert reader.is_current()
    assert verify(reader, token)
    grants.issue(namespaces=OWN)
    assert grants.is_current()
    assert not reader.is_current()


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ({}, InvalidRequest),
        ({"Org:Acme": "viewer"}, InvalidNamespace),
        ({"org:acme": "owner"}, InvalidRequest),
    ],
)
def test_impossible_rights_are_refused(
    grants: Grants, file: Path, wanted: dict[str, str], error: type[Exception]
) -> None:
    """No namespace, no such namespace or no such role: nothing is written."""
    with pytest.raises(error):
        grants.issue(namespaces=wanted)
    assert not file.exists()


@pytest.mark.parametrize(
    "until", ["", "tomorrow", "2027-01-15T09:00:00", "0001-01-01T00:00:00+14:00"]
)
def test_an_impossible_expiry_is_refused(grants: Grants, file: Path, until: str) -> None:
    """A time without a zone would mean another moment on another machine."""
    with pytest.raises(InvalidRequest, match="not a point in time"):
        grants.issue(namespaces=OWN, expires_at=until)
    assert not file.exists()


def test_an_impossible_checkout_or_label_is_refused(grants: Grants, file: Path) -> None:
    """Checkouts are absolute paths, labels are short."""
    with pytest.raises(InvalidRequest, match="absolute"):
        grants.issue(namespaces=OWN, checkout="relative")
    with pytest.raises(InvalidRequest, match="200 characters"):
        grants.issue(namespaces=OWN, label="x" * 201)
    assert not file.exists()


def test_grants_survive_a_restart(grants: Grants, file: Path) -> None:
    """A new process knows what the old one issued."""
    grant, token = grants.issue(
        namespaces=OWN, checkout="/bad\udcff", label="ü", expires_at="2030-01-01T00:00:00Z"
    )
    assert Grants(str(file)).verify(token, checkout="/bad\udcff", now=NOW) == grant


def test_a_file_replaced_by_hand_is_noticed(grants: Grants, file: Path) -> None:
    """A restored backup counts from the next request on."""
    grant, token = grants.issue(namespaces=OWN)
    backup = file.read_bytes()
    grants.revoke(grant.id)
    file.write_bytes(backup)
    assert verify(grants, token) == grant.id


def test_an_unchanged_file_is_not_read_again(
    grants: Grants, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests cost a stat, and our own writes are known without reading them back."""
    grant, token = grants.issue(namespaces=OWN)

    def refuse(*_args: object) -> bytes:
        raise AssertionError("read again")

    monkeypatch.setattr("recalld.auth.grants.read_private", refuse)
    assert verify(grants, token) == grant.id
    grants.rotate(grant.id)


def entry(**changes: object) -> dict[str, object]:
    """One grant as the file holds it."""
    return {
        "id": "g_1",
        "token_sha256": "ab" * 32,
        "namespaces": {API: "admin"},
        "checkout": None,
        "created_at": "2027-01-15T08:00:00.000Z",
        "expires_at": None,
        "label": "",
        **changes,
    }


def holding(*entries: object) -> bytes:
    """A file of these entries."""
    return json.dumps({"schema": 1, "grants": entries}).encode()


DAMAGED = [
    b"",
    b"{",
    b"[]",
    b"\xff",
    b"[" * 100_000,
    b'{"schema": 1}',
    b'{"schema": 2, "grants": []}',
    holding(7),
    holding({}),
    holding(entry(id=None)),
    holding(entry(token_sha256="ab")),
    holding(entry(namespaces={})),
    holding(entry(namespaces=[API])),
    holding(entry(namespaces={API: "owner"})),
    holding(entry(namespaces={"*": "admin"})),
    holding(entry(namespaces={API: None})),
    holding(entry(checkout=7)),
    holding(entry(expires_at="soon")),
    holding(entry(), entry(id="g_2")),
    holding(entry(), entry(token_sha256="cd" * 32)),
]


def shortened(content: object) -> str:
    """A test's name from the file it is given."""
    return str(content)[:160]


@pytest.mark.parametrize("content", DAMAGED, ids=shortened)
def test_a_damaged_file_is_refused_and_kept(grants: Grants, file: Path, content: bytes) -> None:
    """Neither requests nor changes take it for an empty set, and no byte of it is lost."""
    file.write_bytes(content)
    file.chmod(0o600)
    for attempt in (
        lambda: verify(grants, "rk_x"),
        lambda: grants.issue(namespaces=OWN),
        lambda: grants.revoke("g_1"),
        grants.list,
    ):
        with pytest.raises(StoreDamaged, match=r"grants\.json does not hold together"):
            attempt()
    assert file.read_bytes() == content


def test_a_whole_entry_is_accepted(grants: Grants, file: Path) -> None:
    """What the damaged cases differ from is fine itself."""
    file.write_bytes(holding(entry()))
    file.chmod(0o600)
    assert [grant.id for grant in grants.list()] == ["g_1"]


def test_a_file_that_disappears_is_not_taken_for_an_empty_one(grants: Grants, file: Path) -> None:
    """While anybody holds a grant, a missing file is damage: nothing is verified or written."""
    grant, token = grants.issue(namespaces=OWN)
    kept = file.rename(file.with_suffix(".away"))
    for attempt in (
        lambda: verify(grants, token),
        grants.list,
        lambda: grants.issue(namespaces=OWN),
        lambda: grants.revoke(grant.id),
    ):
        with pytest.raises(StoreDamaged):
            attempt()
    assert not file.exists()
    kept.rename(file)
    assert verify(grants, token) == grant.id
    grants.revoke(grant.id)
    file.unlink()
    assert grants.list() == ()


def test_an_open_file_is_refused(grants: Grants, file: Path) -> None:
    """Grants others could read are an error with a remedy."""
    _, token = grants.issue(namespaces=OWN)
    file.chmod(0o640)
    with pytest.raises(UnsafePermissions, match="mode 640"):
        verify(Grants(str(file)), token)


def test_a_full_disk_changes_nothing(
    grants: Grants, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that could not be written is not in force either."""
    grant, token = grants.issue(namespaces=OWN)
    before = file.read_bytes()

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        grants.revoke(grant.id)
    assert file.read_bytes() == before
    assert verify(grants, token) == grant.id


def test_concurrent_changes_are_all_kept(grants: Grants, file: Path) -> None:
    """Threads that issue and revoke at once lose none of each other's changes."""
    doomed = [grants.issue(namespaces=OWN)[0].id for _ in range(10)]
    with ThreadPoolExecutor(8) as pool:
        issued = [pool.submit(grants.issue, namespaces=OWN) for _ in range(30)]
        list(pool.map(grants.revoke, doomed))
    tokens_issued = [future.result()[1] for future in issued]
    for book in (grants, Grants(str(file))):
        assert len({verify(book, token) for token in tokens_issued}) == 30
        assert len(book.list()) == 30


def seconds_for_lookups(file: Path, count: int) -> float:
    """The time 500 lookups take among `count` grants."""
    made = [entry(id=f"g_{i}", token_sha256=tokens.digest(f"rk_{i}")) for i in range(count)]
    file.write_bytes(holding(*made))
    file.chmod(0o600)
    grants = Grants(str(file))
    assert verify(grants, f"rk_{count - 1}") == f"g_{count - 1}"
    begin = time.perf_counter()
    for _ in range(500):
        verify(grants, f"rk_{count - 1}")
    return time.perf_counter() - begin


def test_many_grants_cost_no_more_than_few(file: Path) -> None:
    """With 20,000 grants a lookup is still one dict access; a scan would be 2,000 times a few's."""
    assert seconds_for_lookups(file, 20_000) < 50 * seconds_for_lookups(file, 10)

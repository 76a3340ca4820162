"""`recalld grant`: a token is put where it belongs, or shown, but never lost."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.harness.checkouts import Checkouts
from tests.harness.cli import Cli
from tests.harness.jsontypes import JsonObject, checked
from tests.harness.waiting import eventually


def grant_of(recalld: Cli, checkout: Path) -> JsonObject:
    """The grant of a checkout, as it is listed."""
    grants = recalld.json("grant", "list")["grants"]
    (found,) = [one for one in grants if one["checkout"] == str(checkout)]
    return checked(found)


def test_a_rotated_token_is_put_in_its_checkout(recalld: Cli, checkout: Checkouts) -> None:
    """After a rotation the checkout works on without a new grant."""
    here = checkout("one")
    recalld.ok("store", "before", cwd=here)
    before = grant_of(recalld, here)
    recalld.ok("grant", "rotate", before["id"])
    assert "before" in recalld.ok("list", cwd=here)
    after = grant_of(recalld, here)
    assert (after["id"], after["fingerprint"] == before["fingerprint"]) == (before["id"], False)


def test_a_grant_whose_checkout_is_gone_is_not_rotated(recalld: Cli, checkout: Checkouts) -> None:
    """There is nowhere to put a new token, so the old one stays what it is."""
    here = checkout("one")
    recalld.ok("store", "before", cwd=here)
    before = grant_of(recalld, here)
    shutil.rmtree(here)
    done = recalld("grant", "rotate", before["id"])
    assert done.returncode == 66
    assert f"recalld grant revoke {before['id']}" in done.stderr
    assert grant_of(recalld, here) == before


def test_a_token_that_cannot_be_kept_is_shown(recalld: Cli, checkout: Checkouts) -> None:
    """When the checkout's folder will not take the new token it is printed: the old one is gone."""
    here = checkout("one")
    recalld.ok("store", "before", cwd=here)
    before = grant_of(recalld, here)
    shutil.rmtree(here / ".recalld")
    (here / ".recalld").symlink_to(here)
    done = recalld("grant", "rotate", before["id"])
    assert done.returncode == 78
    assert "shown this once" in done.stderr
    token = done.stdout.strip()
    assert token.startswith("rk_")
    shown = recalld("list", env={"RECALLD_TOKEN": token})
    assert "before" in shown.stdout, shown.stderr


def test_issuing_what_is_there_replaces_nothing(recalld: Cli) -> None:
    """A checkout that has what is asked for keeps its token, and is told how to get another."""
    recalld.ok("store", "before")
    (before,) = recalld.json("grant", "list")["grants"]
    done = recalld("grant", "issue")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Already granted: {before['id']} for ")
    assert f"recalld grant rotate {before['id']}" in done.stderr
    assert recalld.json("grant", "issue", "--namespace", "user:local")["id"] == before["id"]
    assert recalld.json("grant", "list")["grants"] == [before]


def test_replacing_a_grant_says_so(recalld: Cli) -> None:
    """Asking for more makes a new token, and one line says which old one stopped working."""
    recalld.ok("store", "before")
    (before,) = recalld.json("grant", "list")["grants"]
    done = recalld("grant", "issue", "--namespace", "org:acme")
    assert done.returncode == 0
    assert f"replaces {before['id']}" in done.stderr
    assert str(before["fingerprint"]) in done.stderr
    (after,) = recalld.json("grant", "list")["grants"]
    told = recalld.json("grant", "issue", "--namespace", "org:other")
    assert told["replaced"] == after["id"] != before["id"]


def test_an_expired_grant_is_replaced(recalld: Cli) -> None:
    """A token that is worth nothing any more is no reason to refuse a new one."""
    recalld.ok("grant", "issue", "--expires", "1s")
    eventually(lambda: recalld("list").returncode == 77, within=10)
    recalld.ok("grant", "issue")
    recalld.ok("list")


def test_an_end_is_ahead(recalld: Cli) -> None:
    """`--expires 30d` is in thirty days, and a day that is over is refused."""
    recalld.ok("grant", "issue", "--anywhere", "--namespace", "org:acme", "--expires", "30d")
    (grant,) = recalld.json("grant", "list")["grants"]
    assert grant["expires_at"] > grant["created_at"]
    over = recalld("grant", "issue", "--expires", "2020-01-01")
    assert over.returncode == 64
    assert "is over" in over.stderr

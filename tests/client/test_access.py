"""How a checkout gets its token, keeps it, loses it, and asks for more."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.harness.checkouts import Checkouts
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon


def token_of(root: Path) -> str:
    """The token a checkout keeps."""
    return (root / ".recalld" / "token").read_text().strip()


def grants(recalld: Cli) -> list[dict[str, object]]:
    """All grants there are."""
    found: list[dict[str, object]] = recalld.json("grant", "list")["grants"]
    return found


def test_the_first_use_says_so_in_one_line(recalld: Cli, daemon: Daemon) -> None:
    """The grant is minted once, visibly, and covers the checkout's own namespace and the user's."""
    assert daemon.published
    first = recalld("store", "hello")
    assert first.stderr.count("\n") == 1
    assert f"granted {recalld.cwd}" in first.stderr
    assert recalld("store", "again").stderr == ""
    namespace = recalld.json("where")["namespace"]
    (only,) = grants(recalld)
    assert only["namespaces"] == {namespace: "admin", "user:local": "editor"}
    assert (recalld.cwd / ".recalld" / "token").stat().st_mode & 0o777 == 0o600
    assert not recalld.cwd.joinpath(".git").is_file()


def test_two_first_uses_mint_one_grant(recalld: Cli, daemon: Daemon) -> None:
    """Verbs that meet at an unused checkout agree on one grant."""
    assert daemon.published
    crowd = [recalld.start("store", f"note {number}") for number in range(5)]
    said = [verb.communicate(timeout=30) for verb in crowd]
    assert [verb.returncode for verb in crowd] == [0] * 5, said
    assert sum("granted" in stderr for _, stderr in said) == 1
    assert len(grants(recalld)) == 1


def test_a_copied_checkout_gets_its_own_grant(recalld: Cli, tmp_path: Path) -> None:
    """A copy brings the token along, but it does not open the original's memories."""
    recalld.ok("store", "only for the original")
    copy = tmp_path / "copy"
    shutil.copytree(recalld.cwd, copy)
    done = recalld("recall", "original", cwd=copy)
    assert done.returncode == 0, done.stderr
    assert "only for the original" not in done.stdout
    assert f"granted {copy}" in done.stderr
    assert token_of(copy) != token_of(recalld.cwd)
    assert "only for the original" in recalld.ok("recall", "original")


def test_a_revoked_grant_stays_revoked(recalld: Cli) -> None:
    """No verb replaces a revoked token by itself; the owner can, by name."""
    recalld.ok("store", "hello")
    (only,) = grants(recalld)
    recalld.ok("grant", "revoke", str(only["id"]))
    done = recalld("recall", "hello")
    assert done.returncode == 77, done
    assert "recalld grant issue" in done.stderr
    assert grants(recalld) == []
    recalld.ok("grant", "issue")
    assert "hello" in recalld.ok("recall", "hello")


def test_issue_widens_and_replaces(recalld: Cli) -> None:
    """Asking for a namespace keeps what was covered, and leaves one grant for the checkout."""
    recalld.ok("store", "hello")
    assert recalld("store", "x", "--namespace", "org:acme").returncode == 77
    recalld.ok("grant", "issue", "--namespace", "org:acme", "--label", "wider")
    recalld.ok("store", "for acme", "--namespace", "org:acme")
    recalld.ok("grant", "issue", "--namespace", "org:other=viewer")
    (only,) = grants(recalld)
    covered = only["namespaces"]
    assert isinstance(covered, dict)
    assert covered["org:acme"] == "editor"
    assert covered["org:other"] == "viewer"
    assert recalld("store", "x", "--namespace", "org:other").returncode == 77
    assert "hello" in recalld.ok("recall", "hello")


def test_a_token_for_anywhere_is_shown_once(recalld: Cli, tmp_path: Path) -> None:
    """A tool's token covers only what is named, works from anywhere, and is never listed."""
    recalld.ok("store", "for acme too")
    token = recalld.ok("grant", "issue", "--anywhere", "--namespace", "org:acme").strip()
    assert token.startswith("rk_")
    assert token not in recalld.ok("grant", "list")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = recalld("store", "by a tool", "--json", cwd=elsewhere, env={"RECALLD_TOKEN": token})
    assert json.loads(done.stdout)["namespace"] == "org:acme"
    assert done.stderr == ""
    assert not (elsewhere / ".recalld").exists()
    wrong = recalld("recall", "x", env={"RECALLD_TOKEN": "rk_nonsense"})
    assert wrong.returncode == 77
    assert "RECALLD_TOKEN" in wrong.stderr


def test_rotation_puts_the_new_token_in_place(recalld: Cli) -> None:
    """After a rotation the checkout goes on, and the old token is worth nothing."""
    recalld.ok("store", "hello")
    old = token_of(recalld.cwd)
    (only,) = grants(recalld)
    said = recalld.ok("grant", "rotate", str(only["id"]))
    assert token_of(recalld.cwd) != old
    assert old not in said
    assert "hello" in recalld.ok("recall", "hello")
    assert recalld("recall", "hello", env={"RECALLD_TOKEN": old}).returncode == 77


def test_a_pinned_namespace_needs_the_owner(recalld: Cli) -> None:
    """A repository cannot choose whose memory it writes to; the owner can let it."""
    recalld.ok("store", "hello")
    pin = recalld.cwd / ".recalld" / "config.toml"
    pin.write_text('namespace = "org:acme"\n')
    done = recalld("store", "pinned")
    assert done.returncode == 77, done
    assert "recalld grant issue --namespace org:acme" in done.stderr
    recalld.ok("grant", "issue", "--namespace", "org:acme")
    assert recalld.json("store", "pinned")["namespace"] == "org:acme"
    own = recalld.json("where")["namespace"]
    assert recalld.json("store", "mine", "--namespace", str(own))["namespace"] == own
    pin.write_text('namespace = "user:local"\n')
    assert recalld("store", "pinned").returncode == 77


def test_other_checkouts_stay_apart(recalld: Cli, checkout: Checkouts) -> None:
    """What one project stores another never sees; worktrees of one project share."""
    recalld.ok("store", "the secret of the first project")
    other = checkout("other")
    assert "secret" not in recalld.ok("recall", "secret of the first project", cwd=other)
    worktree = recalld.cwd.parent / "worktree"
    checkout.git(recalld.cwd, "worktree", "add", "--quiet", str(worktree))
    assert "secret" in recalld.ok("recall", "secret of the first project", cwd=worktree)

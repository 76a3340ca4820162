"""The token of a checkout: made, kept where git and others don't see it, found again."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

import pytest
from recalld.auth import tokens
from recalld.auth.errors import StorageTrouble, UnsafePermissions

from tests.harness.checkouts import Checkouts

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def mode(path: Path) -> int:
    """The permission bits of a file."""
    return stat.S_IMODE(path.lstat().st_mode)


def test_tokens_are_random_and_safe_to_carry() -> None:
    """256 bits each, in characters that need no escaping in a header or a file."""
    made = {tokens.mint() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"rk_[A-Za-z0-9_-]{43}", token) for token in made)


def test_a_fingerprint_does_not_give_the_token_away() -> None:
    """It is the beginning of the digest, the same one for the same token."""
    token = tokens.mint()
    assert re.fullmatch(r"[0-9a-f]{64}", tokens.digest(token))
    assert tokens.digest(token).startswith(tokens.fingerprint(token))
    assert len(tokens.fingerprint(token)) == 8
    assert tokens.digest(token) != tokens.digest(token + "\n")


def test_any_text_has_a_digest() -> None:
    """A header may hold anything; broken surrogates included."""
    assert len(tokens.digest("\udcff")) == 64


def test_a_token_is_kept_in_the_checkout(checkout: Checkouts, data: Path) -> None:
    """The file is 0600 in a 0700 folder, is found again, and git sees nothing of it."""
    root = checkout()
    token = tokens.mint()
    assert tokens.read(str(root), str(data)) is None
    path = tokens.write(str(root), str(data), token)
    assert path == str(root / ".recalld" / "token")
    assert tokens.read(str(root), str(data)) == token
    assert (mode(root / ".recalld"), mode(Path(path))) == (0o700, 0o600)
    assert checkout.git(root, "status", "--porcelain", "--untracked-files=all") == ""
    assert not data.exists()


def test_looking_creates_nothing(checkout: Checkouts, data: Path) -> None:
    """A read leaves checkout and data folder as they were."""
    root = checkout()
    tokens.read(str(root), str(data))
    assert not (root / ".recalld").exists()
    assert not data.exists()


def test_a_newer_token_replaces_the_older(checkout: Checkouts, data: Path) -> None:
    """After rotation the new token is the one found."""
    root = str(checkout())
    tokens.write(root, str(data), tokens.mint())
    token = tokens.mint()
    tokens.write(root, str(data), token)
    assert tokens.read(root, str(data)) == token


@pytest.mark.parametrize("rules", ["", "!token\n", "*\n!token", "*\n!t*\n", "# *"])
def test_a_teams_own_ignore_rules_do_not_expose_the_token(
    checkout: Checkouts, data: Path, rules: str
) -> None:
    """A committed .recalld folder keeps its rules, with ours after them: the last match decides."""
    root = checkout()
    folder = root / ".recalld"
    folder.mkdir(mode=0o755)
    (folder / ".gitignore").write_text(rules)
    (folder / "config.toml").write_text("")
    checkout.git(root, "add", "--force", ".recalld")
    checkout.git(root, "commit", "--quiet", "--message=Share settings")
    tokens.write(str(root), str(data), tokens.mint())
    checkout.git(root, "add", "--all")
    tracked = checkout.git(root, "ls-files", ".recalld").split()
    assert tracked == [".recalld/.gitignore", ".recalld/config.toml"]
    assert (folder / ".gitignore").read_text().startswith(rules)
    assert mode(folder) == 0o700


@pytest.mark.parametrize("rules", ["*\n!config.toml\n", "/token\n", "# ours\n!token\ntoken"])
def test_ignore_rules_that_hide_the_token_are_left_alone(
    checkout: Checkouts, data: Path, rules: str
) -> None:
    """A team that did it right sees no change to its file."""
    root = checkout()
    (root / ".recalld").mkdir()
    (root / ".recalld" / ".gitignore").write_text(rules)
    tokens.write(str(root), str(data), tokens.mint())
    assert (root / ".recalld" / ".gitignore").read_text() == rules
    checkout.git(root, "check-ignore", ".recalld/token")


def test_repeated_writes_leave_the_ignore_rules_alone(checkout: Checkouts, data: Path) -> None:
    """Our rule is added once."""
    root = checkout()
    for _ in range(3):
        tokens.write(str(root), str(data), tokens.mint())
    assert (root / ".recalld" / ".gitignore").read_text() == "*\n"


def test_a_linked_folder_is_refused(checkout: Checkouts, data: Path, tmp_path: Path) -> None:
    """A cloned repository can bring `.recalld` along as a link to anywhere."""
    root, elsewhere = checkout(), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / ".recalld").symlink_to(elsewhere)
    with pytest.raises(UnsafePermissions, match="symbolic link"):
        tokens.write(str(root), str(data), tokens.mint())
    with pytest.raises(UnsafePermissions, match="symbolic link"):
        tokens.read(str(root), str(data))
    assert list(elsewhere.iterdir()) == []


def test_a_file_in_the_folders_place_is_an_error(checkout: Checkouts, data: Path) -> None:
    """It is named, and nothing of the user's is overwritten."""
    root = checkout()
    (root / ".recalld").write_text("mine")
    with pytest.raises(StorageTrouble, match=r"\.recalld"):
        tokens.write(str(root), str(data), tokens.mint())
    assert (root / ".recalld").read_text() == "mine"


def test_linked_files_inside_are_not_followed(
    checkout: Checkouts, data: Path, tmp_path: Path
) -> None:
    """Planted links for token and .gitignore are replaced on writing and refused on reading."""
    root, target = checkout(), tmp_path / "target"
    target.write_text("precious")
    target.chmod(0o600)
    (root / ".recalld").mkdir()
    for name in ("token", ".gitignore"):
        (root / ".recalld" / name).symlink_to(target)
    with pytest.raises(UnsafePermissions, match="symbolic link"):
        tokens.read(str(root), str(data))
    tokens.write(str(root), str(data), tokens.mint())
    assert target.read_text() == "precious"
    assert (root / ".recalld" / ".gitignore").read_text() == "*\n"


def test_an_open_token_file_is_refused(checkout: Checkouts, data: Path) -> None:
    """The error carries the command that closes it."""
    root = checkout()
    path = tokens.write(str(root), str(data), tokens.mint())
    os.chmod(path, 0o644)
    with pytest.raises(UnsafePermissions, match="mode 644") as refused:
        tokens.read(str(root), str(data))
    assert refused.value.hint == f"Run: chmod 600 {path}"


@needs_root
def test_someone_elses_token_file_is_refused(checkout: Checkouts, data: Path) -> None:
    """A token planted by another user is not presented as ours."""
    root = checkout()
    path = tokens.write(str(root), str(data), tokens.mint())
    os.chown(path, 4711, -1)
    with pytest.raises(UnsafePermissions, match="belongs to user 4711"):
        tokens.read(str(root), str(data))


@needs_root
def test_users_who_share_a_checkout_have_a_token_each(checkout: Checkouts, data: Path) -> None:
    """Where `.recalld` is another user's, ours lies in the data folder."""
    root = checkout()
    (root / ".recalld").mkdir()
    os.chown(root / ".recalld", 4711, -1)
    token = tokens.mint()
    path = tokens.write(str(root), str(data), token)
    assert path.startswith(str(data / "tokens"))
    assert tokens.read(str(root), str(data)) == token
    assert list((root / ".recalld").iterdir()) == []


@pytest.mark.parametrize("reason", [errno.EROFS, errno.EACCES])
def test_a_read_only_checkout_keeps_its_token_in_the_data_folder(
    checkout: Checkouts, data: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    """The fallback is private, one file a root, and found again."""
    root, other = str(checkout()), str(checkout("other"))
    make = os.mkdir

    def refuse(path: str, mode: int = 0o777) -> None:
        if path.endswith(".recalld"):
            raise OSError(reason, os.strerror(reason))
        make(path, mode)

    monkeypatch.setattr(os, "mkdir", refuse)
    token = tokens.mint()
    path = Path(tokens.write(root, str(data), token))
    assert path.parent == data / "tokens"
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert tokens.read(root, str(data)) == token
    assert tokens.read(other, str(data)) is None

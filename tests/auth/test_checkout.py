"""Which folders are the same project, decided with real repositories."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from recalld.auth import checkout as checkouts
from recalld.auth import tokens
from recalld.auth.checkout import locate
from recalld.auth.errors import (
    GrantElsewhere,
    InvalidNamespace,
    InvalidRequest,
    InvalidSettings,
    UnsafePermissions,
)
from recalld.auth.grants import Grants
from recalld.auth.namespaces import project_namespace

from tests.harness.checkouts import Checkouts


def namespace(folder: Path) -> str:
    """The namespace of a folder."""
    return locate(str(folder)).namespace


def by_place(folder: Path) -> bool:
    """Whether the folder is a project of its own, for nothing but where it lies."""
    found = locate(str(folder))
    real = os.path.realpath(folder)
    return (found.root, found.identity, found.namespace) == (real, real, project_namespace(real))


def test_folders_of_one_name_are_different_projects(checkout: Checkouts) -> None:
    """~/a/api and ~/b/api share a slug and nothing else."""
    one, other = namespace(checkout("a/api")), namespace(checkout("b/api"))
    assert one.startswith("project:api-")
    assert other.startswith("project:api-")
    assert one != other


def test_a_sub_folder_belongs_to_its_checkout(checkout: Checkouts) -> None:
    """However deep one works, root and namespace are the checkout's."""
    root = checkout("api")
    deep = root / "src" / "deep"
    deep.mkdir(parents=True)
    assert locate(str(deep)) == locate(str(root))
    assert locate(str(deep)).root == os.path.realpath(root)


def test_a_symlink_leads_to_the_same_project(checkout: Checkouts, tmp_path: Path) -> None:
    """A link to a checkout, or into it, is that checkout."""
    root = checkout("api")
    (root / "src").mkdir()
    (tmp_path / "link").symlink_to(root)
    (tmp_path / "inner").symlink_to(root / "src")
    assert locate(str(tmp_path / "link")) == locate(str(root))
    assert locate(str(tmp_path / "inner")) == locate(str(root))


def test_linked_worktrees_share_the_namespace(checkout: Checkouts, tmp_path: Path) -> None:
    """A linked worktree has a root of its own and the main checkout's identity, also below it."""
    root = checkout("api")
    linked = tmp_path / "elsewhere" / "feature"
    checkout.git(root, "worktree", "add", "--quiet", "--detach", str(linked))
    (linked / "src").mkdir()
    found = locate(str(linked / "src"))
    assert found.root == os.path.realpath(linked)
    assert found.identity == os.path.realpath(root)
    assert found.namespace == namespace(root)
    assert "worktree" in found.reason


def test_a_bare_repository_and_its_worktrees_are_one_project(
    checkout: Checkouts, tmp_path: Path
) -> None:
    """The bare folder itself is the identity; its worktrees share it."""
    bare = tmp_path / "api.git"
    checkout.git(tmp_path, "clone", "--quiet", "--bare", str(checkout("api")), str(bare))
    linked = tmp_path / "linked"
    checkout.git(bare, "worktree", "add", "--quiet", "--detach", str(linked))
    assert by_place(bare)
    assert locate(str(bare / "refs")) == locate(str(bare))
    assert locate(str(linked)).identity == os.path.realpath(bare)
    assert namespace(linked) == namespace(bare) != namespace(checkout("api"))


def test_a_submodule_is_a_project_of_its_own(checkout: Checkouts, tmp_path: Path) -> None:
    """Its git dir inside the outer repository is the identity, which its worktrees share."""
    outer = checkout("outer")
    allowed = ("-c", "protocol.file.allow=always")
    source = str(checkout("lib"))
    checkout.git(outer, *allowed, "submodule", "--quiet", "add", source, 'libs/a "lib"')
    inner = outer / "libs" / 'a "lib"'
    linked = tmp_path / "linked"
    checkout.git(inner, "worktree", "add", "--quiet", "--detach", str(linked))
    found = locate(str(inner))
    assert found.root == os.path.realpath(inner)
    assert found.identity == os.path.realpath(outer / ".git" / "modules" / "libs" / 'a "lib"')
    assert namespace(linked) == found.namespace != namespace(outer)
    assert "submodule" in found.reason


def test_inside_the_git_dir_it_is_the_checkout(checkout: Checkouts, tmp_path: Path) -> None:
    """Git hooks may run inside .git; they belong to the checkout above."""
    root = checkout("api")
    checkout.git(root, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    assert locate(str(root / ".git")) == locate(str(root))
    assert locate(str(root / ".git" / "hooks")) == locate(str(root))
    assert locate(str(root / ".git" / "worktrees" / "linked")) == locate(str(root))


def test_a_nested_repository_is_a_project_of_its_own(checkout: Checkouts) -> None:
    """The nearest repository decides."""
    assert namespace(checkout("outer/inner")) != namespace(checkout("outer"))


def test_a_moved_checkout_is_a_new_project(checkout: Checkouts, tmp_path: Path) -> None:
    """The place decides, so after `mv` the namespace is another one, and back again the old one."""
    root = checkout("api")
    before = namespace(root)
    moved = tmp_path / "moved" / "api"
    moved.parent.mkdir()
    root.rename(moved)
    assert namespace(moved) != before
    moved.rename(root)
    assert namespace(root) == before


def test_a_copied_checkout_cannot_use_the_copied_token(checkout: Checkouts, tmp_path: Path) -> None:
    """`cp -r` takes the token along, but the grant is bound to the original's place."""
    data = str(tmp_path / "data")
    root = checkout("api")
    grants = Grants(str(tmp_path / "grants.json"))
    here = locate(str(root))
    grant, token = grants.issue(namespaces={here.namespace: "admin"}, checkout=here.root)
    tokens.write(here.root, data, token)
    copy = tmp_path / "copy"
    shutil.copytree(root, copy, symlinks=True)
    there = locate(str(copy))
    assert tokens.read(there.root, data) == token
    assert there.namespace != here.namespace
    with pytest.raises(GrantElsewhere):
        grants.verify(token, checkout=there.root, now=0)
    assert grants.verify(token, checkout=here.root, now=0) == grant


def test_a_copied_worktree_is_a_project_of_its_own(checkout: Checkouts, tmp_path: Path) -> None:
    """The copy's .git file names the repository, which does not name the copy back."""
    linked = tmp_path / "linked"
    checkout.git(checkout("api"), "worktree", "add", "--quiet", "--detach", str(linked))
    copy = tmp_path / "copy"
    shutil.copytree(linked, copy)
    assert by_place(copy)
    assert "does not name this folder back" in locate(str(copy)).reason


@pytest.mark.parametrize("content", ["", "gitdir: ", "gitdir:/x", "nonsense", "gitdir: a\0b"])
def test_a_broken_git_file_keeps_the_folder_apart(
    checkout: Checkouts, tmp_path: Path, content: str
) -> None:
    """A folder whose .git file says nothing never slips into the project around it."""
    inner = checkout("outer") / "inner"
    inner.mkdir()
    (inner / ".git").write_text(content)
    (inner / "src").mkdir()
    assert by_place(inner)
    assert locate(str(inner / "src")) == locate(str(inner))
    assert "broken" in locate(str(inner)).reason


def test_a_git_file_that_points_nowhere_keeps_the_folder_apart(checkout: Checkouts) -> None:
    """A worktree whose repository is gone is a project by its place."""
    inner = checkout("outer") / "inner"
    inner.mkdir()
    (inner / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert by_place(inner)
    assert "nowhere" in locate(str(inner)).reason


def test_a_huge_or_waiting_git_file_is_broken(tmp_path: Path) -> None:
    """Neither a megabyte nor a FIFO called .git is read."""
    huge, pipe = tmp_path / "huge", tmp_path / "pipe"
    huge.mkdir()
    pipe.mkdir()
    (huge / ".git").write_text("gitdir: " + "x" * 1_000_000)
    os.mkfifo(pipe / ".git")
    assert by_place(huge)
    assert by_place(pipe)


def test_an_unpacked_archive_cannot_claim_another_project(
    checkout: Checkouts, tmp_path: Path
) -> None:
    """A forged .git file or link to someone else's repository gives no access to its namespace."""
    secret = checkout("secret")
    checkout.git(secret, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    evil = tmp_path / "evil"
    evil.mkdir()
    dot_git = evil / ".git"
    for target in (secret / ".git", secret / ".git" / "worktrees" / "linked", secret):
        dot_git.write_text(f"gitdir: {target}\n")
        assert by_place(evil)
    dot_git.unlink()
    dot_git.symlink_to(secret / ".git")
    assert by_place(evil)


def test_a_forged_worktree_folder_is_not_believed(checkout: Checkouts, tmp_path: Path) -> None:
    """A git dir in the archive that points on to another repository does not count."""
    secret = checkout("secret")
    evil = tmp_path / "evil"
    part = evil / "worktrees" / "w"
    part.mkdir(parents=True)
    (part / "commondir").write_text(str(secret / ".git"))
    (part / "gitdir").write_text(str(evil / ".git"))
    (evil / ".git").write_text(f"gitdir: {part}\n")
    assert by_place(evil)
    for name in ("objects", "refs"):
        (evil / name).mkdir()
    (evil / "HEAD").write_text("ref: refs/heads/main\n")
    assert by_place(evil)


def test_a_common_dir_inside_an_ordinary_git_dir_is_ignored(
    checkout: Checkouts, tmp_path: Path
) -> None:
    """Git follows `.git/commondir` anywhere; an archive could bring one along."""
    evil = checkout("evil")
    (evil / ".git" / "commondir").write_text(str(checkout("secret") / ".git"))
    assert by_place(evil)


def test_a_separate_git_dir_is_decided_by_place(checkout: Checkouts, tmp_path: Path) -> None:
    """`git init --separate-git-dir` leaves no way back from the git dir, so the folder decides."""
    root = tmp_path / "separate"
    checkout.git(tmp_path, "init", "--quiet", f"--separate-git-dir={tmp_path / 'g'}", str(root))
    assert by_place(root)


def test_an_empty_git_folder_is_none(checkout: Checkouts) -> None:
    """Sandboxes leave an empty .git behind; like git, we look further up."""
    root = checkout("api")
    (root / "src" / ".git").mkdir(parents=True)
    assert locate(str(root / "src")) == locate(str(root))


def test_a_folder_in_no_repository_is_decided_by_place(tmp_path: Path) -> None:
    """Outside git every folder is a project of its own, links resolved."""
    plain = tmp_path / "plain"
    plain.mkdir()
    (tmp_path / "link").symlink_to(plain)
    assert by_place(plain)
    assert locate(str(tmp_path / "link")) == locate(str(plain))
    assert "no git repository" in locate(str(plain)).reason


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("new\nline", "new-line"),
        ("ünïcode", "unicode"),
        ("проект", "folder"),
        ("Open Source", "open-source"),
        ("-lead", "lead"),
        (os.fsdecode(b"bad\xff"), "bad"),
        ("ends\n", "ends"),
    ],
)
def test_worktrees_of_oddly_named_checkouts_are_found(
    checkout: Checkouts, tmp_path: Path, name: str, slug: str
) -> None:
    """Newlines, other scripts and broken encodings survive git's pointer files."""
    root = checkout(name)
    linked = tmp_path / f"wt {name}x"
    checkout.git(root, "worktree", "add", "--quiet", "--detach", str(linked), "HEAD")
    assert namespace(linked) == namespace(root)
    assert namespace(root).startswith(f"project:{slug}-")


def test_git_variables_are_ignored(
    checkout: Checkouts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT_DIR and its kin, as git sets them in hooks, do not decide whose memories one gets."""
    root, other = checkout("api"), checkout("other")
    before = locate(str(root))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_COMMON_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root))
    assert locate(str(root)) == before


def test_a_relative_worktree_pointer_is_followed(checkout: Checkouts, tmp_path: Path) -> None:
    """Newer gits write relative paths into both pointer files."""
    root, linked = checkout("api"), tmp_path / "linked"
    checkout.git(root, "worktree", "add", "--quiet", "--detach", str(linked))
    part = root / ".git" / "worktrees" / "linked"
    (linked / ".git").write_text(f"gitdir: {os.path.relpath(part, linked)}\n")
    (part / "gitdir").write_text(f"{os.path.relpath(linked / '.git', part)}\n")
    assert namespace(linked) == namespace(root)


@pytest.mark.parametrize("name", ["absent", "file", "nul\0"])
def test_what_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    """Only an existing folder can be located."""
    (tmp_path / "file").touch()
    with pytest.raises(InvalidRequest, match="is not a folder"):
        locate(f"{tmp_path}/{name}")


def write_config(root: Path, text: str) -> None:
    """Give the checkout a .recalld/config.toml."""
    (root / ".recalld").mkdir(exist_ok=True)
    (root / ".recalld" / "config.toml").write_text(text)


def test_a_pin_is_read(tmp_path: Path) -> None:
    """The config file's namespace is returned, None without file or key."""
    assert checkouts.pin(str(tmp_path)) is None
    write_config(tmp_path, "other = 1\n")
    assert checkouts.pin(str(tmp_path)) is None
    write_config(tmp_path, 'namespace = "org:acme"\n')
    assert checkouts.pin(str(tmp_path)) == "org:acme"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("namespace = ", InvalidSettings),
        ("namespace = 7", InvalidNamespace),
        ('namespace = "Org:Acme"', InvalidNamespace),
        ('namespace = ""', InvalidNamespace),
    ],
)
def test_a_bad_pin_is_refused(tmp_path: Path, text: str, error: type[Exception]) -> None:
    """Broken TOML and names outside the grammar are errors, not `no pin`."""
    write_config(tmp_path, text)
    with pytest.raises(error):
        checkouts.pin(str(tmp_path))


def test_a_linked_pin_is_refused(tmp_path: Path) -> None:
    """Neither the file nor the folder may be a symbolic link to settings elsewhere."""
    write_config(tmp_path, 'namespace = "org:acme"\n')
    linked_folder, linked_file = tmp_path / "one", tmp_path / "two"
    linked_folder.mkdir()
    (linked_folder / ".recalld").symlink_to(tmp_path / ".recalld")
    (linked_file / ".recalld").mkdir(parents=True)
    (linked_file / ".recalld" / "config.toml").symlink_to(tmp_path / ".recalld" / "config.toml")
    for root in (linked_folder, linked_file):
        with pytest.raises(UnsafePermissions, match="symbolic link"):
            checkouts.pin(str(root))

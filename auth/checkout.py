"""Which project a folder belongs to, decided in this one place and explained in a sentence.

A project is where it lies, never what its folder is called: its identity is the real path of the
repository's common git dir (of its parent folder, when it is called `.git`), else the real path of
the folder. So linked worktrees, sub-folders and symlinks share a namespace, ~/a/api and ~/b/api
don't, and a moved or copied checkout is a new project.

Only files are read, no git process is started, and GIT_DIR and its kin are ignored: an agent's
environment must not decide whose memories it gets. For the same reason a `.git` file is believed
only if the repository it names knows it back: an unpacked archive can't claim to be a worktree of
a project elsewhere.
"""

from __future__ import annotations

import os
import re
import stat
from typing import NamedTuple

from . import namespaces
from .errors import InvalidNamespace, InvalidRequest, InvalidSettings, UnsafePermissions
from .paths import quote, read_plain

_POINTER_LIMIT = 8_192
"""Bytes of a `.git`, `commondir` or `gitdir` file; they hold one path (PATH_MAX is 4,096)."""

_CONFIG_LIMIT = 262_144
"""Bytes of a git or recalld config file that are looked at."""

_ESCAPE = re.compile(rb'\\([nt"\\])|"')
_MEANT = {b"n": b"\n", b"t": b"\t"}


class Checkout(NamedTuple):
    """What a folder belongs to.

    `root` is the real path of the checkout's top folder, which a grant is bound to and a token is
    kept in. `identity` is the real path that is hashed into `namespace`; linked worktrees have a
    root each and one identity. `reason` is one sentence for `recalld where`.
    """

    root: str
    identity: str
    namespace: str
    reason: str


def locate(folder: str) -> Checkout:
    """The checkout that `folder` lies in; the folder itself when it is in no repository.

    Raises InvalidRequest when there is no such folder.
    """
    start = _real_folder(folder)
    place = start
    while True:
        found = _repository(place)
        if found is not None:
            return found
        above = os.path.dirname(place)
        if above == place:
            return _by_place(start, "It is in no git repository, so the folder's place decides.")
        place = above


def _real_folder(folder: str) -> str:
    try:
        real = os.path.realpath(folder)
        if os.path.isdir(real):
            return real
    except ValueError:  # a NUL character
        pass
    raise InvalidRequest(f"{folder!r} is not a folder.", hint="Name an existing folder.")


def _by_place(root: str, reason: str) -> Checkout:
    return Checkout(root, root, namespaces.project_namespace(root), reason)


def _by_git_dir(root: str, common: str, reason: str) -> Checkout:
    """Identity from a repository's common git dir: its parent folder when it is called `.git`."""
    parent, name = os.path.split(common)
    identity = parent if name == ".git" else common
    return Checkout(root, identity, namespaces.project_namespace(identity), reason)


def _repository(place: str) -> Checkout | None:
    """The checkout whose top folder is `place`; None when the folders above have to be asked."""
    dot_git = os.path.join(place, ".git")
    mode = _mode(dot_git)
    if stat.S_ISREG(mode):
        return _by_pointer(place, dot_git)
    if stat.S_ISLNK(mode):
        return _by_place(place, "Its .git is a symbolic link, so the folder's place decides.")
    if stat.S_ISDIR(mode) and _is_git_dir(dot_git):
        return _by_place(place, "It is the main checkout of a git repository.")
    # Inside the .git of an ordinary repository the folder above says what it belongs to.
    if os.path.basename(place) != ".git" and _is_git_dir(place):
        return _by_place(place, "It is a git repository without a checkout of its own.")
    return None


def _mode(path: str) -> int:
    """The file's mode without following a link; 0 when there is none we can see."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _is_git_dir(path: str) -> bool:
    """Git's own test; an empty `.git`, as sandboxes leave behind, is none."""
    return (
        os.path.lexists(os.path.join(path, "HEAD"))
        and os.path.isdir(os.path.join(path, "objects"))
        and os.path.isdir(os.path.join(path, "refs"))
    )


def _by_pointer(root: str, dot_git: str) -> Checkout:
    """The checkout of a `.git` file: a linked worktree, a submodule, or one we can't believe."""
    target = _pointer(dot_git, root, prefix="gitdir: ")
    if target is None:
        return _by_place(root, "Its .git file is broken, so the folder's place decides.")
    common = _common_dir_of_worktree(target, dot_git)
    if common is not None:
        return _by_git_dir(root, common, f"It is a linked worktree of {common}.")
    if _is_git_dir(target) and _work_tree(target) == root:
        return _by_git_dir(root, target, f"It is a submodule whose repository is {target}.")
    if not os.path.isdir(target):
        return _by_place(root, "Its .git file points nowhere, so the folder's place decides.")
    return _by_place(
        root,
        f"Its .git file names {target}, which does not name this folder back, so the folder's "
        "place decides (after a move: git worktree repair).",
    )


def _common_dir_of_worktree(git_dir: str, dot_git: str) -> str | None:
    """The repository `git_dir` is a worktree's part of, if that repository agrees.

    It agrees when `git_dir` lies in its own `worktrees` folder and names our `.git` file.
    """
    above, name = os.path.split(os.path.dirname(git_dir))
    if name != "worktrees" or not _is_git_dir(above):
        return None
    if _pointer(os.path.join(git_dir, "commondir"), git_dir) != above:
        return None
    back = _pointer(os.path.join(git_dir, "gitdir"), git_dir)
    return above if back == dot_git else None


def _pointer(path: str, base: str, prefix: str = "") -> str | None:
    """The real path a one-path file of git holds, relative ones seen from `base`."""
    content = read_plain(path, _POINTER_LIMIT)
    if content is None or not content.startswith(prefix.encode()):
        return None
    # Git cuts trailing line ends only: a path may hold a newline.
    target = content[len(prefix) :].rstrip(b"\r\n")
    if not target or b"\0" in target:
        return None
    return os.path.realpath(os.path.join(base, os.fsdecode(target)))


def _work_tree(git_dir: str) -> str | None:
    """The real path of `core.worktree`, which git sets for submodules."""
    section, value = b"", None
    for raw in (read_plain(os.path.join(git_dir, "config"), _CONFIG_LIMIT) or b"").split(b"\n"):
        line = raw.strip()
        if line.startswith(b"["):
            section = line.lower()
        key, equals, rest = line.partition(b"=")
        if section == b"[core]" and equals and key.strip().lower() == b"worktree":
            value = _unquoted(rest.strip())
    return None if value is None else os.path.realpath(os.path.join(git_dir, os.fsdecode(value)))


def _unquoted(value: bytes) -> bytes:
    """A git config value as meant: quotes dropped, and the escapes git writes undone."""
    return _ESCAPE.sub(lambda found: _MEANT.get(found[1], found[1] or b""), value)


def pin(root: str) -> str | None:
    """The namespace that `.recalld/config.toml` asks for; None when it asks for none.

    It is a wish, not a right: whoever grants must compare it with `Checkout.namespace` and let the
    owner confirm anything else. Raises UnsafePermissions when the file or its folder is a symbolic
    link, InvalidSettings when it is not TOML, InvalidNamespace when the name is none.
    """
    folder = os.path.join(root, ".recalld")
    path = os.path.join(folder, "config.toml")
    for part in (folder, path):
        if stat.S_ISLNK(_mode(part)):
            raise UnsafePermissions(
                f"{part} is a symbolic link; a checkout's settings must lie in the checkout.",
                hint=f"Run: rm {quote(part)}",
            )
    content = read_plain(path, _CONFIG_LIMIT)
    if content is None:
        return None
    import tomllib  # 24 ms, and hardly any checkout has the file

    try:
        wish: object = tomllib.loads(content.decode()).get("namespace")
    except ValueError as error:
        raise InvalidSettings(f"{path} is not TOML: {error}.", hint="Mend or remove it.") from error
    if wish is None:
        return None
    if not isinstance(wish, str):
        raise InvalidNamespace(f"{path}: namespace must be a string.", hint="Mend or remove it.")
    return namespaces.parse(wish)

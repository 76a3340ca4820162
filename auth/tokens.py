"""The raw token of a checkout: how it is made, told apart, kept and found again.

It lies in `<root>/.recalld/token`, 0600 in a 0700 folder whose `.gitignore` ignores everything.
Where the checkout can't be written, or its `.recalld` is another user's, it lies in the data folder
under the hash of the root; so it does for `/` and the home folder, which are nobody's checkout. The
daemon never keeps it, only its digest.
"""

from __future__ import annotations

import binascii
import errno
import os

from . import sha256
from .errors import UnsafePermissions
from .paths import ensure_private_dir, quote, read_plain, read_private, trouble, write_private

FOLDER = ".recalld"
"""The folder inside a checkout that is recalld's."""

_TOKEN = "token"  # noqa: S105 - the file's name
_PREFIX = "rk_"
_BODY_BYTES = 32
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_WILDCARDS = frozenset(b"*?[")
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


def mint() -> str:
    """A new token: `rk_` and 32 random bytes in URL-safe base64."""
    body = binascii.b2a_base64(os.urandom(_BODY_BYTES), newline=False)
    return _PREFIX + body.translate(_URL_SAFE, b"=").decode()


def digest(token: str) -> str:
    """SHA-256 of the token as 64 hex digits: all the daemon keeps."""
    return sha256.digest(token.encode(errors="surrogatepass")).hex()


def fingerprint(token: str) -> str:
    """8 hex digits that may be logged and shown."""
    return digest(token)[:8]


def read(root: str, data_dir: str) -> str | None:
    """The token kept for the checkout at `root` (its real path); None when there is none.

    Raises UnsafePermissions for a symlinked `.recalld` and for a token file that is a symlink, open
    to others or someone else's.
    """
    folder = _open_folder(root)
    data = None
    if folder is not None:
        shown = os.path.join(root, FOLDER, _TOKEN)
        try:
            data = read_private(_TOKEN, dir_fd=folder, shown=shown)
        finally:
            os.close(folder)
    if data is None:
        data = read_private(_fallback(root, data_dir))
    return None if data is None else data.decode("ascii", "replace").strip()


def write(root: str, data_dir: str, token: str) -> str:
    """Keep the token for the checkout at `root`; returns the path of the file that holds it.

    Raises UnsafePermissions for a symlinked `.recalld`, DiskFull or StorageTrouble when neither
    place can be written.
    """
    folder = None if _is_no_checkout(root) else _open_folder(root, create=True)
    if folder is None:
        return _write_fallback(root, data_dir, token)
    try:
        os.fchmod(folder, 0o700)  # a clone may bring the folder along, with the umask's mode
        _ignore_everything(folder)
        path = os.path.join(root, FOLDER, _TOKEN)
        write_private(_TOKEN, token.encode() + b"\n", dir_fd=folder, shown=path)
    finally:
        os.close(folder)
    return path


def _is_no_checkout(root: str) -> bool:
    """Whether a command was just run where people happen to be; no folder is left behind there."""
    return root in ("/", os.path.realpath(os.path.expanduser("~")))


def _open_folder(root: str, *, create: bool = False) -> int | None:
    """The checkout's `.recalld`, held open so that it can't be swapped; None when unusable."""
    path = os.path.join(root, FOLDER)
    if create:
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno in _READ_ONLY:
                return None
            raise trouble(path, "created", error) from error
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        _refuse_link(path, error)
        return None
    if os.fstat(folder).st_uid == os.geteuid():
        return folder
    os.close(folder)  # a checkout shared between users: each keeps a token of their own elsewhere
    return None


def _refuse_link(path: str, error: OSError) -> None:
    """Let pass that there is no folder we may use; raise for one that is not what it seems."""
    if error.errno in (errno.ENOENT, *_READ_ONLY):
        return
    if os.path.islink(path):
        raise UnsafePermissions(
            f"{path} is a symbolic link; a token written through it could end up anywhere.",
            hint=f"Run: rm {quote(path)}",
        ) from error
    if error.errno == errno.ENOTDIR:
        raise UnsafePermissions(
            f"{path} is a file, not a folder; a checkout's token is kept in a folder there.",
            hint=f"Move it away: mv {quote(path)} {quote(path + '.old')}",
        ) from error
    raise trouble(path, "opened", error) from error


def _ignore_everything(folder: int) -> None:
    """Keep git from ever seeing the token; rules a team put there are kept, with ours behind."""
    present = read_plain(".gitignore", dir_fd=folder) or b""
    if _hides_token(present.splitlines()):
        return
    if present and not present.endswith(b"\n"):
        present += b"\n"
    write_private(".gitignore", present + b"*\n", dir_fd=folder)


def _hides_token(rules: list[bytes]) -> bool:
    """Whether git, which obeys the last rule that matches, would ignore the token.

    Other patterns than the obvious are taken to expose it: the worst is one rule too many.
    """
    hidden = False
    for rule in (line.strip() for line in rules if not line.startswith(b"#")):
        pattern = rule.removeprefix(b"!").removeprefix(b"/")
        if pattern == b"token" or not _WILDCARDS.isdisjoint(pattern):
            hidden = rule in (b"*", b"token", b"/token")
    return hidden


def _fallback(root: str, data_dir: str) -> str:
    name = sha256.digest(os.fsencode(root)).hex()
    return os.path.join(data_dir, "tokens", name + ".token")


def _write_fallback(root: str, data_dir: str, token: str) -> str:
    path = _fallback(root, data_dir)
    ensure_private_dir(data_dir)
    ensure_private_dir(os.path.dirname(path))
    write_private(path, token.encode() + b"\n")
    return path

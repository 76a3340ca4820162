"""What is kept of where a checkout was before, from when its token is replaced until that is open.

The token that came along says where it was made, and the first call from the new place replaces it:
often a hook's, which nobody watches. The note lies in the data folder: one in the checkout would
let a cloned repository name another project's namespace. It is a hint, and never worth an error.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Container

from ...auth import sha256
from ...auth.checkout import Checkout
from ...auth.errors import RecalldError
from ...auth.paths import Layout, ensure_private_dir, read_plain, write_private
from .channel import Channel
from .documents import Document, document, flag, parse, text
from .former import Former, by_token

_TOLD = "told"


def keep(channel: Channel, checkout: Checkout, token: str | None) -> None:
    """Note where this token was made, if that is not here; call it before the token is replaced."""
    before = by_token(channel, checkout, token)
    if before is not None:
        _write(channel.layout, checkout.root, before, told=False)


def _write(layout: Layout, root: str, before: Former, *, told: bool) -> None:
    path = _path(layout, root)
    noted = {"root": before.root, "namespace": before.namespace, _TOLD: told}
    with contextlib.suppress(RecalldError):
        ensure_private_dir(os.path.dirname(path))
        write_private(path, json.dumps(noted).encode())


def kept(layout: Layout, root: str) -> Former | None:
    """Where the checkout at `root` was; None when it was never moved, or may reach that again."""
    return _former(_noted(layout, root))


def announce(layout: Layout, root: str, notice: Callable[[str], None]) -> None:
    """Tell it where somebody reads, once."""
    noted = _noted(layout, root)
    before = None if flag(noted, _TOLD) else _former(noted)
    if before is not None:
        notice(before.announced())
        _write(layout, root, before, told=True)


def settle(layout: Layout, root: str, covered: Container[str]) -> None:
    """Forget it once the old namespace is among those that are open here."""
    before = kept(layout, root)
    if before is not None and before.namespace in covered:
        with contextlib.suppress(OSError):
            os.unlink(_path(layout, root))


def _noted(layout: Layout, root: str) -> Document:
    return document(parse(read_plain(_path(layout, root)) or b""))


def _former(noted: Document) -> Former | None:
    root, namespace = text(noted, "root"), text(noted, "namespace")
    return Former(root, namespace, certain=True) if root and namespace else None


def _path(layout: Layout, root: str) -> str:
    name = sha256.digest(os.fsencode(root)).hex()
    return os.path.join(layout.data, "former", f"{name}.json")

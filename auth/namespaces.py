"""The names memories are kept under, and the one function that names a checkout's own.

project:<slug>-<8 hex>   one checkout: the slug is for people, the hash of its place decides
user:local               what holds for this user everywhere
org:<name>               shared on purpose between projects
default                  for callers that belong to no project
"""

from __future__ import annotations

import os
import re

from . import sha256
from .errors import InvalidNamespace

USER = "user:local"
"""The user's own namespace, part of every checkout's grant."""

DEFAULT = "default"
"""The namespace of callers without a project."""

SLUG_LIMIT = 32
"""Characters of a slug at most; longer folder names are cut, the hash still tells them apart."""

_GRAMMAR = re.compile(
    r"user:local|default"
    r"|org:[a-z0-9][a-z0-9._-]{0,63}"
    r"|project:(?=[^:]{10,41}\Z)[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{8}"
)
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def is_valid(name: str) -> bool:
    """Whether the name follows the grammar."""
    return _GRAMMAR.fullmatch(name) is not None


def parse(name: str) -> str:
    """The name itself when it follows the grammar; raises InvalidNamespace when it does not."""
    if is_valid(name):
        return name
    raise InvalidNamespace(
        f"{_shortened(name)} is not a namespace.",
        hint="Namespaces look like project:api-1a2b3c4d, user:local, org:acme or default.",
    )


def _shortened(name: str) -> str:
    shown = ascii(name)
    return shown if len(shown) <= 80 else shown[:76] + "...'"


def project_namespace(identity_path: str) -> str:
    """The namespace of the project that lives at this real, absolute path.

    Undecodable bytes of the path (surrogate escapes) are hashed as the bytes they are.
    """
    place = sha256.digest(b"recalld namespace v1\0" + os.fsencode(identity_path)).hex()
    return f"project:{slug(os.path.basename(identity_path))}-{place[:8]}"


def slug(folder_name: str) -> str:
    """A folder's name in `[a-z0-9-]`, 1 to 32 characters; `folder` when nothing of it is left."""
    if not folder_name.isascii():
        import unicodedata  # ~1 ms, and most folders are plain ASCII

        folder_name = unicodedata.normalize("NFKD", folder_name)
        folder_name = "".join(c for c in folder_name if not unicodedata.combining(c))
    return _NOT_SLUG.sub("-", folder_name.lower()).strip("-")[:SLUG_LIMIT].strip("-") or "folder"

"""Looking into settings that are not ours to judge: what cannot be read says nothing."""

from __future__ import annotations

import os
import tomllib

from ..connection.documents import Document, document
from . import jsonc

_LIMIT = 64 * 1024 * 1024


def json_document(path: str) -> Document:
    """The JSON object in this file; empty when there is none that can be read."""
    text = _text(path)
    try:
        return document(jsonc.value(text, jsonc.parse(text)))
    except ValueError:
        return {}


def toml_document(path: str) -> Document:
    """The TOML document in this file; empty when there is none that can be read."""
    try:
        return tomllib.loads(_text(path))
    except ValueError:
        return {}


def _text(path: str) -> str:
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return file.read(_LIMIT)
    except OSError:
        return ""

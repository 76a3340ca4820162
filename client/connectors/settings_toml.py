"""Our MCP server in Codex' config.toml: one marked block at the end, everything else untouched.

A table at the end belongs to nothing before it, so the block never changes what the rest means.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping

from ..connection.documents import Document, document
from .json_editor import Unfit
from .launch import NAME, is_server
from .markers import Markers
from .settings_json import fits
from .target import Wanted

TABLE = "mcp_servers"
"""Where Codex keeps its servers."""

MARKERS = Markers(
    "# >>> recalld >>> written by `recalld connect codex`, removed by `recalld disconnect codex`",
    "# <<< recalld <<<",
)


def merged(text: str, wanted: Wanted) -> str:
    """The document with our server in it; raises Unfit, Misplaced or TOMLDecodeError."""
    server = document(wanted.server)
    apart = document(_read(without(text)).get(TABLE)).get(NAME)
    if apart is not None:
        if is_server(apart) and fits(document(apart), server) and MARKERS.find(text) is None:
            return text  # written by hand, and right
        raise Unfit(f"it has a table {TABLE}.{NAME} outside the lines we wrote")
    found = MARKERS.put(text, _lines(server))
    if document(_read(found).get(TABLE)).get(NAME) != server:
        raise Unfit(f"a table {TABLE}.{NAME} cannot be added at its end")
    return found


def without(text: str) -> str:
    """The document without our block; raises Misplaced."""
    return MARKERS.take(text)


def server(text: str) -> Document:
    """Our server as the document has it; empty where it does not. Raises TOMLDecodeError."""
    found = document(_read(text).get(TABLE)).get(NAME)
    return document(found) if is_server(found) else {}


def _read(text: str) -> Document:
    return tomllib.loads(text)


def _lines(server: Mapping[str, object]) -> str:
    lines = [f"[{TABLE}.{NAME}]"]
    lines += [f"{name} = {_value(value)}" for name, value in server.items()]
    return "\n".join(lines)


def _value(value: object) -> str:
    """A string, an array of strings or a table of strings as TOML."""
    table = document(value)
    if table:
        pairs = [f"{name} = {_value(each)}" for name, each in table.items()]
        return f"{{ {', '.join(pairs)} }}"
    # JSON's strings are TOML's, but for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

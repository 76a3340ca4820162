"""Arbitrary documents: JSON the way people leave it behind, TOML, and Markdown."""

from __future__ import annotations

import json
from typing import TypeAlias, cast

from hypothesis import strategies as st

Value: TypeAlias = object

NAMES = st.one_of(
    st.sampled_from(["hooks", "mcpServers", "model", "env", "a", ""]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)
_SPACE = st.sampled_from(["", " ", "  ", "\n", "\n  ", "\n\t", "\r\n    ", "\t"])
_NOTE = st.sampled_from(["", "", "", '// note, "}\n', "/* , ] */", "/*\n*/", "// é\r\n"])


@st.composite
def commented(draw: st.DrawFn, value: Value) -> str:
    """The value as JSON with arbitrary white space, comments and trailing commas."""

    def gap() -> str:
        return draw(_SPACE) + draw(_NOTE) + draw(_SPACE)

    def written(one: Value) -> str:
        if isinstance(one, dict):
            members = cast("dict[str, Value]", one).items()
            parts = [f"{name(key)}{gap()}:{gap()}{written(each)}" for key, each in members]
            return "{" + joined(parts) + "}"
        if isinstance(one, list):
            return "[" + joined([written(each) for each in cast("list[Value]", one)]) + "]"
        return json.dumps(one, ensure_ascii=draw(st.booleans()))

    def name(key: str) -> str:
        return json.dumps(key, ensure_ascii=draw(st.booleans()))

    def joined(parts: list[str]) -> str:
        text = "".join(
            f"{gap()}{part}{gap()}{',' if at < len(parts) - 1 else ''}"
            for at, part in enumerate(parts)
        )
        trailing = draw(st.booleans())
        return text + ("," if parts and trailing else "") + gap()

    return gap() + written(value) + gap()


@st.composite
def plain(draw: st.DrawFn, value: Value) -> str:
    """The value as a program writes it: minified, on one line, or indented; CRLF or not."""
    indent = draw(st.sampled_from([None, 2, 4, "\t"]))
    tight = (",", ":") if draw(st.booleans()) and indent is None else None
    text = json.dumps(value, indent=indent, separators=tight, ensure_ascii=draw(st.booleans()))
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def settings(draw: st.DrawFn) -> dict[str, Value]:
    """Settings of a host, with hooks and servers of other people in them, or whatever else."""
    found = dict(draw(st.dictionaries(NAMES, VALUES, max_size=4)))
    foreign = st.sampled_from(
        [
            {"hooks": [{"type": "command", "command": "echo recalld"}]},
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/recalld-x hook y"}]},
            {"command": "./mine.sh"},
        ]
    )
    events = st.sampled_from(["SessionStart", "Stop", "preToolUse", "agentSpawn", "Other"])
    found.pop("hooks", None)
    found.pop("mcpServers", None)
    if draw(st.booleans()):
        found["hooks"] = draw(st.dictionaries(events, st.lists(foreign, max_size=2), max_size=3))
    if draw(st.booleans()):
        servers = st.sampled_from([{"command": "npx"}, {"url": "http://localhost"}])
        found["mcpServers"] = draw(
            st.dictionaries(st.sampled_from(["x", "y"]), servers, max_size=2)
        )
    return dict(draw(st.permutations(list(found.items()))))


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """Settings as text."""
    value = draw(settings())
    return draw(draw(st.sampled_from([plain, commented]))(value))


_LINE = st.sampled_from(
    [
        'model = "o3"',
        "# note [mcp_servers.recalld]",
        "",
        'text = """\n# >>> recalld\n[x]\n"""',
        "n = [1,\n 2]",
        "when = 1979-05-27T07:32:00Z",
    ]
)


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """A config.toml: values first, tables behind, with or without a last line end."""
    lines = draw(st.lists(_LINE, max_size=4, unique=True))
    tables = draw(
        st.lists(
            st.sampled_from(
                [
                    "[mcp_servers.other]\ncommand = 'x'",
                    "[features]\nhooks = true",
                    "[[profile]]\nname = 'é'  # c",
                    '[projects."/a/b"]',
                ]
            ),
            max_size=3,
            unique=True,
        )
    )
    text = "\n".join([*lines, *tables]) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def proses() -> st.SearchStrategy[str]:
    """A person's notes: any text at all."""
    pieces = st.sampled_from(["a", "\n", "\r\n", " ", "# é", "<!--", "-->", "\r"])
    return st.lists(pieces, max_size=12).map("".join)

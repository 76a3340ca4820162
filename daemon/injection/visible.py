"""Text made safe to show: nothing invisible, nothing that reorders, nothing that opens a role.

Memories are other people's words. What a reader can't see is written out as `\\u202e`; tags by
which hosts and chat templates mark turns, tools and our own block are shown as `&lt;…`, other code
is left as it is written.
"""

from __future__ import annotations

import re
import unicodedata

_LINE = "\n\t"
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Letters and marks that draw nothing, though their category is a visible one."""

_SELECTORS = (0xE0100, 0xE01EF)
"""Variation selectors that no font needs: 240 values that can carry hidden text."""

_ROLE_TAG = re.compile(
    r"<(?=[ \t]{0,8}[/!|]?[ \t]{0,8}(?:--|\||recalld|antml|system|assistant|user|human|developer|"
    r"function|invoke|parameter|tool|memor|instruction|context|im_|start_|end_|bos|eos|s>|inst|"
    r"thinking|thought|prompt|command|local-command|data|document))",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """The text with control, bidi, zero-width and unassigned characters written as escapes.

    Line feeds and tabs stay; other line ends become line feeds or escapes, so that a line of the
    answer is a line to every reader.
    """
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text if _BLANK.isdisjoint(text) and text.isascii() else "".join(map(_shown, text))
    return "".join(map(_shown, text))


def untagged(text: str) -> str:
    """The text with `<` written `&lt;` where it begins a tag that means something to a host."""
    return _ROLE_TAG.sub("&lt;", text)


def one_line(text: str, limit: int) -> str:
    """Visible text without tags on a single line, at most `limit` characters."""
    shown = untagged(visible(" ".join(text[: 4 * limit].split())))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _shown(character: str) -> str:
    if not _is_hidden(character):
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def _is_hidden(character: str) -> bool:
    if character.isprintable():
        return character in _BLANK or _SELECTORS[0] <= ord(character) <= _SELECTORS[1]
    return character not in _LINE and unicodedata.category(character) != "Zs"

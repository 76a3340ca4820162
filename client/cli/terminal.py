"""What reaches the person or the pipe: plain lines, tables on a terminal, JSON for machines.

Stored text is other people's text. No control character of it reaches a terminal raw (escape
sequences can rewrite the screen or the title, bidi overrides can hide words); they are shown as
escapes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_BLOCK = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What JSON leaves as it is although a terminal or a UTF-8 encoder trips over it.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def one_line(value: str) -> str:
    """The text as one harmless line: line ends, tabs and other controls become visible escapes."""
    return _UNSAFE.sub(_escaped, value)


def block(value: str) -> str:
    """The text with its lines and tabs kept, everything else that could harm escaped."""
    return _UNSAFE_IN_BLOCK.sub(_escaped, value)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def as_json(value: object) -> str:
    """One line of JSON: UTF-8 where stdout can carry it, escapes where it cannot."""
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    raw = json.dumps(value, ensure_ascii=encoding != "utf8")
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", raw)


def on_terminal() -> bool:
    """Whether a person looks at stdout right now."""
    return sys.stdout.isatty()


def say(line: str = "") -> None:
    """Print one line; what the encoding cannot carry becomes an escape instead of a crash."""
    encoding = sys.stdout.encoding or "ascii"
    sys.stdout.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def notice(line: str) -> None:
    """One line on stderr for the person, never mixed into the answer."""
    encoding = sys.stderr.encoding or "ascii"
    text = f"recalld: {one_line(line)}\n"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))


def fields(pairs: Sequence[tuple[str, str]]) -> None:
    """Named values, one a line."""
    width = max((len(name) for name, _ in pairs), default=0) if on_terminal() else 0
    for name, value in pairs:
        say(f"{name + ':':<{width + 1}} {one_line(value)}".rstrip())

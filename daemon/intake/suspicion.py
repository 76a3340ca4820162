"""Text that gives an agent orders, or poses as somebody else: not what a fact looks like.

What an agent stores may come from a page or a file it read. Such text is set aside until a person
has looked at it. The list is closed and plain: it catches what poses as a host's or as our own
marks, hidden characters, and the usual "ignore what came before". An order in plain words that any
user might give ("always skip review") it does not catch; that stays data in a block.
"""

from __future__ import annotations

import re
from typing import Final

_GAP: Final = r"[ \t]{0,8}"
_ABOUT: Final = (
    r"(?:instructions?|prompts?|rules|messages?|guidelines|directives|context|conversation)"
)
_TAGS: Final = (
    "function_calls|function_results|invoke|system-reminder|tool_use|tool_result|system|memory|"
    "memories|instructions"
)
SIGNS: Final[dict[str, str]] = {
    "our own block": (
        rf"(?im)<{_GAP}/?{_GAP}recalld-memor|"
        r"^[ \t>|]{0,16}\[recalld:[\w-]{1,64}\][^\n]{0,80}·"
    ),
    "a host's tag": (
        rf"(?i)<{_GAP}/?{_GAP}(?:antml:)?(?:{_TAGS}){_GAP}>|"
        rf"<\|{_GAP}(?:im_|start_|end_|system|user|assistant|begin_of)|\[/?INST\]|"
        rf"<!--{_GAP}(?:assistant|system|agent|ai|claude)\b"
    ),
    "a turn of a conversation": (
        rf"(?m)^{_GAP}SYSTEM{_GAP}:|^{_GAP}(?:Human|User){_GAP}:[^\n]{{0,400}}\n"
        rf"(?:[^\n]{{0,400}}\n){{0,3}}?{_GAP}Assistant{_GAP}:"
    ),
    "a message as data": r"[\"']role[\"']\s{0,8}:\s{0,8}[\"'](?:system|developer)[\"']",
    "an end that is none": (
        rf"(?im)\[{_GAP}end of (?:the )?(?:memor|context|data|records|block)|"
        rf"---{_GAP}(?:begin|end) (?:of )?(?:memory|memories|context|instructions)\b|"
        rf"^#{{1,6}}{_GAP}new (?:system )?instructions?{_GAP}$"
    ),
    "an order to forget orders": (
        r"(?i)\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}"
        rf"\b(?:previous|prior|earlier|above|preceding|foregoing)\b[^.\n]{{0,30}}\b{_ABOUT}\b|"
        r"\b(?:ignore|disregard|forget) (?:all |any )?(?:of )?(?:your|the|all|any|other)\b"
        r"[^.\n]{0,20}\b(?:instructions|directives|system prompt)\b|"
        r"\b(?:ignore|disregard|forget)\b[^.\n]{0,20}\b(?:what|everything|all(?: that)?) "
        r"(?:came|was|is|stands|written|said)\b[^.\n]{0,12}\b(?:before|above|earlier)\b"
    ),
    "another mode": (
        r"(?i)\byou are (?:now )?in (?:\w+ )?(?:maintenance|developer|debug|god|admin|root|"
        r"unrestricted|jailbreak) mode\b|\byou are now (?:DAN|unrestricted|jailbroken)\b"
    ),
    "hidden characters": (
        r"[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]|"
        r"[A-Za-z][\u200b-\u200d\u2060\ufeff][A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
    ),
}
"""What is looked for, by the name the writer is told."""


def signs(*texts: str | None) -> list[str]:
    """The names of all that is suspicious in these texts; mostly none."""
    whole = [text for text in texts if text]
    return [name for name, pattern in SIGNS.items() if any(re.search(pattern, t) for t in whole)]

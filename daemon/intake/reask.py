"""Whether a prompt says that the last attempt did not do it."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from .sentences import sentences

_LOOKED_AT: Final = 3
"""Sentences at a prompt's beginning; what comes later is about the next step."""
_REASK: Final = re.compile(
    r"(?i)\b(?:still (?:broken|fail(?:s|ing)?|not (?:working|fixed|there|right)|red|happens|"
    r"happening|(?:does|do|is|are)n['\u2019]?t|(?:the )?same|get(?:ting)?|see(?:ing)?|throws|"
    r"crash(?:es|ing)?|wrong)|(?:(?:that|this|it) )?(?:did|does|has)(?:n['\u2019]?t| not) "
    r"(?:work|help|fix|change|solve)\w*|(?:the )?same (?:error|problem|issue|failure)\b|"
    r"fails? again|(?:is|it['\u2019]s) broken again|not fixed)\b|"
    # These say it only when they are all that is said: "no change in behaviour" is a wish.
    r"^(?:please )?(?:nope|no|try (?:it |that )?again|no change|(?:the )?same(?: thing)?|"
    r"again|[,;.!\s]|nope)+$"
)
_WISH: Final = re.compile(
    r"(?i)^(?:please |now |then |and |let['\u2019]?s |let us )*"
    r"(?:make|do|keep|use|add|write|fix|change|show|handle|return|raise|throw|print|"
    r"catch|reproduce|ensure|check|let|test|remove|rename)\b"
)


def asks_again(prompt: str) -> bool:
    """Whether the user comes back because the last attempt did not do it."""
    first = islice(sentences(prompt), _LOOKED_AT)
    return any(_REASK.search(one) and not _WISH.match(one) for one in first)

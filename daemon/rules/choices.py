"""What a sentence chooses, so that a new choice can retire the old one of the same family.

A closed list of families, each naming tools or habits that exclude one another. Whatever is not
clearly one choice of one family has no key, and retires nothing.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Choice(NamedTuple):
    """A family such as `package-manager/js`, and the member that was chosen."""

    key: str
    value: str


_FAMILIES: Final[dict[str, str]] = {
    "package-manager/js": "npm|pnpm|yarn|bun",
    "package-manager/python": "pip|uv|poetry|pipenv|conda|pdm|hatch",
    "test-runner/js": "jest|vitest|mocha|ava|jasmine",
    "test-runner/python": "pytest|unittest|nose2?",
    "formatter/js": "prettier|biome|dprint",
    "formatter/python": "black|ruff format|yapf|autopep8",
    "linter/js": "eslint|oxlint|biome|standard",
    "linter/python": "flake8|pylint|ruff",
    "type-checker/python": "mypy|pyright|basedpyright|pytype",
    "runtime/js": "node|deno|bun",
    "indentation": "tabs|spaces",
    "quotes": "single quotes|double quotes",
    "containers": "docker|podman|nerdctl",
    "editor-config/line-length": r"line length \d+",
    "naming": "snake_case|camelcase|camel case|snake case|kebab-case|kebab case|pascalcase",
    "merge": "rebase|merge commits?|squash(?: merges?)?",
    "http-client/python": "requests|httpx|aiohttp|urllib3?",
    "date-library/js": "moment|dayjs|date-fns|luxon",
    "schema/js": "zod|yup|joi|valibot",
    "css": "tailwind|styled-components|css modules|sass",
}
_MEMBERS: Final = {
    key: re.compile(rf"(?i)(?<![\w./@-])(?:{names})(?![\w/@-]|\.\w)")
    for key, names in _FAMILIES.items()
}
_TURN: Final = re.compile(
    r"(?i)[,;.]?\s*\b(?:not|never|instead of|rather than|over|don['\u2019]?t|do not|avoid|"
    r"no longer|stop(?: using)?|without|but)\b"
)
_TURNS_BACK: Final = re.compile(r"(?i)[,;.]\s*(?:but |and )?(?:use|only|always|prefer)\b|\bbut\b")
_CHOOSES: Final = re.compile(
    r"(?i)\b(?:use|using|uses|prefer|prefers|choose|pick|run|always|only|with|stick to|switch to|"
    r"moved? to|switched to|indent|write|format|test|install)\b"
)

# "Use tabs in Makefiles" and "use npm for CI" hold beside another choice; they replace nothing.
_PARTIAL: Final = re.compile(
    r"(?i)\b(?:in|inside|under|within|for|on|when|if|unless|except)\s+(?!(?:this|the|our|all)\s+"
    r"(?:repo\w*|project|codebase|code base|workspace|team)\b|here\b|general\b|(?:the )?future\b|"
    r"everything\b|(?:all )?(?:dependenc\w+|packages|tests|testing|formatting|linting|installs?|"
    r"indentation|type.checking|python|javascript|typescript|js|ts)\b(?!/))"
)


def choice(sentence: str) -> Choice | None:
    """What the sentence chooses, or None when it names no member, several, or only forbids."""
    if not _CHOOSES.search(sentence) or _PARTIAL.search(sentence):
        return None
    positive = _positive(sentence)
    found = {
        Choice(key, _SPACES.sub(" ", match.group().lower()))
        for key, pattern in _MEMBERS.items()
        for match in pattern.finditer(positive)
        if _is_meant(key, match, positive, sentence)
    }
    return _only(found, sentence)


_WORDS: Final = frozenset(
    {
        "ava",
        "black",
        "hatch",
        "luxon",
        "moment",
        "node",
        "nose",
        "rebase",
        "requests",
        "sass",
        "spaces",
        "standard",
        "tabs",
    }
)
"""Members that are also ordinary words: "wait a moment", "standard commit messages"."""
_CHOSEN: Final = re.compile(
    r"(?i)\b(?:use|using|uses|prefer|prefers|choose|pick|with|to|only|always)\s+$"
)
# What may follow a member that is the choice itself; before a noun it only describes that.
_AFTER: Final = re.compile(
    r"(?i)\s*(?:$|[.,;:!)]|(?:and|as|because|by|everywhere|for|from|here|in|instead|never|not|now|on|"
    r"only|over|please|rather|since|throughout|to|when|with|always|don|do not)\b)"
)
_AGAINST: Final = re.compile(r"(?i)\s*,?\s*(?:instead of|rather than|over|not)\b")


def _is_meant(key: str, match: re.Match[str], positive: str, sentence: str) -> bool:
    """Whether the word names the tool or habit, and not something of the same name."""
    if _rivals(key, sentence) > 1:
        return True
    after = positive[match.end() :]
    if not _AFTER.match(after):
        return False
    if match.group().lower() not in _WORDS:
        return True
    # Set against something that is no rival ("requests over polling"), it is the other word.
    chosen = _CHOSEN.search(positive[: match.start()])
    told_against = _AGAINST.match(sentence, sentence.find(match.group()) + len(match.group()))
    return bool(chosen) and told_against is None


def _rivals(key: str, sentence: str) -> int:
    """How many members of the family the sentence names."""
    return len({member.lower() for member in _MEMBERS[key].findall(sentence)})


_SPACES: Final = re.compile(r"\s+")


def _positive(sentence: str) -> str:
    """The sentence without the parts that say what not to do."""
    kept: list[str] = []
    position = 0
    while (turn := _TURN.search(sentence, position)) is not None:
        kept.append(sentence[position : turn.start()])
        back = _TURNS_BACK.search(sentence, turn.end())
        if back is None:
            return " ".join(kept)
        position = back.start()
        if position <= turn.start():
            return " ".join(kept)
        # Step over the turning word itself, or it would be found again.
        position = back.end() if back.group().lower().strip() == "but" else back.start() + 1
    kept.append(sentence[position:])
    return " ".join(kept)


def _only(found: set[Choice], sentence: str) -> Choice | None:
    """The one choice; a tool of two families (bun, ruff) belongs to the one its rival names."""
    if len({made.value for made in found}) != 1:
        return None
    if len(found) == 1:
        return next(iter(found))
    rivals = [made for made in found if _rivals(made.key, sentence) > 1]
    return rivals[0] if len(rivals) == 1 else None

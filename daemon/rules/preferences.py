"""What a preference is about and what it chooses, so that a new choice retires the old one.

A closed list of families, each naming tools or habits that exclude one another. Whatever is not
clearly one choice of one family has no key, and retires nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, NamedTuple

from ...storage import drafts, edits, memories, preference_keys
from ...storage.drafts import Draft, Stored
from ...storage.memories import Memory
from ...storage.scope import Scope
from ...storage.transaction import Transaction


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
    "http-client/python": "requests|httpx|aiohttp|urllib3",
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
KEYED: Final = frozenset({"preference", "correction"})
"""Kinds of memories that can make a choice."""
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
    }
    return _only(found, sentence)


class Kept(NamedTuple):
    """A stored draft, and the memory it retired, which no longer holds."""

    stored: Stored
    retired: Memory | None


def insert(tx: Transaction, draft: Draft, *, by: str, only_own: bool) -> Kept:
    """Store the draft; a preference or correction that makes a choice retires the standing one.

    Retiring is a change of the retired row: with `only_own` a standing choice that was written
    under another grant goes on to stand for the key, and the new one is kept beside it.
    Raises what `drafts.insert` raises.
    """
    chooses = draft.kind in KEYED
    scope = Scope([draft.namespace])
    if draft.supersedes is not None:
        old = memories.find(tx.connection, scope, draft.supersedes)
    else:
        old = retired(tx, draft.namespace, draft.content) if chooses else None
        if old is not None and only_own and old.created_by != by:
            return Kept(drafts.insert(tx, draft, by=by), None)
    superseding = replace(draft, supersedes=old.ulid) if old else draft
    stored = drafts.insert(tx, superseding, by=by, only_own=only_own)
    if chooses:
        stand(tx, draft.namespace, draft.content, stored.ulid)
    return Kept(stored, old)


def retired(tx: Transaction, namespace: str, sentence: str) -> Memory | None:
    """The standing memory of the namespace that this sentence's choice replaces, if there is one.

    The same words said again replace nothing: the store counts them as a repetition.
    """
    made = choice(sentence)
    if made is None:
        return None
    scope = Scope([namespace])
    standing = preference_keys.standing(tx.connection, scope, made.key)
    if standing is None:
        return None
    old = memories.find(tx.connection, scope, standing.ulid)
    return None if old is None or old.content == sentence else old


def stand(tx: Transaction, namespace: str, sentence: str, ulid: str) -> None:
    """Let the memory with this text stand for what it chooses; of no effect for one without."""
    made = choice(sentence)
    if made is not None:
        preference_keys.stand(tx, namespace, made.key, made.value, ulid)


def restore(tx: Transaction, scope: Scope, ulid: str, *, by: str, only_own: bool) -> Memory:
    """Bring a retired or archived rule back; whatever stands for the same key makes way for it."""
    memory = memories.get(tx.connection, scope, ulid)
    made = choice(memory.content)
    if made is not None:
        _make_way(tx, Scope([memory.namespace]), made.key, ulid, by, only_own)
    after = edits.update(tx, scope, ulid, {"status": "active"}, by=by, only_own=only_own)
    stand(tx, memory.namespace, memory.content, ulid)
    return after


def _make_way(tx: Transaction, scope: Scope, key: str, ulid: str, by: str, only_own: bool) -> None:
    standing = preference_keys.standing(tx.connection, scope, key)
    if standing is None or standing.ulid == ulid:
        return
    edits.update(tx, scope, standing.ulid, {"status": "archived"}, by=by, only_own=only_own)


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
    rivals = [
        made for made in found if len({m.lower() for m in _MEMBERS[made.key].findall(sentence)}) > 1
    ]
    return rivals[0] if len(rivals) == 1 else None

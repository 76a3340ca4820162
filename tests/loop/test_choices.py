"""A preference retires another only when both choose within one family."""

from __future__ import annotations

import pytest
from recalld.daemon.rules.choices import choice

CHOOSES = {
    "use pnpm not npm in this repo": "pnpm",
    "Actually, use yarn instead of pnpm from now on.": "yarn",
    "Always use tabs, never spaces.": "tabs",
    "Use black for formatting": "black",
    "Always use eslint, not oxlint.": "eslint",
    "Always use requests instead of urllib.": "requests",
    "Use moment, not dayjs": "moment",
    "Always use spaces.": "spaces",
}
NAMES_ONLY = [
    "Always write standard commit messages.",
    "Prefer requests over polling for updates.",
    "Always wait a moment before retrying",
    "Use the hatch pattern",
    "Always put spaces between operators",
    "Prefer pytest fixtures over setup methods",
    "Use node 20",
    "Never use yarn in this repo.",
    "Always use yarn in packages/legacy.",
]


@pytest.mark.parametrize("sentence", CHOOSES)
def test_a_choice_is_recognised(sentence: str) -> None:
    """The member that is chosen counts, not the ones it is set against."""
    made = choice(sentence)
    assert made is not None
    assert made.value == CHOOSES[sentence]


@pytest.mark.parametrize("sentence", NAMES_ONLY)
def test_a_word_of_the_same_name_chooses_nothing(sentence: str) -> None:
    """Ordinary words, mere prohibitions and choices for one place retire nothing."""
    assert choice(sentence) is None

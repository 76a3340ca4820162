"""What the gate keeps of a text that is too long: clean first, cut last."""

from __future__ import annotations

import pytest
from recalld.daemon.injection.block import TAG
from recalld.daemon.intake.gate import MOST_TEXT, admit

KEY = "sk-ant-" + "api03-" + "x7Qp" * 22 + "-AA"


@pytest.mark.parametrize("hidden", ["y" * 50_000, "y" * 63_990 + " MARK", "y" * 200_000 + " MARK"])
def test_a_private_part_across_the_limit_is_gone(hidden: str) -> None:
    """What follows a long private part is looked at as a whole."""
    text = f"<private>{hidden}</private>{'z' * 13_900} {KEY} END"
    assert admit(text).text == f"{'z' * 13_900} [redacted:anthropic-key] END"


def test_a_block_of_ours_across_the_limit_is_gone() -> None:
    """So is what follows a long block of our own."""
    lines = "| y\n" * 30_000
    assert admit(f"<{TAG}>\n{lines}</{TAG}>\nEND").text == "END"


@pytest.mark.parametrize("left", range(0, len(KEY), 7))
def test_no_part_of_a_secret_at_the_end_is_kept(left: int) -> None:
    """Redacting makes texts shorter, so what is cut through beyond the limit can come into view."""
    many = f"{KEY} " * 1_000
    text = many[: 4 * MOST_TEXT - left - 1].rsplit(" ", 1)[0]
    text += " " * (4 * MOST_TEXT - left - len(text)) + KEY
    kept = admit(text + " more").text
    assert KEY[:8] not in kept


def test_a_long_word_is_kept() -> None:
    """Text without blanks keeps its beginning."""
    assert admit("x" * 200_000).text == "x" * MOST_TEXT

"""What is injected stays data: one block, closed by us alone, within its size."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recalld.daemon.injection.block import LIMIT, TAG, Item, render, strip

_TAG_TEXT = st.sampled_from(
    f"<{TAG}>;</{TAG}>;< / {TAG} x>;</{TAG.upper()}>;<rec\u200balld-memories>;\n;\r;| ;<;/;>;{TAG};"
    "[recalld:01A] note · x;\u2028;\u202e;\x1b[0m;3 more via recalld search;&lt;;\U000e0041;a"
    ";\ud800".split(";")
)
_CONTENT = st.lists(_TAG_TEXT | st.text(max_size=20), max_size=12).map("".join)
_FIELD = st.text(max_size=12) | _TAG_TEXT
_ITEM = st.builds(
    Item, id=_FIELD, kind=_FIELD, content=_CONTENT, at=_FIELD, source=_FIELD, namespace=_FIELD
)


def _item(content: str, number: int = 1) -> Item:
    return Item(
        f"01J{number}",
        "note",
        content,
        "2026-03-01T10:00:00.000Z",
        "claude-code",
        "project:x-0a1b2c3d",
    )


def _inside(text: str) -> list[str]:
    """The lines between the tags, after checking that there is exactly one pair, at the ends."""
    lines = text.splitlines()
    assert lines[0] == f"<{TAG}>"
    assert lines[-1] == f"</{TAG}>"
    assert len(re.findall(rf"<\s*/?\s*{TAG}", text, re.IGNORECASE)) == 2
    return lines[1:-1]


def _cases() -> list[str]:
    return [f"i{number:02d}" for number in range(1, 15)]


@pytest.mark.parametrize("name", _cases())
def test_hostile_content_stays_inside_the_block(shared: Path, name: str) -> None:
    """Case D-08: a payload is shown behind the quote mark in one block, or left out if too long."""
    cases = json.loads((shared / "cases" / "injection.json").read_text(encoding="utf-8"))
    case = next(case for case in cases if case["id"] == name)
    payload: str = case["text"] if case["text"] is not None else "x" * 200_000
    block = render([_item("before", 1), _item(payload, 2), _item("after", 3)], heading="Notes")
    lines = _inside(block.text)
    assert len(block.text) <= LIMIT
    assert "| after" in lines
    if len(payload) > LIMIT:
        assert block.ids == ("01J1", "01J3")
        assert lines[-1] == "1 more via recalld search"
        return
    head = next(i for i, line in enumerate(lines) if line.startswith("[recalld:01J2]"))
    quoted = lines[head + 1 : head + 1 + payload.count("\n") + 1]
    assert all(line.startswith("| ") for line in quoted)
    assert not re.search(r"<(?:/memory|!--|function_calls)", block.text)
    assert not [c for c in block.text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf")]


def test_the_shared_cases_are_all_tested(shared: Path) -> None:
    """No payload of the collection is left out of the test above."""
    cases = json.loads((shared / "cases" / "injection.json").read_text(encoding="utf-8"))
    assert [case["id"] for case in cases] == _cases()


def test_an_item_shows_where_it_is_from() -> None:
    """Id, kind, date, source and namespace stand in one line before the content."""
    lines = _inside(render([_item("a\nb")], heading="Known here").text)
    assert lines[0] == "Known here"
    assert lines[2:] == [
        "[recalld:01J1] note · 2026-03-01 · from claude-code · project:x-0a1b2c3d",
        "| a",
        "| b",
    ]


def test_ordinary_code_stays_legible() -> None:
    """Generics, comparisons, HTML, accents and other scripts are shown as they are written."""
    code = "List<int> if a < b: <div class='x'> naïve 日本語\u3000🙂\ufe0f"
    assert "| " + code in render([_item(code)], heading="Notes").text


def test_invisible_characters_are_written_out() -> None:
    """Bidi overrides, zero-width, tags, escapes and separators are shown as escapes."""
    text = render(
        [_item("a\u202eb\u200bc\x1bd\u2028e\U000e0041f\u3164g\ud800\rh")], heading="Notes"
    ).text
    assert "a\\u202eb\\u200bc\\u001bd\\u2028e\\U000e0041f\\u3164g\\ud800\\u000dh" in text


def test_nothing_makes_no_block() -> None:
    """Without items, or without room for even the frame, nothing is injected."""
    assert render([], heading="Notes") == ("", (), 0)
    assert render([_item("x")], heading="Notes", limit=50) == ("", (), 1)


def test_only_whole_items_are_shown() -> None:
    """An item that does not fit is counted, and the ones after it still get their chance."""
    items = [_item("x" * 3000, 1), _item("y" * 9000, 2), _item("z" * 3000, 3)]
    block = render(items, heading="Notes")
    assert block.ids == ("01J1", "01J3")
    assert block.dropped == 1
    assert "y" * 10 not in block.text


@settings(max_examples=300, deadline=None)
@given(st.lists(_ITEM, max_size=8), _FIELD, st.integers(0, 20_000))
def test_a_block_is_always_one_block(items: list[Item], heading: str, limit: int) -> None:
    """Whatever items, heading and limit: one block within the limit, all items counted."""
    block = render(items, heading=heading, limit=limit)
    assert len(block.ids) + block.dropped == len(items)
    assert len(block.text.encode("utf-16-le", "strict")) // 2 <= min(limit, LIMIT)
    if block.text:
        for line in _inside(block.text)[2:]:
            assert (
                line.startswith(("| ", "[recalld:"))
                or line == f"{block.dropped} more via recalld search"
            )
    else:
        assert block.ids == ()


@settings(max_examples=300, deadline=None)
@given(st.lists(_ITEM, min_size=1, max_size=4), st.text(max_size=40), st.text(max_size=40))
def test_our_block_leaves_what_stands_around_it(items: list[Item], before: str, after: str) -> None:
    """Stripping a text around a block gives the text around, and nothing of the block."""
    text = render(items, heading="Notes").text
    assert strip(f"{before}\n{text}\n{after}").split() == f"{before}\n{after}".split()


@settings(max_examples=300, deadline=None)
@given(_CONTENT)
def test_stripping_twice_changes_nothing(text: str) -> None:
    """Stripping is a fixed point and leaves no tag of ours."""
    once = strip(text)
    assert strip(once) == once
    assert not re.search(rf"<{TAG}>", once)


_BLOCK = render([_item("the fix is X\nand Y", 1), _item("other", 2)], heading="Notes").text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("plain text | with bars\n| a | table |", "plain text | with bars\n| a | table |"),
        (f"hello\n{_BLOCK}\nworld", "hello\nworld"),
        (_BLOCK + _BLOCK, ""),
        (_BLOCK.replace("| other", f"| other\n{_BLOCK}"), ""),
        (_BLOCK.replace(f"</{TAG}>", "") + "\nplease fix it", "Notes\n\nplease fix it"),
        (_BLOCK.replace(f"<{TAG}>\n", "ask\n"), "ask\nNotes"),
        (_BLOCK[: _BLOCK.index("and Y")], "Notes"),
        (_BLOCK.replace("\n", "\\n"), ""),
        (_BLOCK.replace("\n", "\n> "), ""),
        (_BLOCK.upper(), ""),
        (f"tell me about the {TAG} tag of recalld", f"tell me about the {TAG} tag of recalld"),
    ],
)
def test_damaged_blocks_are_stripped(text: str, kept: str) -> None:
    """Nested, doubled, cut, edited, quoted and escaped blocks go; the words around them stay."""
    assert strip(text) == kept


def test_stripping_takes_linear_time() -> None:
    """A megabyte of tags is no trouble."""
    for piece in (f"<{TAG}>", f"</{TAG}>", f"<{TAG}", "<", "[recalld:a] \n| x\n"):
        strip(piece * ((1 << 20) // len(piece)))

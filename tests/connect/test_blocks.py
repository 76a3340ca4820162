"""Marked blocks in TOML and Markdown: one pair of markers, everything outside untouched."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recalld.client.connectors import rules_block, settings_toml
from recalld.client.connectors.json_editor import Unfit
from recalld.client.connectors.launch import Launch
from recalld.client.connectors.markers import Misplaced
from recalld.client.connectors.target import Wanted

from tests.connect.documents import proses, toml_texts

ODD = Launch('/opt/q"uo\\te é\x7f/recalld', "/da ta")
WANTED = Wanted("codex", server=ODD.server())
BEGIN, END = rules_block.MARKERS


@settings(deadline=None)
@given(toml_texts())
def test_toml_gets_exactly_our_table(text: str) -> None:
    """The document means the same and one table more, and its text is still there as it was."""
    merged = settings_toml.merged(text, WANTED)
    new, old = tomllib.loads(merged), tomllib.loads(text)
    assert new["mcp_servers"].pop("recalld") == ODD.server()
    assert new == {**old, "mcp_servers": old.get("mcp_servers", {})}
    assert merged.startswith(text)
    assert settings_toml.merged(merged, WANTED) == merged


@settings(deadline=None)
@given(toml_texts(), st.sampled_from(["", "\n[later]\nx = 1\n"]))
def test_toml_comes_back(text: str, later: str) -> None:
    """Taking the block away gives every byte back, also what was appended since."""
    merged = settings_toml.merged(text, WANTED)
    if later and not merged.endswith("\n"):
        return
    assert settings_toml.without(merged + later) == text + later


@settings(deadline=None)
@given(proses(), proses(), st.sampled_from(["- a", "- a\n- b\n", "x <!-- y", BEGIN, END]))
def test_notes_come_back(text: str, other: str, body: str) -> None:
    """Whatever the file is like, and whatever the rules say, the notes come back byte for byte."""
    merged = rules_block.merged(text, body)
    assert merged.startswith(text)
    assert rules_block.merged(merged, body) == merged
    assert rules_block.without(merged) == text
    replaced = rules_block.merged(merged, "- other")
    assert rules_block.without(replaced) == text
    if merged.endswith("\n"):
        assert rules_block.without(merged + other) == text + other


@pytest.mark.parametrize(
    "text",
    [
        f"{BEGIN}\n",
        f"{END}\n",
        f"{END}\n{BEGIN}\n",
        f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n",
    ],
)
def test_markers_that_are_no_pair_are_refused(text: str) -> None:
    """Half a block, or two, could only be mended by guessing what people wrote."""
    with pytest.raises(Misplaced):
        rules_block.merged(text, "- a")
    with pytest.raises(Misplaced):
        rules_block.without(text)


def test_a_block_in_the_middle_is_replaced_where_it_is() -> None:
    """A block that the person moved stays where they put it."""
    text = f"# top\r\n{BEGIN}\r\n- old\r\n{END}\r\nbottom"
    assert rules_block.merged(text, "- new") == text.replace("- old", "- new")


def test_markers_inside_a_line_are_text() -> None:
    """Somebody who writes about the markers does not create a block."""
    text = f"see `{BEGIN}`\n"
    assert rules_block.without(rules_block.merged(text, "- a")) == text


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.recalld]\ncommand = 'other'\n",
        "mcp_servers = {}\n",
        "mcp_servers.recalld.command = 'x'\n",
        "[mcp_servers]\nrecalld = 1\n",
    ],
)
def test_a_table_of_that_name_is_not_overridden(text: str) -> None:
    """Where somebody else's table is in the way, nothing is written."""
    with pytest.raises((Unfit, tomllib.TOMLDecodeError)):
        settings_toml.merged(text, WANTED)


def test_a_right_table_written_by_hand_is_enough() -> None:
    """`codex mcp add recalld` made the table: there is nothing to add."""
    text = (
        "[mcp_servers.recalld]\ncommand = '/x/recalld'\nargs = ['mcp']\nstartup_timeout_sec = 9\n"
    )
    assert (
        settings_toml.merged(text, Wanted("codex", server=Launch("/x/recalld", "").server()))
        == text
    )


def test_broken_toml_is_refused() -> None:
    """A document that Codex could not read is not made worse."""
    with pytest.raises(tomllib.TOMLDecodeError):
        settings_toml.merged("a = \n", WANTED)

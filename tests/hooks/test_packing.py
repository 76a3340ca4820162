"""Events are bounded, and cut without laying open what was hidden."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.client.hooks.event import Event
from recalld.client.hooks.packing import MOST_BYTES, new_id, packed, scrubbed

from tests.harness.jsontypes import JsonObject

KEY = "sk-ant-" + "api03-" + "x7Qp" * 22 + "-AA"
PASSWORD = "correct-horse-9!battery"


def sent(session: str = "s-1", **fields: Any) -> JsonObject:
    """A packed prompt event with these fields."""
    return packed(Event("prompt", session, **fields), "claude-code")


def test_the_usual_event_is_passed_on_unchanged() -> None:
    """Text within its limit arrives as it was, and what the host did not tell is not sent."""
    found = sent(text="use pnpm — not npm", cwd="/a b")
    assert (found["text"], found["cwd"]) == ("use pnpm — not npm", "/a b")
    assert set(found) == {"id", "host", "kind", "at", "session", "text", "cwd"}


def test_both_ends_of_a_long_text_are_kept() -> None:
    """The middle goes, and the gap says how much it was."""
    found = str(sent(response="HEAD" + "x" * 100_000 + "TAIL")["response"])
    assert found.startswith("HEAD")
    assert found.endswith("TAIL")
    assert "characters left out" in found
    assert len(found) <= 8_000


def test_a_secret_across_a_cut_is_gone() -> None:
    """Half a key is not recognised by anyone, so secrets go before the cut."""
    for before in range(3_900, 4_001, 5):
        found = str(sent(response="y" * before + f" {KEY} " + "z " * 20_000)["response"])
        assert KEY[:24] not in found


def test_a_private_part_across_a_cut_is_gone() -> None:
    """The opening tag may be in the part that is cut away; its content goes all the same."""
    hidden = "<private>" + "hush " * 40_000 + "the code is 4711</private> end"
    found = str(sent(text="start " + hidden)["text"])
    assert "hush" not in found
    assert "4711" not in found
    assert found.startswith("start ")
    assert found.endswith(" end")


def test_scrubbing_takes_secrets_and_private_parts() -> None:
    """What is written to a file is clean, in every field that holds text."""
    event = packed(
        Event(
            "tool_failure",
            "s-1",
            text=f"the key is {KEY}",
            input={"command": f"export DB_PASSWORD={PASSWORD}"},
            response=f"postgres://app:{PASSWORD}@db/x",
            error="no <private>4711</private> yes",
        ),
        "codex",
    )
    clean = json.dumps(scrubbed(event))
    assert not [word for word in (KEY, PASSWORD, "4711") if word in clean]
    assert "no  yes" in clean


@pytest.mark.parametrize("field", sorted(set(Event._fields) - {"kind", "session"}))
def test_no_field_takes_a_secret_to_a_file(field: str) -> None:
    """Tools, folders, agents and reasons are words of somebody's too."""
    event = packed(
        Event("stop", "s-1")._replace(**{field: f"use {KEY} <private>4711</private>"}), "x"
    )
    clean = scrubbed(event)
    assert set(clean) == set(event)
    assert not [word for word in (KEY, "4711") if word in json.dumps(clean)]


def test_lone_surrogates_become_replacement_characters() -> None:
    """Real pairs become the character they are, halves become U+FFFD."""
    found = sent(text="a\ud83d b\ude00 \ud83d\ude00", session="s\udfff")
    assert (found["text"], found["session"]) == ("a\ufffd b\ufffd \U0001f600", "s\ufffd")


@given(st.text(max_size=60), st.integers(1, 4_000), st.sampled_from(["text", "input", "error"]))
def test_no_event_is_over_its_bytes(piece: str, times: int, field: str) -> None:
    """Whatever the script, an event fits into 32 kB of JSON."""
    fields: JsonObject = {field: piece * times, "response": [piece] * times}
    found = sent(**fields)
    assert len(json.dumps(found, ensure_ascii=False).encode()) <= MOST_BYTES * 1.05


def test_a_wide_script_fits() -> None:
    """Four full fields of three-byte letters are cut until they fit."""
    full = "語" * 20_000
    found = sent(text=full, input=full, response=full, error=full)
    assert len(json.dumps(found, ensure_ascii=False).encode()) <= MOST_BYTES * 1.05
    assert all(str(found[name]).startswith("語") for name in ("text", "input", "response", "error"))


def test_ids_are_ulids_in_order_of_time() -> None:
    """Later milliseconds sort behind earlier ones, and no two are the same."""
    made = [new_id() for _ in range(2_000)]
    assert len(set(made)) == 2_000
    assert all(len(one) == 26 and one.isupper() for one in made)
    assert [one[:10] for one in made] == sorted(one[:10] for one in made)

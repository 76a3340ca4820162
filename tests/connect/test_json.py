"""Changing JSON as text: what is inserted, what is left alone, and what is taken away again."""

from __future__ import annotations

import json
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recalld.client.connectors import jsonc, settings_json
from recalld.client.connectors.hosts import claude_code
from recalld.client.connectors.json_editor import Editor, Unfit
from recalld.client.connectors.jsonc import Broken
from recalld.client.connectors.launch import Launch
from recalld.client.connectors.target import Wanted

from tests.connect.documents import VALUES, commented, json_texts, plain

LAUNCH = Launch("/opt/x y/recalld", "")
COMMAND = LAUNCH.hook("claude-code")
HOOKS = {event: claude_code.group(COMMAND) for event in ("SessionStart", "Stop")}
WANTED = Wanted("claude-code", HOOKS, LAUNCH.server())


def read(text: str) -> object:
    """The document's value."""
    return jsonc.value(text, jsonc.parse(text))


def expected(value: object) -> dict[str, object]:
    """What merging means, on values."""
    found = dict(cast("dict[str, object]", value))
    hooks = dict(cast("dict[str, list[object]]", found.get("hooks", {})))
    for event, group in HOOKS.items():
        hooks[event] = [*hooks.get(event, []), group]
    servers = cast("dict[str, object]", found.get("mcpServers", {}))
    return {**found, "hooks": hooks, "mcpServers": {**servers, "recalld": LAUNCH.server()}}


def is_inside(old: str, new: str) -> bool:
    """Whether every character of `old` is still there, in order."""
    rest = iter(new)
    return all(char in rest for char in old)


@settings(deadline=None)
@given(VALUES.flatmap(lambda value: st.tuples(st.just(value), plain(value))))
def test_plain_json_reads_as_json(case: tuple[object, str]) -> None:
    """What programs write reads as the standard library reads it."""
    value, text = case
    assert read(text) == value == json.loads(text)


@settings(deadline=None)
@given(VALUES.flatmap(lambda value: st.tuples(st.just(value), commented(value))))
def test_comments_and_trailing_commas_are_read_over(case: tuple[object, str]) -> None:
    """Comments and trailing commas change nothing about the value."""
    value, text = case
    assert read(text) == value


@settings(deadline=None)
@given(json_texts())
def test_merging_adds_exactly_ours(text: str) -> None:
    """The result means the old document and our entries, and no old character is lost."""
    merged, _ = settings_json.merged(text, WANTED)
    assert read(merged) == expected(read(text))
    assert is_inside(text, merged)


@settings(deadline=None)
@given(json_texts())
def test_merging_twice_changes_nothing(text: str) -> None:
    """A second run is byte-identical."""
    merged, _ = settings_json.merged(text, WANTED)
    assert settings_json.merged(merged, WANTED) == (merged, [])


@settings(deadline=None)
@given(json_texts())
def test_taking_ours_out_leaves_the_rest(text: str) -> None:
    """Without any memory of what was there, the value comes back and so does every comment."""
    merged, made = settings_json.merged(text, WANTED)
    left = settings_json.without(merged, "claude-code", made)
    assert read(left) == read(text)
    assert left.count("note") == text.count("note")
    assert settings_json.without(left, "claude-code", made) == left


@settings(deadline=None)
@given(json_texts(), st.sampled_from(["zzz", '"quoted']))
def test_foreign_changes_survive(text: str, name: str) -> None:
    """What somebody adds behind our entries stays when these go."""
    merged, made = settings_json.merged(text, WANTED)
    editor = Editor(merged)
    editor.set((name,), {"deep": [1]})
    editor.append(("hooks", "Stop"), {"command": "theirs"})
    left = cast("dict[str, object]", read(settings_json.without(editor.text, "claude-code", made)))
    assert left[name] == {"deep": [1]}
    stops = cast("dict[str, list[object]]", left["hooks"])["Stop"]
    assert stops[-1] == {"command": "theirs"}
    assert "/opt/x y/recalld" not in json.dumps(left)


@settings(deadline=None)
@given(json_texts())
def test_documents_of_one_line_stay_on_one_line(text: str) -> None:
    """Minified settings stay minified; the style of a file is its owner's."""
    one_line = json.dumps(read(text))
    if one_line != "{}":
        merged, _ = settings_json.merged(one_line, WANTED)
        assert "\n" not in merged


def test_indentation_and_line_ends_are_the_files_own() -> None:
    """Tabs stay tabs, CRLF stays CRLF, and the last line end stays as it is."""
    text = '{\r\n\t"model": "opus", // mine\r\n\t"hooks": {}\r\n}'
    merged, _ = settings_json.merged(text, WANTED)
    assert merged.replace("\r\n", "").count("\n") == 0
    assert merged.startswith(
        '{\r\n\t"model": "opus", // mine\r\n\t"hooks": {\r\n\t\t"SessionStart": ['
    )
    assert merged.endswith("\r\n}")


def test_a_moved_launcher_is_corrected_in_place() -> None:
    """Only the command changes; place, time-out, comments and additions stay as they were."""
    text = settings_json.merged("{}", WANTED)[0]
    text = text.replace('"timeout": 5', '"timeout": 9 /* slow disk */', 1)
    text = text.replace('"args"', '"autoApprove": ["recall"],\n      "args"')
    moved = Launch("/new/recalld", "/data")
    hooks = {event: claude_code.group(moved.hook("claude-code")) for event in HOOKS}
    new, made = settings_json.merged(text, Wanted("claude-code", hooks, moved.server()))
    assert made == []
    assert '"timeout": 9 /* slow disk */' in new
    assert "/opt/x y" not in new
    server = Editor(new).value(("mcpServers", "recalld"))
    assert server == {**moved.server(), "autoApprove": ["recall"]}
    back, _ = settings_json.merged(new, WANTED)
    assert "/data" not in back


def test_events_no_longer_used_and_doubles_go() -> None:
    """Entries of ours that an older version left, or that are there twice, do not stay."""
    group = json.dumps(claude_code.group(COMMAND))
    text = f'{{"hooks": {{"Gone": [{group}], "Stop": [{group}, {{"hooks": []}}, {group}]}}}}'
    merged, _ = settings_json.merged(text, WANTED)
    assert merged.count(json.dumps(COMMAND)) == 2
    assert '{"hooks": []}' in merged


def test_a_group_shared_with_another_hook_keeps_it() -> None:
    """When somebody put their command beside ours, only ours goes."""
    ours, theirs = {"command": COMMAND}, {"command": "theirs"}
    text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": [ours, theirs]}]}})
    left = settings_json.without(text, "claude-code", None)
    assert json.loads(left) == {"hooks": {"Stop": [{"matcher": "x", "hooks": [theirs]}]}}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "}",
        '{"a": 1,, "b": 2}',
        '{"a" 1}',
        "{'a': 1}",
        '{"a": 01}',
        '{"a": NaN}',
        '{"a": "\n"}',
        '{"a": "\\x"}',
        '{"a": 1} x',
        '{"a": 1 /* open }',
        "{,}",
        "<<<<<<< HEAD\n{}",
        '{"a": ' + "[" * 5000 + "]" * 5000 + "}",
    ],
)
def test_broken_json_is_refused(text: str) -> None:
    """Whatever JSON.parse would refuse is refused here too, and deep nesting does not crash."""
    with pytest.raises(Broken, match=r"line \d+, column \d+"):
        jsonc.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        '{"hooks": []}',
        '{"hooks": null}',
        '{"hooks": {"Stop": {}}}',
        '{"mcpServers": "x"}',
        '{"mcpServers": {"recalld": {"command": "other"}}}',
        '{"mcpServers": {"recalld": null}}',
    ],
)
def test_documents_without_room_for_ours_are_refused(text: str) -> None:
    """A value of another type where our entry has to go is somebody's, and is never replaced."""
    with pytest.raises(Unfit):
        settings_json.merged(text, WANTED)


def test_of_two_members_with_one_name_the_last_counts() -> None:
    """As in every JSON reader; so our hooks go where the host will see them."""
    merged, _ = settings_json.merged('{"hooks": {"a": 1}, "hooks": {}}', Wanted("x", {"Stop": 1}))
    assert json.loads(merged) == {"hooks": {"Stop": [1]}}

"""The namespace grammar and the naming of projects."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.auth.errors import InvalidNamespace
from recalld.auth.namespaces import SLUG_LIMIT, is_valid, parse, project_namespace, slug

PATHS = st.text(st.characters(exclude_characters="\0"), max_size=60).filter(
    lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text)
)


@pytest.mark.parametrize(
    "name",
    [
        "user:local",
        "default",
        "org:acme",
        "org:a.b_c-d",
        "org:" + "x" * 64,
        "project:api-0123abcd",
        "project:my-api-2-0123abcd",
        "project:" + "a" * 32 + "-0123abcd",
    ],
)
def test_names_of_the_grammar_are_accepted(name: str) -> None:
    """Each kind of namespace comes back as it was given."""
    assert parse(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "user:other",
        "Default",
        "default\n",
        " default",
        "org:",
        "org:-x",
        "org:Acme",
        "org:a/b",
        "org:" + "x" * 65,
        "project:0123abcd",
        "project:-0123abcd",
        "project:api-0123abc",
        "project:api-0123ABCD",
        "project:api--0123abcd",
        "project:" + "a" * 33 + "-0123abcd",
        "project:ä-0123abcd",
        "project:api-0123abcd\n",
        "project:api-0123abc\u0664",
        "*",
        "project:*",
    ],
)
def test_other_names_are_refused(name: str) -> None:
    """No near miss passes, and the error shows the name without being broken by it."""
    assert not is_valid(name)
    with pytest.raises(InvalidNamespace) as refused:
        parse(name)
    assert refused.value.message.isprintable()


def test_a_long_wrong_name_does_not_flood_the_error() -> None:
    """The message stays one line however long the name is."""
    with pytest.raises(InvalidNamespace) as refused:
        parse("x" * 100_000)
    assert len(refused.value.message) < 120


@given(PATHS)
def test_every_path_has_a_valid_namespace(text: str) -> None:
    """Any path gives a name of the grammar, the same one each time."""
    path = "/" + text
    name = project_namespace(path)
    assert is_valid(name)
    assert name == project_namespace(path)


@given(st.binary(max_size=40).filter(lambda raw: b"\0" not in raw))
def test_undecodable_paths_have_a_valid_namespace(raw: bytes) -> None:
    """File names are bytes; those that are no UTF-8 are named and hashed like the others."""
    assert is_valid(project_namespace(os.fsdecode(b"/" + raw)))


@given(PATHS, PATHS)
def test_different_places_have_different_namespaces(one: str, other: str) -> None:
    """Two paths share a namespace only if they are the same path."""
    same = project_namespace("/" + one) == project_namespace("/" + other)
    assert same == (one == other)


@given(st.text(max_size=200))
def test_slugs_are_short_and_plain(name: str) -> None:
    """A slug is 1 to 32 characters of a-z, 0-9 and inner hyphens."""
    made = slug(name)
    assert 1 <= len(made) <= SLUG_LIMIT
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert made.strip("-") == made


def test_the_naming_is_pinned() -> None:
    """The name of a place never changes between versions: memories would be lost with it."""
    assert project_namespace("/home/u/api") == "project:api-0ce777cf"

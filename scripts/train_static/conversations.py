"""What people say to each other: turns of talk, and answers to questions."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import cast

from .prose import squeeze

_Turn = list[dict[str, str]]


def chats(dataset: str) -> Iterator[list[str]]:
    """The conversations of chitchat-dataset, a text for each turn."""
    stored = cast("dict[str, dict[str, list[_Turn]]]", json.loads(dataset))
    for conversation in stored.values():
        yield [_spoken(turn) for turn in conversation["messages"]]


def _spoken(turn: _Turn) -> str:
    return squeeze(" ".join(message["text"] for message in turn))


def dialogues(corpus: str) -> Iterator[list[str]]:
    """The dialogues of a chatterbot-corpus file, read without a YAML library."""
    turns: list[str] = []
    for line in corpus.split("\n"):
        text = line.strip()
        if text.startswith("- - "):
            if turns:
                yield turns
            turns = [text[4:]]
        elif turns and text.startswith("- "):
            turns.append(text[2:])
    if turns:
        yield turns


def answers(turns: list[str]) -> Iterator[tuple[str, str]]:
    """Each question of a conversation with what was said next."""
    for asked, said in pairwise(turns):
        if asked.endswith("?"):
            yield asked, said

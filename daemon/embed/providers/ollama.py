"""Ollama's way of asking for vectors: POST /api/embed."""

from __future__ import annotations

from collections.abc import Sequence

from .remote import Dialect

URL = "http://127.0.0.1:11434"
"""Where Ollama listens unless told otherwise."""


def _body(model: str, texts: Sequence[str]) -> dict[str, object]:
    # It cuts what is still too long for the model by itself.
    return {"model": model, "input": list(texts), "truncate": True}


def _vectors(answer: dict[str, object]) -> object:
    return answer.get("embeddings")


OLLAMA = Dialect("ollama", "/api/embed", _body, _vectors)

"""The way of OpenAI and of the many servers that imitate it: POST <base>/embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..protocol import VectorsUnavailable
from .remote import Dialect


def _body(model: str, texts: Sequence[str]) -> dict[str, object]:
    return {"model": model, "input": list(texts), "encoding_format": "float"}


def _vectors(answer: dict[str, object]) -> object:
    """The vectors in the order of the texts: by `index`, not by where they stand."""
    try:
        data = cast("list[dict[str, object]]", answer["data"])
        placed = {cast("int", item["index"]): item["embedding"] for item in data}
        return [placed[at] for at in range(len(data))]
    except (KeyError, TypeError):
        raise VectorsUnavailable("The provider's answer holds no vectors.") from None


OPENAI = Dialect("openai", "embeddings", _body, _vectors)

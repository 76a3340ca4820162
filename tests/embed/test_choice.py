"""Which embedder the settings choose, and which settings do not go together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recalld.auth.errors import InvalidSettings
from recalld.daemon.embed.choice import choose
from recalld.daemon.embed.none import NoEmbedder
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.providers.guarded import Guarded
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.daemon.settings import Settings, load


def _loaded(**values: object) -> Settings:
    environ = {f"RECALLD_{name.upper()}": str(value) for name, value in values.items()}
    return load("/nonexistent/config.toml", environ)


@pytest.mark.parametrize(
    ("values", "kind", "model"),
    [
        ({}, Layered, "static-minilm-256, notes by all-minilm-l6-v2"),
        ({"embedder": "static"}, StaticEmbedder, "static-minilm-256"),
        ({"embedder": "none"}, NoEmbedder, "none"),
        ({"embedder": "minilm"}, Layered, "static-minilm-256, all by all-minilm-l6-v2"),
        ({"embedder": "ollama", "embed_model": "nomic"}, Guarded, "ollama:nomic"),
        ({"embedder": "onnx", "embed_model": "/models/e5/"}, Guarded, "onnx:e5"),
        (
            {"embedder": "openai", "embed_model": "m", "embed_url": "http://127.0.0.1:1/v1"},
            Guarded,
            "openai:m",
        ),
    ],
)
def test_settings_choose(values: dict[str, object], kind: type, model: str) -> None:
    """Each name gives its embedder, and nothing is loaded or asked yet."""
    chosen = choose(_loaded(**values)).chosen
    assert (type(chosen), chosen.model) == (kind, model)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"embedder": "psychic"}, "'embedder'"),
        ({"embedder": "ollama"}, "'embed_model'"),
        ({"embedder": "onnx"}, "'embed_model'"),
        ({"embedder": "openai", "embed_model": "m"}, "'embed_url'"),
        ({"embed_model": "m"}, "no effect"),
        ({"embedder": "minilm", "embed_query_prefix": "query: "}, "no effect"),
        ({"embedder": "onnx", "embed_model": "m", "embed_url": "http://x"}, "no effect"),
        ({"embedder": "ollama", "embed_model": "m", "embed_url": "ftp://x"}, "no address"),
        (
            {
                "embedder": "ollama",
                "embed_model": "m",
                "embed_url": "http://example.com",
                "embed_api_key_file": "/key",
            },
            "in the clear",
        ),
    ],
)
def test_what_does_not_go_together(values: dict[str, object], complaint: str) -> None:
    """A setting that is missing, ignored or dangerous stops the start with a sentence, and the
    file to correct is named.
    """
    with pytest.raises(InvalidSettings, match=complaint) as caught:
        _loaded(**values)
    assert "/nonexistent/config.toml" in (caught.value.hint or "")


def test_prefixes_and_dimension_are_part_of_the_space() -> None:
    """Vectors made with other prefixes or of another dimension are never compared."""
    base: dict[str, object] = {"embedder": "ollama", "embed_model": "m", "embed_dimension": 8}
    others: list[dict[str, object]] = [
        {},
        {"embed_document_prefix": "passage: "},
        {"embed_query_prefix": "query: "},
        {"embed_dimension": 16},
        {"embed_model": "n"},
    ]
    spaces = {choose(_loaded(**(base | other))).chosen.space for other in others}
    assert len(spaces) == len(others)


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_the_key_file_must_be_ours_alone(tmp_path: Path, mode: int) -> None:
    """A key others can read is not used, and the trouble is told; nor is an empty one."""
    path = tmp_path / "key"
    path.write_text("" if mode == 0o600 else "secret")
    os.chmod(path, mode)
    settings = _loaded(
        embedder="openai",
        embed_model="m",
        embed_url="http://127.0.0.1:9/v1",
        embed_api_key_file=str(path),
    )
    with pytest.raises(VectorsUnavailable, match="key"):
        choose(settings).chosen.load()

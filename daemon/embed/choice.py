"""Which embedder the settings ask for."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ...auth.errors import RecalldError
from ...auth.paths import read_private
from .none import NoEmbedder
from .protocol import Embedder, VectorsUnavailable
from .providers.guarded import Guarded
from .providers.ollama import OLLAMA
from .providers.ollama import URL as OLLAMA_URL
from .providers.onnx import Onnx
from .providers.openai_compatible import OPENAI
from .providers.post import Place
from .providers.remote import Model, Remote
from .shipped.alignment import Alignment
from .shipped.layered import Layered
from .shipped.minilm import MiniLm
from .shipped.static import StaticEmbedder


class EmbedderSettings(Protocol):
    """The part of the daemon's settings that decides; see settings.py for what each one means."""

    @property
    def embedder(self) -> str:
        """`layered`, `static`, `minilm`, `onnx`, `ollama`, `openai` or `none`."""
        ...

    @property
    def embed_model(self) -> str:
        """The provider's name of the model, or the folder of an ONNX one."""
        ...

    @property
    def embed_url(self) -> str:
        """The provider's address; empty for the usual one."""
        ...

    @property
    def embed_api_key_file(self) -> str:
        """File with the key; empty for none."""
        ...

    @property
    def embed_query_prefix(self) -> str:
        """Put before questions."""
        ...

    @property
    def embed_document_prefix(self) -> str:
        """Put before memories."""
        ...

    @property
    def embed_dimension(self) -> int:
        """Numbers per vector; 0 asks the model."""
        ...

    @property
    def embed_max_chars(self) -> int:
        """Longer texts are cut."""
        ...

    @property
    def embed_timeout_s(self) -> float:
        """For one batch of memories."""
        ...

    @property
    def embed_query_ms(self) -> int:
        """For one question."""
        ...


class Choice(NamedTuple):
    """The chosen embedder, those that may serve while its vectors are being made, and the one that
    says how close two texts are, which must always be quick.
    """

    chosen: Embedder
    others: tuple[Embedder, ...]
    near: Embedder


def choose(settings: EmbedderSettings) -> Choice:
    """The embedders the settings ask for, with their weights not loaded yet."""
    if settings.embedder == "none":
        nothing = NoEmbedder()
        return Choice(nothing, (), nothing)
    static = StaticEmbedder()
    minilm, alignment = MiniLm(), Alignment()
    shipped: dict[str, Embedder] = {
        "layered": Layered(static, minilm, alignment),
        "static": static,
        "minilm": Layered(static, minilm, alignment, thorough=True),
    }
    chosen = shipped.pop(settings.embedder, None)
    if chosen is None:
        chosen = Guarded(_slow(settings), settings.embed_query_ms / 1000)
    return Choice(chosen, tuple(shipped.values()), static)


def _slow(settings: EmbedderSettings) -> Embedder:
    model = Model(
        settings.embed_model,
        settings.embed_dimension,
        settings.embed_document_prefix,
        settings.embed_query_prefix,
        settings.embed_max_chars,
        settings.embed_timeout_s,
    )
    if settings.embedder == "onnx":
        return Onnx(model)
    dialect, usual = (OPENAI, "") if settings.embedder == "openai" else (OLLAMA, OLLAMA_URL)
    url, path = settings.embed_url or usual, settings.embed_api_key_file
    return Remote(dialect, lambda: Place(url, _key(path) if path else ""), model)


def _key(path: str) -> str:
    """The key, read anew with every load, so that a corrected file is enough."""
    try:
        raw = read_private(path)
    except (OSError, RecalldError) as error:
        raise VectorsUnavailable(f"The key cannot be read: {error}") from error
    if not raw or not raw.strip():
        raise VectorsUnavailable(f"There is no key in {path}.")
    return raw.decode("utf-8", "replace").strip()

"""Which embedding settings go together: what an embedder needs, and what it would ignore."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Final

from ...auth.errors import InvalidSettings

if TYPE_CHECKING:
    from .choice import EmbedderSettings

_MODEL: Final = frozenset(
    {
        "embed_model",
        "embed_query_prefix",
        "embed_document_prefix",
        "embed_dimension",
        "embed_max_chars",
        "embed_query_ms",
    }
)
_PROVIDER: Final = _MODEL | {"embed_url", "embed_api_key_file", "embed_timeout_s"}
_USED: Final = {"onnx": _MODEL, "ollama": _PROVIDER, "openai": _PROVIDER}
_NEEDED: Final = {"onnx": ("embed_model",), "ollama": ("embed_model",)}
_NEEDED_BY_OPENAI: Final = ("embed_model", "embed_url")


def check(settings: EmbedderSettings, given: Set[str]) -> None:
    """Raise InvalidSettings unless the settings fit the embedder; `given` are those that were set.

    One that would be ignored is an error: whoever set it believes that it counts.
    """
    kind = settings.embedder
    ignored = sorted(n for n in given if n.startswith("embed_") and n not in _USED.get(kind, ()))
    if ignored:
        raise InvalidSettings(
            f"Setting {ignored[0]!r} has no effect with embedder = {kind!r}.",
            hint="Remove it, or choose the embedder it is for.",
        )
    needed = _NEEDED_BY_OPENAI if kind == "openai" else _NEEDED.get(kind, ())
    for name in needed:
        if not getattr(settings, name):
            raise InvalidSettings(f"embedder = {kind!r} needs the setting {name!r}.")
    if settings.embed_url:
        _check_address(settings.embed_url, has_key=bool(settings.embed_api_key_file))


def _check_address(url: str, *, has_key: bool) -> None:
    from .providers.post import is_loopback  # for those who use a provider

    if not url.startswith(("http://", "https://")):
        raise InvalidSettings(
            "Setting 'embed_url' is no address of a provider.",
            hint="It begins with http:// or https://.",
        )
    if has_key and url.startswith("http://") and not is_loopback(url):
        raise InvalidSettings(
            "With this embed_url the key would travel in the clear.",
            hint="Use an https:// address.",
        )

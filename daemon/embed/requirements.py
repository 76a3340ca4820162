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
_NEEDED: Final = {
    "onnx": {"embed_model": "the folder of the model"},
    "ollama": {"embed_model": "the provider's name of the model"},
    "openai": {
        "embed_model": "the provider's name of the model",
        "embed_url": "the provider's address up to and with /v1",
    },
}


def check(settings: EmbedderSettings, given: Set[str], config: str, prefix: str) -> None:
    """Raise InvalidSettings unless the settings fit the embedder; `given` are those that were set,
    in the file `config` or by variables that begin with `prefix`.

    One that would be ignored is an error: whoever set it believes that it counts.
    """
    kind = settings.embedder
    ignored = sorted(n for n in given if n.startswith("embed_") and n not in _USED.get(kind, ()))
    if ignored:
        raise InvalidSettings(
            f"Setting {ignored[0]!r} has no effect with embedder = {kind!r}.",
            hint=f"Remove it from {_places(ignored[0], config, prefix)},"
            " or choose the embedder it is for.",
        )
    for name, meaning in _NEEDED.get(kind, {}).items():
        if not getattr(settings, name):
            raise InvalidSettings(
                f"embedder = {kind!r} needs the setting {name!r}, {meaning}.",
                hint=f"Add it to {_places(name, config, prefix)}.",
            )
    if settings.embed_url:
        where = _places("embed_url", config, prefix)
        _check_address(settings.embed_url, where, has_key=bool(settings.embed_api_key_file))


def _places(name: str, config: str, prefix: str) -> str:
    return f"{config} (or {prefix}{name.upper()})"


def _check_address(url: str, where: str, *, has_key: bool) -> None:
    from .providers.post import is_loopback  # for those who use a provider

    if not url.startswith(("http://", "https://")):
        raise InvalidSettings(
            "Setting 'embed_url' is no address of a provider.",
            hint=f"It begins with http:// or https://; correct it in {where}.",
        )
    if has_key and url.startswith("http://") and not is_loopback(url):
        raise InvalidSettings(
            "With this embed_url the key would travel in the clear.",
            hint=f"Use an https:// address in {where}.",
        )

"""What the vectors are like, in words: `status`, `doctor` and `reembed` say the same of them."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..connection.documents import Document, count, document, maybe_text, text
from .wording import counted

_REMEDIES: Final = {
    "onnx": ("Mend that", "embed_model"),
    "ollama": ("Start Ollama", "embed_url and embed_model"),
    "openai": ("Start the provider", "embed_url, embed_model and embed_api_key_file"),
}
"""What to do, and which settings may be wrong, when the embedder of this name gives no vectors; the
others are part of recalld."""
_LOOK: Final = "Run: recalld logs"
_BY_WORDS: Final = "recall goes by words only"


class Finding(NamedTuple):
    """`state` is ok, note, warning or failure, as of doctor's checks; `fix` is what to do."""

    state: str
    seen: str
    fix: str = ""


def finding(told: Document, config: str) -> Finding:
    """What is to be said of the `embedding` part of a status; `config` is the file of settings."""
    state, trouble = text(told, "state"), _trouble(told)
    if state == "off":
        return Finding("ok", f'switched off (embedder = "none"), {_BY_WORDS}')
    if state == "unavailable":
        seen = f"the vector extension (sqlite-vec) could not be loaded, {_BY_WORDS}"
        return Finding("warning", seen, _LOOK)
    if state == "loading":
        return Finding("note", _loading(told))
    if state == "failed" and not text(told, "model"):
        seen = f"recall could not be loaded ({trouble or 'unknown'}) and does not answer"
        return Finding("failure", seen, _LOOK)
    if state == "failed":
        seen = f"{name(told)} gives no vectors ({trouble}), {_waiting(told)}{_meanwhile(told)}"
        return Finding("warning", seen, remedy(told, config))
    return _at_work(told, config)


def name(told: Document) -> str:
    """The embedder as the settings name it, with the model it stands for once that is known."""
    embedder, model = text(told, "embedder"), text(told, "model")
    if not model or not embedder:
        return model or embedder or "the embedder"
    return model if model.startswith((f"{embedder}:", f"{embedder} ")) else f"{embedder} ({model})"


def remedy(told: Document, config: str) -> str:
    """What to do about an embedder that gives no vectors."""
    embedder = text(told, "embedder")
    if embedder not in _REMEDIES:
        return _LOOK
    deed, names = _REMEDIES[embedder]
    changed = f"or correct {names} in {config} and run: recalld restart"
    return f"It is tried again by itself. {deed}, {changed}"


def troubles(told: Document) -> set[str]:
    """Everything that is said to be wrong with vectors."""
    return {text(told, "last_error"), text(document(told.get("reading")), "last_error")} - {""}


def is_failing(told: Document) -> bool:
    """Whether memories get no vectors just now."""
    return text(told, "state") == "failed"


def progress(told: Document) -> str:
    """How many memories have their vector."""
    total, lacking = count(told, "total"), count(told, "pending") + count(told, "refused")
    return f"{total - lacking} of {total} memories have their vector"


def _trouble(told: Document) -> str:
    """What is wrong, as part of another sentence."""
    return text(told, "last_error").rstrip(".")


def _loading(told: Document) -> str:
    if text(told, "model"):
        return f"{name(told)} is being loaded, {_meanwhile(told)}"
    if text(told, "embedder") == "none":
        return 'recall is being loaded, by words only (embedder = "none")'
    return f"{name(told)} is being loaded, recall waits for it"


def _waiting(told: Document) -> str:
    pending = count(told, "pending")
    if not pending:
        return ""
    return f"{pending} of {count(told, 'total')} memories wait for theirs, "


def _meanwhile(told: Document) -> str:
    """What answers questions as long as the embedder does not."""
    serving = maybe_text(told, "serving")
    if serving is None:
        return _BY_WORDS
    if serving == text(told, "model"):
        return "recall goes on with the vectors there are"
    return f"recall goes on with older vectors ({serving})"


def _at_work(told: Document, config: str) -> Finding:
    """An embedder that works, and what of its work is left or failed."""
    done = not count(told, "pending") and text(told, "state") == "ready"
    seen = f"{name(told)} is {'ready' if done else 'at work'}"
    seen += f": {progress(told)}" if count(told, "total") else ""
    if not done and maybe_text(told, "serving") != text(told, "model"):
        seen += f", {_meanwhile(told)}"
    trouble = _trouble(told)
    if count(told, "refused"):
        seen += f", {count(told, 'refused')} are refused one ({trouble})"
    state, fix = "ok", ""
    if text(told, "questions") == "failing":
        seen += f", the last question got no vector ({trouble}) and was answered by words only"
        state, fix = "warning", remedy(told, config)
    reading = document(told.get("reading"))
    unread, failed = count(reading, "unread"), _trouble(reading)
    seen += f", {counted(unread, 'memory', 'memories')} to be read closely" if unread else ""
    if failed:
        seen += f", close reading fails ({failed}) and the vectors made at once serve"
        state, fix = "warning", fix or _LOOK
    return Finding(state, seen, fix)

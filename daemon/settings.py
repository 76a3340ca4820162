"""Every setting of the daemon: read once, frozen, passed down.

Read from `<data>/config.toml`, then from RECALLD_* variables (`workers` is RECALLD_WORKERS), which
win. pydantic-settings would do this too, for 326 ms of import at every cold start.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..auth.errors import InvalidSettings, UnsafePermissions
from ..auth.paths import refuse_written_by_anybody
from .embed import requirements

PREFIX = "RECALLD_"


class Settings(BaseModel):
    """The daemon's settings; times in seconds unless the name says otherwise, sizes in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workers: Annotated[int, Field(ge=1, le=32)] = 4
    """Threads that read, each with a connection of its own."""
    waiting: Annotated[int, Field(ge=0, le=4096)] = 64
    """Reads that may wait for a worker; the next one is told to come back (429)."""
    writes_waiting: Annotated[int, Field(ge=1, le=100_000)] = 2048
    """Writes that may wait for the writer: four of its commits."""
    recall_timeout_ms: Annotated[int, Field(ge=50, le=120_000)] = 10_000
    """How long a read may take when the client does not say."""
    idle_exit_s: Annotated[float, Field(ge=0, le=1e7)] = 1800.0
    """A spawned daemon ends after this long without a request; 0 keeps it."""
    drain_s: Annotated[float, Field(ge=0, le=60)] = 3.0
    """How long requests under way may take to end when the daemon stops."""
    max_connections: Annotated[int, Field(ge=8, le=65_536)] = 4096
    keep_alive_s: Annotated[int, Field(ge=1, le=3600)] = 120
    """Idle connections stay open this long: longer than any client keeps them (httpx: 5 s)."""
    head_timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    body_timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    write_timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    """A client that takes nothing of its answer for this long is cut off."""
    max_body: Annotated[int, Field(ge=1024, le=1 << 30)] = 1 << 20
    max_batch_body: Annotated[int, Field(ge=1024, le=1 << 30)] = 16 << 20
    max_buffered: Annotated[int, Field(ge=1 << 20, le=1 << 32)] = 32 << 20
    """All request bodies being read or worked on together; beyond it senders are told to wait."""
    max_streams: Annotated[int, Field(ge=0, le=4096)] = 64
    heartbeat_s: Annotated[float, Field(gt=0, le=600)] = 15.0
    supervise_s: Annotated[float, Field(gt=0, le=600)] = 5.0
    """How often the lock, the folder and the discovery record are looked after."""
    switch_interval_ms: Annotated[float, Field(gt=0, le=100)] = 0.5
    """sys.setswitchinterval: 0.5 ms keeps health below 10 ms beside busy workers (5 ms: 18)."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_bytes: Annotated[int, Field(ge=1 << 16, le=1 << 30)] = 5 << 20
    log_files: Annotated[int, Field(ge=1, le=20)] = 3
    llm: Literal["off", "claude", "codex", "gemini", "kiro", "ollama"] = "off"
    """Which language model may read prompts a second time, by the user's own command line."""
    llm_model: Annotated[str, Field(max_length=100)] = ""
    """A model of that provider; its own default when empty."""
    llm_url: Annotated[str, Field(max_length=200, pattern="^https?://")] = "http://127.0.0.1:11434"
    """Where Ollama listens."""
    llm_calls_per_day: Annotated[int, Field(ge=0, le=10_000)] = 100
    llm_timeout_s: Annotated[float, Field(gt=0, le=600)] = 60.0
    auto_demote: bool = False
    """Whether rules nobody ever cites are put away, where they were relevant often enough."""
    embedder: Literal["layered", "static", "minilm", "onnx", "ollama", "openai", "none"] = "layered"
    """What makes vectors: the shipped table at once and the shipped MiniLM for notes when it is
    quiet, the table alone, MiniLM for everything, a local ONNX folder, a provider, or nothing."""
    embed_model: Annotated[str, Field(max_length=4096)] = ""
    """The provider's name of the model; for `onnx` the folder."""
    embed_url: Annotated[str, Field(max_length=2048)] = ""
    """Where the provider listens; for `openai` up to and with /v1, for `ollama` may be left out."""
    embed_api_key_file: Annotated[str, Field(max_length=4096)] = ""
    embed_query_prefix: Annotated[str, Field(max_length=1000)] = ""
    embed_document_prefix: Annotated[str, Field(max_length=1000)] = ""
    embed_dimension: Annotated[int, Field(ge=0, le=8192)] = 0
    """Numbers per vector; 0 asks the model."""
    embed_max_chars: Annotated[int, Field(ge=200, le=65_536)] = 8000
    """Longer texts are cut before they are sent; less is learned from a provider that refuses."""
    embed_timeout_s: Annotated[float, Field(ge=0.1, le=600)] = 20.0
    """For one batch of memories."""
    embed_query_ms: Annotated[int, Field(ge=10, le=10_000)] = 250
    """How long a recall waits for the vector of its question; then words alone answer."""
    matrix_bytes: Annotated[int, Field(ge=0, le=1 << 34)] = 96 << 20
    """Memory for the vectors of namespaces in use; the least recently used are dropped."""


def load(config: str, environ: Mapping[str, str]) -> Settings:
    """The settings in force.

    Raises:
        InvalidSettings: an unknown name in the file, an impossible value in file or environment,
            or embedding settings that do not go together.
        UnsafePermissions: anybody could have written the file.
    """
    values: dict[str, object] = {**_from_file(config), **_from_environment(environ)}
    try:
        chosen = Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise InvalidSettings(
                f"There is no setting {name!r}.", hint=f"Correct or remove it in {config}."
            ) from None
        raise InvalidSettings(
            f"Setting {name!r} is wrong: {first['msg']}.",
            hint=f"Correct it in {config} or in {PREFIX}{name.upper()}.",
        ) from None
    requirements.check(chosen, chosen.model_fields_set, config, PREFIX)
    return chosen


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """RECALLD_* variables that are no daemon setting: the clients' own ones, or a typing error."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    return sorted(n for n in environ if n.startswith(PREFIX) and n not in known)


def _from_file(config: str) -> dict[str, object]:
    try:
        fd = os.open(config, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidSettings(f"{config} cannot be read: {error.strerror}.") from error
    try:
        # It says who is asked for vectors, and with whose key; so whoever wrote it must be trusted.
        refuse_written_by_anybody(config, os.fstat(fd))
    except UnsafePermissions:
        os.close(fd)
        raise
    with open(fd, "rb") as file:
        try:
            return tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidSettings(f"{config} is not valid TOML: {error}.") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    return {
        name: environ[PREFIX + name.upper()]
        for name in Settings.model_fields
        if PREFIX + name.upper() in environ
    }

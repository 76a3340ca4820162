"""What is remarkable about an explicit write. It is kept as it is said; the writer is told."""

from __future__ import annotations

from typing import Final

from ...auth.redaction import redact
from ...storage.drafts import Draft

_SECRET: Final = "secret:"  # noqa: S105 - how such a flag begins


def flags_of(draft: Draft) -> list[str]:
    """`secret:<kind>` for every kind of secret in the text or its detail, sorted."""
    kinds = {kind for text in (draft.content, draft.detail or "") for kind in redact(text)[1]}
    return [f"{_SECRET}{kind}" for kind in sorted(kinds)]


def secrets_of(flags: list[str]) -> list[str]:
    """The kinds of secrets that flags name."""
    return [flag.removeprefix(_SECRET) for flag in flags if flag.startswith(_SECRET)]

"""What is remarkable about an explicit write. It is kept as it is said; the writer is told."""

from __future__ import annotations

from ...auth.redaction import redact
from ...storage.drafts import Draft


def flags_of(draft: Draft) -> list[str]:
    """`secret:<kind>` for every kind of secret in the text or its detail, sorted."""
    kinds = {kind for text in (draft.content, draft.detail or "") for kind in redact(text)[1]}
    return [f"secret:{kind}" for kind in sorted(kinds)]

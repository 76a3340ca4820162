"""The version of this package, as clients tell it and compare with nothing."""

from __future__ import annotations

# At the repository's root there is no package to import from: only the installed layout has one.
from .. import __version__ as _version  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

VERSION = str(_version)  # pyright: ignore[reportUnknownArgumentType]
"""For example 0.1.0."""

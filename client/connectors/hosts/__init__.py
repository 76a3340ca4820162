"""The agents recalld connects to: for each a module that knows its files and their schema."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from ...hooks.hosts import NAMES
from ..target import Host

__all__ = ["NAMES", "load"]


def load(name: str) -> Host:
    """The host of this name, which is one of NAMES."""
    module: object = import_module(f".{name.replace('-', '_')}", __name__)
    return cast("Host", module)

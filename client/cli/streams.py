"""What a process is handed at its start: arguments and standard streams, in whatever state."""

from __future__ import annotations

import os
import sys


def open_streams() -> None:
    """Put /dev/null where the caller closed a standard stream.

    Otherwise the next socket or pipe would get its number, and printing would go there.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, so this one
    # Python leaves None where it found nothing, which the type stubs do not tell.
    if getattr(sys, "stdout", None) is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if getattr(sys, "stderr", None) is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def as_utf8(word: str) -> str:
    """The argument as the UTF-8 it was typed in, also where the locale claims ASCII."""
    return os.fsencode(word).decode("utf-8", "surrogateescape")

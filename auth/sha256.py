"""SHA-256 and its HMAC without OpenSSL: loading that library costs every hook 3 of its 25 ms.

CPython links an implementation of its own, which the standard library's `random` uses for the same
reason; where a build has left it out, `hashlib` takes its place.
"""

from __future__ import annotations

from _operator import _compare_digest  # pyright: ignore[reportPrivateUsage]  # as hmac does
from collections.abc import Callable
from typing import Protocol, cast


class _Hash(Protocol):
    """What is used of a hash object."""

    def digest(self) -> bytes:
        """The digest of what was given."""
        ...


def _builtin() -> Callable[[bytes], _Hash]:
    for name in ("_sha2", "_sha256"):  # from Python 3.12 on, and before
        try:
            module: object = __import__(name)
        except ImportError:
            continue
        return cast("Callable[[bytes], _Hash]", getattr(module, "sha256"))  # noqa: B009
    from hashlib import sha256

    return sha256


_sha256 = _builtin()
_BLOCK = 64
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


def digest(data: bytes) -> bytes:
    """The 32 bytes of SHA-256."""
    return _sha256(data).digest()


def mac(key: bytes, message: bytes) -> bytes:
    """The 32 bytes of HMAC-SHA256 (RFC 2104) under a key of any length."""
    padded = (key if len(key) <= _BLOCK else digest(key)).ljust(_BLOCK, b"\0")
    return digest(padded.translate(_OUTER) + digest(padded.translate(_INNER) + message))


def same(one: bytes, other: bytes) -> bool:
    """Whether both are the same, in a time that tells nothing of where they differ.

    What `hmac.compare_digest` is where there is no OpenSSL.
    """
    return _compare_digest(one, other)

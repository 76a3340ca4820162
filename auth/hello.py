"""The handshake that proves a daemon is ours before anything secret is sent to it.

A daemon that crashed frees its port, and any user of the machine may bind it and wait for tokens.
So on every new connection the client sends a nonce, and the daemon answers with a MAC over it under
the secret of the discovery record, which only this user can read. Instance and port are part of the
transcript: an answer can't be replayed, nor relayed from another of our daemons. The client must
check on the same socket that it is going to use.
"""

from __future__ import annotations

import os

from . import sha256
from .record import Record

_CONTEXT = b"recalld hello v1\0"
_NONCE_BYTES = 32


def new_nonce() -> str:
    """A fresh nonce of 32 random bytes, as 64 hex digits."""
    return os.urandom(_NONCE_BYTES).hex()


def prove(secret_hex: str, instance: str, port: int, nonce_hex: str) -> str:
    """The daemon's answer: HMAC-SHA256 as 64 hex digits over context, instance, port and nonce.

    Raises ValueError when secret or nonce is not 64 hex digits: a shorter nonce could be replayed.
    """
    secret, nonce = bytes.fromhex(secret_hex), bytes.fromhex(nonce_hex)
    if len(secret) != _NONCE_BYTES or len(nonce) != _NONCE_BYTES:
        raise ValueError("secret and nonce are 32 bytes each")
    transcript = _CONTEXT + instance.encode() + b"\0" + port.to_bytes(2, "big") + nonce
    return sha256.mac(secret, transcript).hex()


def check(record: Record, nonce: str, mac: str) -> bool:
    """Whether `mac` is what the daemon of this record answers to our nonce, in constant time."""
    expected = prove(record.secret, record.instance, record.port, nonce)
    return sha256.same(expected.encode(), mac.encode(errors="replace"))

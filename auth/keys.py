"""The Ed25519 key that signs the history of memories, kept in one 0600 file of the data folder.

PyNaCl is imported inside the functions: it costs 35 ms, and a start should not pay for it before
something is signed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import StoreDamaged
from .paths import read_private, write_private

if TYPE_CHECKING:
    from nacl.signing import SigningKey

_SEED_BYTES = 32
_SIGNATURE_BYTES = 64


class Signer:
    """A private key ready to sign; `public` is the 32 bytes others verify with."""

    def __init__(self, key: SigningKey) -> None:
        from nacl.bindings import crypto_sign

        self.public = bytes(key.verify_key)
        # The same as SigningKey.sign, in two thirds of its time: every row is signed.
        self._sign, self._secret = crypto_sign, bytes(key) + self.public

    def sign(self, message: bytes) -> bytes:
        """The 64-byte signature of the message."""
        return self._sign(message, self._secret)[:_SIGNATURE_BYTES]


def load_or_create(path: str) -> Signer:
    """The key in the file (64 hex digits), made on first use.

    Only the holder of daemon.lock may call it: two creators would sign with different keys. Raises
    StoreDamaged for a file that is no key, UnsafePermissions for one others could read, DiskFull or
    StorageTrouble when it can't be written.
    """
    from nacl.signing import SigningKey  # 35 ms

    text = read_private(path)
    if text is not None:
        return Signer(SigningKey(_seed(path, text)))
    key = SigningKey.generate()
    write_private(path, bytes(key).hex().encode() + b"\n")
    return Signer(key)


def _seed(path: str, text: bytes) -> bytes:
    try:
        seed = bytes.fromhex(text.decode())
    except ValueError:
        seed = b""
    if len(seed) != _SEED_BYTES:
        raise StoreDamaged(
            f"{path} is not a signing key.",
            hint="Restore it from a backup; with a new key the old signatures can't be continued.",
        )
    return seed


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature of the message was made by the owner of this public key."""
    from nacl.exceptions import CryptoError  # 35 ms
    from nacl.signing import VerifyKey

    try:
        VerifyKey(public).verify(message, signature)
    except (CryptoError, ValueError):
        return False
    return True

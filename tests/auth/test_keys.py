"""The signing key: made once, kept, never replaced."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from recalld.auth import keys
from recalld.auth.errors import StoreDamaged, UnsafePermissions


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the key lies."""
    return tmp_path / "signing.key"


def test_a_signature_verifies(file: Path) -> None:
    """With the public key, for exactly this message."""
    signer = keys.load_or_create(str(file))
    signature = signer.sign(b"message")
    assert len(signature) == 64
    assert keys.verify(signer.public, b"message", signature)
    assert not keys.verify(signer.public, b"massage", signature)


def test_the_key_is_made_once(file: Path) -> None:
    """The next start signs with the same key, from a file only the owner reads."""
    made = keys.load_or_create(str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = keys.load_or_create(str(file))
    assert again.public == made.public
    assert again.sign(b"x") == made.sign(b"x")


@pytest.mark.parametrize("content", [b"", b"00" * 31, b"00" * 33, b"zz" * 32, b"\xff" * 32])
def test_a_damaged_key_is_never_replaced(file: Path, content: bytes) -> None:
    """A new key would end the chain of signatures without a word."""
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(StoreDamaged, match="not a signing key"):
        keys.load_or_create(str(file))
    assert file.read_bytes() == content


def test_a_key_others_could_read_is_refused(file: Path) -> None:
    """It may have been copied; the owner must know."""
    keys.load_or_create(str(file))
    file.chmod(0o644)
    with pytest.raises(UnsafePermissions):
        keys.load_or_create(str(file))


@pytest.mark.parametrize(("public", "signature"), [(b"", b""), (b"x" * 31, b"y" * 64)])
def test_nonsense_is_no_signature(public: bytes, signature: bytes) -> None:
    """Keys and signatures of the wrong size are just not valid."""
    assert not keys.verify(public, b"message", signature)


def test_a_signature_of_the_wrong_size_is_none(file: Path) -> None:
    """A cut or stretched signature does not pass."""
    signer = keys.load_or_create(str(file))
    signature = signer.sign(b"message")
    for wrong in (b"", signature[:-1], signature + b"\0"):
        assert not keys.verify(signer.public, b"message", wrong)

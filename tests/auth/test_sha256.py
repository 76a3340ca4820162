"""Our SHA-256 is everybody's."""

from __future__ import annotations

import hashlib
import hmac
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st
from recalld.auth import sha256


@given(st.binary(max_size=300))
def test_digests_are_those_of_hashlib(data: bytes) -> None:
    """Any data, whichever implementation stands behind it."""
    assert sha256.digest(data) == hashlib.sha256(data).digest()


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_only_the_same_is_the_same(one: bytes, other: bytes) -> None:
    """As plain comparison says."""
    assert sha256.same(one, other) == (one == other)
    assert sha256.same(one, bytes(one))


@given(st.binary(max_size=200), st.binary(max_size=300))
def test_macs_are_those_of_hmac(key: bytes, message: bytes) -> None:
    """Keys shorter and longer than a block, and messages of any length."""
    assert sha256.mac(key, message) == hmac.digest(key, message, "sha256")


def test_hashlib_stands_in() -> None:
    """A Python built without its own implementation gets the same digests."""
    program = (
        "import sys; sys.modules['_sha2'] = sys.modules['_sha256'] = None\n"
        "from recalld.auth import sha256\n"
        "print(sha256.digest(b'abc').hex(), 'hashlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [hashlib.sha256(b"abc").hexdigest(), "True"]

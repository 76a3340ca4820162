"""One POST of JSON to an embedding provider, bounded in time and size."""

from __future__ import annotations

import ipaddress
import logging
import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ..protocol import TextRefused, VectorsUnavailable

if TYPE_CHECKING:
    import httpx

# 64 vectors of 4,096 numbers written in full take 6 MB.
_MOST_BYTES = 32 << 20
# What a text itself can be to blame for; any other status is about the provider or our access.
_ABOUT_THE_TEXT = frozenset({400, 413, 422})


class Place(NamedTuple):
    """Where to send to: base address, and the key for it ("" for none)."""

    url: str
    key: str = ""


def is_loopback(url: str) -> bool:
    """Whether the address is on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Poster:
    """Connections to one provider; safe to use from several threads."""

    def __init__(self, place: Place, who: str) -> None:
        import httpx  # 60 ms, for those who use a provider

        self._who = who
        # It writes a line for every request, and there is one for every question.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        headers = {"Authorization": f"Bearer {place.key}"} if place.key else {}
        # A proxy is for the world outside: asked for our own machine it would see every memory.
        # Redirects are not followed: they would carry texts and key to who knows where.
        self._client: httpx.Client = httpx.Client(
            base_url=place.url, headers=headers, trust_env=not is_loopback(place.url)
        )

    def post(self, path: str, body: dict[str, object], seconds: float) -> bytes:
        """The body of a 200 answer.

        Raises TextRefused for a status that may be about the texts, VectorsUnavailable for all
        else. What the provider says in words is not passed on: it may quote the texts.
        """
        import httpx

        end = time.monotonic() + seconds
        try:
            with self._client.stream("POST", path, json=body, timeout=seconds) as response:
                self._check(response.status_code)
                return self._read(response, end)
        except httpx.TimeoutException:
            raise VectorsUnavailable(self._too_long(seconds)) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            reason = str(error) or type(error).__name__
            raise VectorsUnavailable(f"{self._who} cannot be reached: {reason}.") from None

    def _check(self, status: int) -> None:
        if status == 200:
            return
        fault = TextRefused if status in _ABOUT_THE_TEXT else VectorsUnavailable
        raise fault(f"{self._who} answered {status}.")

    def _read(self, response: httpx.Response, end: float) -> bytes:
        data = bytearray()
        for part in response.iter_bytes():
            data += part
            if len(data) > _MOST_BYTES:
                raise VectorsUnavailable(f"{self._who} answered with more than 32 MB.")
            # The client's own timeout starts anew with every byte that trickles in.
            if time.monotonic() >= end:
                raise VectorsUnavailable(f"{self._who} took too long to answer.")
        return bytes(data)

    def _too_long(self, seconds: float) -> str:
        return f"{self._who} did not answer within {seconds:g} s."

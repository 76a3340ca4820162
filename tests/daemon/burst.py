"""Many requests at once from one thread, each on a connection of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence


async def _one(port: int, request: bytes, limit: float) -> int:
    """The status, or 0 when the connection broke without one."""
    try:
        async with asyncio.timeout(limit):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(request)
                line = await reader.readline()
                await reader.read()
                return int(line.split()[1]) if line else 0
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError):
        return 0


async def _all(port: int, requests: Sequence[bytes], limit: float) -> list[int]:
    return await asyncio.gather(*(_one(port, request, limit) for request in requests))


def statuses(port: int, requests: Sequence[bytes], *, limit: float = 60.0) -> list[int]:
    """The status of every request, in order; they should ask to close the connection."""
    return asyncio.run(_all(port, requests, limit))


def counted(port: int, requests: Sequence[bytes], *, limit: float = 60.0) -> Counter[int]:
    """How often each status came."""
    return Counter(statuses(port, requests, limit=limit))

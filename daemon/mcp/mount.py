"""The official SDK's server, loaded behind the first request to /mcp.

It takes a second to import and most daemons never need it. No session is ever opened, so none can
be lost by a restart.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ...auth.errors import RecalldError

if TYPE_CHECKING:
    from .server import Endpoint

log = logging.getLogger("recalld.mcp")


class Mount:
    """The endpoint, once it is loaded."""

    def __init__(self) -> None:
        self._endpoint: asyncio.Task[Endpoint] | None = None

    async def endpoint(self) -> Endpoint:
        """The SDK's server, loaded once however many ask at the same time.

        Raises:
            RecalldError: it cannot be loaded; the next request tries again.
        """
        if self._endpoint is None:
            self._endpoint = asyncio.create_task(_load())
        try:
            return await asyncio.shield(self._endpoint)
        except ImportError as error:
            self._endpoint = None
            log.exception("MCP could not be loaded")
            raise RecalldError("MCP could not be loaded; see the log.") from error


async def _load() -> Endpoint:
    with ThreadPoolExecutor(1, "mcp-loader") as thread:
        endpoint = await asyncio.get_running_loop().run_in_executor(thread, _import)
    await endpoint.start()
    return endpoint


def _import() -> Endpoint:
    from .server import Endpoint

    return Endpoint()

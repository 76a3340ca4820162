"""The threads behind `asyncio.to_thread`, whose end is waited for only so long."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class SideThreads(ThreadPoolExecutor):
    """An executor that gives up on a thread stuck in the kernel, say on a dead network mount.

    asyncio waits for its executor without limit (five minutes from Python 3.12 on), and nothing can
    end a thread that waits for a server which is gone.
    """

    def __init__(self, patience: Callable[[], float]) -> None:
        super().__init__(max_workers=8, thread_name_prefix="side")
        self._patience = patience

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take nothing more, drop what has not begun, wait `patience()` seconds for the rest."""
        super().shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + self._patience()
        for thread in list(self._threads) if wait else ():
            thread.join(max(0.0, until - time.monotonic()))

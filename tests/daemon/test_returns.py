"""How the writer's results come back to the loop."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest
from recalld.daemon.returns import Returns


def test_results_of_many_threads_reach_their_own_waiters() -> None:
    """Whatever thread settles a future, and in whatever order, each waiter gets its own result."""
    futures: list[Future[int]] = [Future() for _ in range(400)]

    def settle(start: int) -> None:
        for number in range(start, len(futures), 4):
            futures[number].set_result(number)

    async def wait_for_all() -> list[int]:
        returns = Returns()
        waiters = [asyncio.ensure_future(returns.of(future)) for future in futures]
        await asyncio.sleep(0)
        threads = [threading.Thread(target=settle, args=(start,)) for start in range(4)]
        for thread in threads:
            thread.start()
        return await asyncio.wait_for(asyncio.gather(*waiters), 30)

    assert asyncio.run(wait_for_all()) == list(range(400))


def test_a_failure_is_raised_where_it_is_waited_for() -> None:
    """What the job raised, the handler raises; a future that failed before is no different."""

    async def ask() -> None:
        failed: Future[int] = Future()
        failed.set_exception(KeyError("gone"))
        await Returns().of(failed)

    with pytest.raises(KeyError):
        asyncio.run(ask())


def test_a_waiter_that_gave_up_does_not_cancel_the_job() -> None:
    """A write that has its turn is done whether or not anybody still listens."""
    future: Future[int] = Future()

    async def give_up() -> None:
        returns = Returns()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(returns.of(future), 0)
        assert not future.cancelled()
        future.set_result(1)
        await asyncio.sleep(0)

    asyncio.run(give_up())
    assert future.result() == 1

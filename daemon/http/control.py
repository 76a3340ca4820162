"""Routes about the daemon itself: health, hello, stop, and its own description."""

from __future__ import annotations

import os
import time

from ...auth.errors import InvalidRequest
from ...auth.hello import prove
from ...auth.record import API
from ..life.lifecycle import Phase
from .answers import Answer, reply
from .call import Call
from .schemas import HelloRequest, StopRequest


async def health(call: Call) -> Answer:
    """Alive; never waits for the store or a worker."""
    return reply({"status": "ok", "phase": _phase(call)})


async def hello(call: Call) -> Answer:
    """Prove that this daemon wrote the discovery record, and say what it speaks."""
    identity = call.services.identity
    nonce = call.body(HelloRequest).nonce
    try:
        mac = prove(identity.secret, identity.instance, identity.port, nonce)
    except ValueError:
        raise InvalidRequest("A nonce is 64 hexadecimal digits.") from None
    return reply(
        {
            "instance": identity.instance,
            "version": identity.version,
            "api": API,
            "phase": _phase(call),
            "stale_code": call.services.stale_code,
            "mac": mac,
        }
    )


async def stop(call: Call) -> Answer:
    """Begin to drain: the record is gone before this answer is sent."""
    reason = call.body(StopRequest).reason or "stop requested"
    call.services.lifecycle.drain(reason)
    return reply({"result": "draining", "pid": os.getpid()}, 202)


async def reembed(call: Call) -> Answer:
    """Begin to embed every memory anew; recall goes on with what there is.

    Whether it can be done is seen in the status, once it was tried.
    """
    call.services.retrieval.reembed()
    return reply({"result": "begun"}, 202)


def uptime(call: Call) -> float:
    """Seconds since the process began."""
    return round(time.monotonic() - call.services.lifecycle.started, 3)


def _phase(call: Call) -> Phase:
    """What clients need to know: usable, or on the way out."""
    return Phase.DRAINING if call.services.lifecycle.draining else Phase.READY

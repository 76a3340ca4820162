"""One HTTP/1.1 connection over a plain socket: what the command line and hooks talk through.

It never looks at proxy variables, .netrc or redirects: the address is the loopback literal of the
discovery record, and nothing else is ever connected to.
"""

from __future__ import annotations

# The C half alone: `socket` builds enumerations nobody here needs, 4 ms in every verb and hook.
import _socket as socket
from collections.abc import Callable

from .deadline import Deadline
from .http1 import Answer, AnswerReader, BadAnswer, encode_request

_PIECE = 262_144
_QUIET_S = 86_400.0
"""An event stream may be quiet for so long: a daemon that is gone ends it, and nothing else is
wrong with one that has nothing to say."""


class Broken(Exception):
    """The connection ended before a whole answer arrived; whether the work was done is unknown."""


class Silence(Exception):
    """The peer took the connection and then said nothing for as long as we were willing to wait."""


class Wire:
    """One connection; `ask` sends a request in one piece and waits for the whole answer."""

    def __init__(self, sock: socket.socket, host: str, port: int) -> None:
        self._socket = sock
        self.host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        # False once the peer said it will close, or anything went wrong: the stream is then out of
        # step.
        self.reusable = True

    @classmethod
    def dial(cls, host: str, port: int, seconds: float) -> Wire:
        """Connect to a loopback literal; raises OSError when nobody listens there."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            sock.settimeout(max(seconds, 0.001))
            sock.connect((host, port))
            # A request is one segment; waiting to fill it would cost a delayed ACK (48 ms a call).
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            sock.close()
            raise
        return cls(sock, host, port)

    def ask(
        self,
        method: str,
        target: str,
        *,
        deadline: Deadline,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
        hear: Callable[[bytes], None] | None = None,
    ) -> Answer:
        """Send one request and return its answer; raises Broken or Silence.

        Of an event stream `hear` gets the pieces as they come, and the deadline is for its begin.
        """
        self.send(method, target, deadline=deadline, headers=headers, body=body)
        reader = AnswerReader(method=method)
        while (answer := reader.answer()) is None:
            self.receive(reader, deadline)
            if hear is not None and reader.streams:
                deadline = Deadline(_QUIET_S)
                hear(reader.take())
        self.reusable = answer.reusable
        return answer

    def send(
        self,
        method: str,
        target: str,
        *,
        deadline: Deadline,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
    ) -> None:
        """Send one request; raises Silence when the peer does not read."""
        request = encode_request(method, target, self.host, headers or {}, body)
        self.reusable = False
        try:
            self._socket.settimeout(max(deadline.left(), 0.001))
            self._socket.sendall(request)
        except TimeoutError as error:
            raise Silence from error
        except OSError:
            # The peer may have answered (413, 408) and closed without reading the rest: its answer,
            # if there is one, says more than our EPIPE. Reading on finds it or raises Broken.
            return

    def receive(self, reader: AnswerReader, deadline: Deadline) -> None:
        """Read once into `reader`; raises Broken or Silence."""
        try:
            self._socket.settimeout(max(deadline.left(), 0.001))
            data = self._socket.recv(_PIECE)
            if data:
                reader.feed(data)
            else:
                reader.end()
        except TimeoutError as error:
            raise Silence from error
        except (OSError, BadAnswer) as error:
            raise Broken(str(error)) from error

    def close(self) -> None:
        """Close the socket; closing twice is fine."""
        self.reusable = False
        self._socket.close()

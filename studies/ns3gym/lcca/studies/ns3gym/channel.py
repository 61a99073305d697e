"""One end of ZeroMQ's request-reply pattern, where every wait ends and every message has a sender."""

from __future__ import annotations

import math
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from lcca.inputs.errors import InputError
from lcca.studies.ns3gym.schema import ConnectionClosed, PeerLost, ProtocolError

MAX_MESSAGE = 1 << 24
"""A peer that sends a longer message, in bytes, is cut off; the largest space takes 11 MiB."""

MAX_ASIDE = 64
"""How many messages of other peers wait for their turn; the oldest are dropped."""

_LOOK = 0.1
"""How often a wait looks whether the peer's process lives, in seconds."""

_GRACE = 0.3
"""How long a message may come after the connection closed, in seconds."""

_SEND = 1.0
"""How long a last reply may take to leave when a channel closes, in seconds."""

_OPENED = zmq.EVENT_ACCEPTED | zmq.EVENT_CONNECTED


@dataclass(frozen=True)
class Deadline:
    """So many seconds from now on; may be infinite."""

    seconds: float
    _began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that are left, 0 where it has passed."""
        return max(0.0, self._began + self.seconds - time.monotonic())


class Channel:
    """A ROUTER socket that is bound and answers as REP does, but knows who asks; or a REQ socket that connects.

    Attributes:
        address: where, for people.
        port: the port that is bound or connected to.
        peer: who sent the message that was received last, and is answered.
        may_send: it is this end's turn.
    """

    def __init__(self, kind: zmq.SocketType, host: str, port: int) -> None:
        self._context = zmq.Context()
        self._socket: zmq.Socket[bytes] = self._context.socket(kind)
        self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE)
        self._socket.setsockopt(zmq.LINGER, 0 if kind == zmq.REQ else int(1000 * _SEND))
        self._monitor: Any = self._socket.get_monitor_socket(_OPENED | zmq.EVENT_DISCONNECTED)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)
        self._asks = kind == zmq.REQ
        self._aside: deque[tuple[bytes, list[bytes]]] = deque(maxlen=MAX_ASIDE)
        self.peer = b""
        self.may_send = self._asks
        self._connections = 0
        self._closed_at = math.inf
        self.address = f"tcp://{host}:{port}"
        self.port = port
        self._end = weakref.finalize(self, _end, self._socket, self._monitor, self._context)

    @classmethod
    def bound(cls, host: str, port: int) -> Channel:
        """Return the agent's end; port 0 takes one that is free.

        Raises:
            InputError: the port cannot be had.
        """
        channel = cls(zmq.ROUTER, host, port)
        try:
            channel._socket.bind(f"tcp://{host}:{port or '*'}")
        except zmq.ZMQError as error:
            channel.close()
            raise InputError(f"cannot listen at {channel.address}: {error}") from None
        channel.port = int(channel._socket.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
        channel.address = f"tcp://{host}:{channel.port}"
        return channel

    @classmethod
    def connected(cls, host: str, port: int) -> Channel:
        """Return the simulation's end; it connects as soon as somebody listens.

        Raises:
            InputError: the address is none.
        """
        channel = cls(zmq.REQ, host, port)
        try:
            channel._socket.connect(channel.address)
        except zmq.ZMQError as error:
            channel.close()
            raise InputError(f"cannot connect to {channel.address}: {error}") from None
        return channel

    def send(self, message: Any) -> None:
        """Send a protobuf message; whether it arrives shows in the answer."""
        self.may_send = False
        envelope = [] if self._asks else [self.peer, b""]
        self._socket.send_multipart([*envelope, message.SerializeToString()], zmq.NOBLOCK)

    def receive(
        self,
        deadline: Deadline,
        awaited: str,
        ended: Callable[[], str | None] = lambda: None,
        stay_connected: bool = True,
        only: bytes | None = None,
    ) -> bytes:
        """Wait for a message.

        Args:
            deadline: until when.
            awaited: what, for the message of an error.
            ended: returns why there is nobody to wait for any more, or None.
            stay_connected: the wait is over when the connection closes: for who asked, because the answer is lost; for
                who answers, when nobody is connected.
            only: the peer whose message is awaited; those of others wait for their turn. None for any.

        Raises:
            PeerLost: nothing came.
            ProtocolError: a message of several parts came.
        """
        while (data := self._next(only)) is None:
            self._note()
            if end := ended():
                if not self._socket.poll(int(1000 * _GRACE)):  # else the peer's last message is on its way
                    raise PeerLost(f"expected {awaited} at {self.address}, but {end}")
            elif stay_connected and time.monotonic() > self._closed_at + _GRACE:
                raise ConnectionClosed(f"expected {awaited} at {self.address}, but the other end closed the connection")
            elif not deadline.left:
                raise PeerLost(f"expected {awaited} at {self.address}, but nothing came within {deadline.seconds:g} s")
            self._poller.poll(math.ceil(1000 * min(_LOOK, deadline.left)))
        self.may_send = True
        if len(data) != 1:
            raise ProtocolError(f"expected {awaited}, got a message of {len(data)} parts")
        return data[0]

    def _next(self, only: bytes | None) -> list[bytes] | None:
        """Return the parts of the next message that is awaited, or None where none is there."""
        if only is None and self._aside:
            self.peer, data = self._aside.popleft()
            return data
        for _ in range(MAX_ASIDE):
            if not self._socket.poll(0):
                break
            parts = self._socket.recv_multipart()
            if self._asks:
                return parts
            sender, envelope, data = parts[0], parts[1:2], parts[2:]
            if envelope != [b""] or not data:  # not from a REQ socket: REP would not see it either
                continue
            if only in (None, sender):
                self.peer = sender
                return data
            self._aside.append((sender, data))
        return None

    def _note(self) -> None:
        """Note who came and went until now."""
        while self._monitor.poll(0):
            opened = bool(recv_monitor_message(self._monitor)["event"] & _OPENED)
            self._connections += 1 if opened else -1
            if not opened and (self._asks or not self._connections):
                self._closed_at = time.monotonic()
            elif opened and not self._asks:
                self._closed_at = math.inf

    def close(self) -> None:
        """Close; a reply that was just sent still leaves. Closing twice is harmless."""
        self._end()


def _end(socket: zmq.Socket[bytes], monitor: Any, context: zmq.Context[Any]) -> None:
    """Close a channel's sockets, then their context: one that is collected before its sockets would wait for ever."""
    socket.disable_monitor()
    monitor.close(0)
    socket.close()
    context.term()

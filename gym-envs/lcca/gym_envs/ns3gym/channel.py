"""One end of a ZeroMQ request-reply pair, where every wait ends."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from lcca.gym_envs.ns3gym.errors import ConnectionClosed, PeerLost, ProtocolError
from lcca.inputs.errors import InputError

MAX_MESSAGE = 1 << 28
"""A peer that sends a longer message, in bytes, is cut off."""

_LOOK = 0.1
"""How often a wait looks whether the peer's process lives, in seconds."""

_GRACE = 0.3
"""How long a message may come after the connection closed, in seconds."""

_SEND = 1.0
"""How long a last reply may take to leave when a channel closes, in seconds."""

_OPENED = zmq.EVENT_ACCEPTED | zmq.EVENT_CONNECTED


class Channel:
    """A REP socket that is bound, or a REQ socket that connects.

    Attributes:
        address: where, for people.
        port: the port that is bound or connected to.
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
        self.may_send = self._asks
        self._connections = 0
        self._closed_at = math.inf
        self.address = f"tcp://{host}:{port}"
        self.port = port

    @classmethod
    def bound(cls, host: str, port: int) -> Channel:
        """Return the agent's end, a REP socket; port 0 takes one that is free.

        Raises:
            InputError: the port cannot be had.
        """
        channel = cls(zmq.REP, host, port)
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
        """Return the simulation's end, a REQ socket; it connects as soon as somebody listens.

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
        self._socket.send(message.SerializeToString(), zmq.NOBLOCK)

    def receive(
        self,
        seconds: float,
        awaited: str,
        ended: Callable[[], str | None] = lambda: None,
        stay_connected: bool = True,
    ) -> bytes:
        """Wait for a message.

        Args:
            seconds: how long; may be infinite.
            awaited: what, for the message of an error.
            ended: returns why there is nobody to wait for any more, or None.
            stay_connected: the wait is over when the connection closes: for who asked, because the answer is lost; for
                who answers, when nobody is connected.

        Raises:
            PeerLost: nothing came.
            ProtocolError: a message of several parts came.
        """
        until = time.monotonic() + seconds
        while not self._readable(until):
            if end := ended():
                self._last_chance(f"expected {awaited} at {self.address}, but {end}")
            elif stay_connected and time.monotonic() > self._closed_at + _GRACE:
                raise ConnectionClosed(f"expected {awaited} at {self.address}, but the other end closed the connection")
            elif time.monotonic() >= until:
                raise PeerLost(f"expected {awaited} at {self.address}, but nothing came within {round(seconds, 1):g} s")
        parts = self._socket.recv_multipart()
        self.may_send = True
        if len(parts) != 1:
            raise ProtocolError(f"expected {awaited}, got a message of {len(parts)} parts")
        return parts[0]

    def _readable(self, until: float) -> bool:
        """Wait a little for a message, and note who came and went."""
        wait = max(0.0, min(_LOOK, until - time.monotonic()))
        ready = dict(self._poller.poll(math.ceil(1000 * wait)))
        if self._monitor in ready:
            self._note(recv_monitor_message(self._monitor)["event"])
        return self._socket in ready

    def _note(self, event: int) -> None:
        opened = bool(event & _OPENED)
        self._connections += 1 if opened else -1
        if not opened and (self._asks or not self._connections):
            self._closed_at = time.monotonic()
        elif opened and not self._asks:
            self._closed_at = math.inf

    def _last_chance(self, message: str) -> None:
        """Raise `PeerLost` unless the peer's last message is on its way."""
        if not self._socket.poll(int(1000 * _GRACE)):
            raise PeerLost(message)

    def close(self) -> None:
        """Close; a reply that was just sent still leaves. Closing twice is harmless."""
        if not self._socket.closed:
            self._socket.disable_monitor()
            self._monitor.close(0)
            self._socket.close()
            self._context.term()

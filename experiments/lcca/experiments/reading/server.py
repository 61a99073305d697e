"""The web server under the pages of runs: few threads, and none of them waits for ever for one who does not ask."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from threading import BoundedSemaphore
from typing import Any

from werkzeug.serving import ThreadedWSGIServer

MOST_THREADS = 16
"""Answers under way; further connections wait in the system's queue."""

LONGEST_S = 30.0
"""Of a connection, from its beginning to the end of the answer."""


class Server(ThreadedWSGIServer):
    """Answers by threads, of which there are few, and closes connections that are open for too long.

    Args:
        bound: the socket that it listens to.
        app: the application.
        longest_s: of a connection.
    """

    def __init__(self, bound: socket.socket, app: Any, longest_s: float = LONGEST_S) -> None:
        host, port, *_ = bound.getsockname()
        super().__init__(host, port, app, fd=bound.fileno())
        self._free, self._longest_s = BoundedSemaphore(MOST_THREADS), longest_s
        self._open: dict[Any, float] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread of its own, once one is free."""
        while not self._free.acquire(timeout=self._longest_s / 30):
            self.service_actions()
        self._open[request] = time.monotonic() + self._longest_s
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a connection, and free the thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.pop(request, None)
            self._free.release()

    def service_actions(self) -> None:
        """Close what has been open for too long, which ends the thread that waits for it; called twice a second."""
        for request in [each for each, until in [*self._open.items()] if until < time.monotonic()]:
            self._open.pop(request, None)
            with suppress(OSError):  # ended meanwhile
                request.shutdown(socket.SHUT_RDWR)

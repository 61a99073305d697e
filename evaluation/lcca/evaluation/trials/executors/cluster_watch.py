"""Whether a Ray cluster can still run what it is given."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

LOSSES = 10
"""Nodes that one call may lose before the cluster is called unfit."""

HEAD_PATIENCE_S = 5.0
"""How long the head may be silent, in seconds."""

NODE_PATIENCE_S = 600.0
"""How long a cluster may have no node with enough cores, in seconds; an autoscaler takes minutes to start one."""

BETWEEN_LOOKS_S = 5.0
"""Between two looks at the nodes, in seconds."""


class ClusterWatch:
    """Looks at a cluster while nothing arrives from it.

    Args:
        ray: Ray, connected.
        cores: that each call takes.
        tell: is told when nodes come, go or are waited for.
    """

    def __init__(self, ray: Any, cores: int, tell: Callable[[str], None]) -> None:
        self._ray, self._cores, self.tell = ray, cores, tell
        self._head = str(ray.get_runtime_context().gcs_address)
        self._answered = self._fit = time.monotonic()
        self._looked, self._known = 0.0, ""

    def look(self) -> None:
        """Look at the head, and at times at the nodes.

        Raises:
            ConnectionError: the head is silent, or no node has enough cores, for too long.
        """
        now = time.monotonic()
        if not _listens(self._head):
            if now - self._answered > HEAD_PATIENCE_S:
                raise ConnectionError(
                    f"the head of the Ray cluster ({self._head}) does not answer; start one and go on with --resume"
                )
            return
        self._answered = now
        if now - self._looked >= min(BETWEEN_LOOKS_S, NODE_PATIENCE_S):
            self._looked = now
            self._look_at_nodes(now)

    def _look_at_nodes(self, now: float) -> None:
        cores = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
        standing = f"Ray cluster: {len(cores)} nodes, {sum(cores)} cores"
        if max(cores, default=0) >= self._cores:
            self._fit = now
        else:
            standing += f"; waiting for a node with {self._cores}"
        if standing != self._known:
            self.tell(standing)
            self._known = standing
        if now - self._fit > NODE_PATIENCE_S:
            raise ConnectionError(
                f"no node of the Ray cluster {self._head} had {self._cores} cores for {NODE_PATIENCE_S:g} s; "
                f"add one (ray start --address={self._head}) and go on with --resume"
            )

    def lost(self, losses: int) -> None:
        """Note that a call lost its node for the so-many-th time, and look.

        Raises:
            ConnectionError: it was lost too often, or as `look`.
        """
        self.tell("a node of the Ray cluster was lost; what ran there is run again")
        if losses >= LOSSES:
            raise ConnectionError(
                f"a call lost its node {losses} times; are the nodes large enough? Go on with --resume"
            )
        while not _listens(self._head):
            self.look()
            time.sleep(0.2)
        self._looked = 0.0
        self.look()


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=2).close()
    except OSError:
        return False
    return True

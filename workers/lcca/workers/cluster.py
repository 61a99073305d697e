"""Calls on a Ray cluster (`pip install lcca[ray]`), whose nodes may come and go.

The loss of a node and the death of a worker are told apart. A worker may have died of what it ran, so its death counts
against that call. A lost node takes all of its calls along, whatever they did: they are made again elsewhere. Ray's own
retries are off, because it does not make that difference.
"""

from __future__ import annotations

import importlib
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import build
from lcca.workers.pool import TRIES, Failure, Item, Outcomes, Pool
from lcca.workers.processes import answer

LOOK_S = 1.0
"""How often the cluster is looked at while nothing arrives, in seconds."""

RECONNECT = ("RAY_gcs_rpc_server_reconnect_timeout_s", "15")
"""Ray ends this process so many seconds after the head was lost (its default is 60); we have said so before."""

LOSSES = 10
"""Nodes that one call may lose before the cluster is called unfit."""

HEAD_PATIENCE_S = 5.0
"""How long the head may be silent, in seconds."""

NODE_PATIENCE_S = 600.0
"""How long a cluster may have no node with a core, in seconds; an autoscaler takes minutes to start one."""

BETWEEN_LOOKS_S = 5.0
"""Between two looks at the nodes, in seconds."""


@dataclass
class _Call(Generic[Item]):
    at: int
    item: Item
    deaths: int = 0
    losses: int = 0


class RayCluster(Pool):
    """Calls on an existing Ray cluster (RAY_ADDRESS), or on one that Ray starts here; each takes a core.

    Args:
        count: how many calls are in flight at once.

    Raises:
        InputError: Ray is not installed, or there is no cluster where RAY_ADDRESS says.
    """

    name = "ray"
    away = True

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._ray = _connected()
        self._watch = ClusterWatch(self._ray, lambda text: self.tell(text))
        self._remote = self._ray.remote(num_cpus=1, max_retries=0)(serve)

    def run(
        self,
        function: Callable[[Item], Any],
        items: Sequence[Item],
        tries: int = TRIES,
        then: Callable[[int, Any], Item | None] = lambda at, result: None,
    ) -> Outcomes:
        """Call the function with every item; see `Pool.run`.

        Args:
            function: importable by name on every node.
            items: what to call it with.
            tries: how often an item is given to a worker that dies; lost nodes do not count.
            then: is given an index and its result; returns the item to go on with, or None for the end.

        Raises:
            ConnectionError: the head does not answer, or the cluster cannot run a call; see `ClusterWatch`.
        """
        waiting = deque(_Call(at, item) for at, item in enumerate(items))
        flying: dict[Any, _Call[Item]] = {}
        try:
            while waiting or flying:
                while waiting and len(flying) < self.count:
                    call = waiting.popleft()
                    flying[self._remote.remote(build(), function, call.item)] = call
                reference = self._arrived(list(flying))
                call, found = flying.pop(reference), self._outcome(reference)
                if self._again(call, found, tries):
                    waiting.append(call)
                elif not isinstance(found, Failure) and (item := then(call.at, found)) is not None:
                    waiting.append(_Call(call.at, item))
                else:
                    yield call.at, found
        except ConnectionError:
            flying.clear()  # nobody is there who could be told to stop
            raise
        finally:
            for reference in flying:  # the nodes are free again after Ctrl-C
                self._ray.cancel(reference, force=True)

    def _arrived(self, flying: list[Any]) -> Any:
        while not (arrived := self._ray.wait(flying, timeout=LOOK_S)[0]):
            self._watch.look()
        return arrived[0]

    def _again(self, call: _Call[Item], found: Any, tries: int) -> bool:
        """Tell whether a call is to be made again."""
        if found is None:
            call.losses += 1
            self._watch.lost(call.losses)
            return True
        if isinstance(found, Failure) and found.dead:
            call.deaths += 1
            return call.deaths < tries
        return False

    def _outcome(self, reference: Any) -> Any:
        """Return what a call gave; None where its node was lost.

        Raises:
            InputError: no worker can make it.
        """
        errors = self._ray.exceptions
        lost = (errors.NodeDiedError, errors.LocalRayletDiedError, errors.ObjectLostError, errors.RaySystemError)
        try:
            found, cpu_s = self._ray.get(reference)
            self.cpu_s += cpu_s
            return found
        except lost:
            return None
        except (errors.WorkerCrashedError, errors.OutOfMemoryError) as error:
            return Failure(f"{type(error).__name__}: a Ray worker died", "killed")
        except errors.RayError as error:
            reason = str(error).strip().rpartition("\n")[2]
            raise InputError(f"Ray: {reason}; is lcca installed on every node? (`ray exec`, `lcca check`)") from None


def serve(expected: str, function: Callable[[Item], Any], item: Item) -> tuple[Any, float]:
    """Make a call on a node, unless its lcca is another one; return the outcome and its CPU seconds."""
    if build() != expected:
        reason = f"node {os.uname().nodename} has {build()}; here it is {expected}: install the same wheel everywhere"
        return Failure(reason, "refused"), 0.0
    began = time.process_time()
    return answer(function, (item,)), time.process_time() - began


def _connected() -> Any:
    """Return Ray, connected."""
    os.environ.setdefault(*RECONNECT)  # read when Ray is loaded
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise InputError("executor 'ray' needs the package ray: pip install 'lcca[ray]'") from None
    address = os.environ.get("RAY_ADDRESS", "")
    if address.startswith("ray://"):
        raise InputError(f"RAY_ADDRESS={address}: run lcca on a node of the cluster, with RAY_ADDRESS=HOST:PORT")
    if not ray.is_initialized():
        try:
            ray.init(configure_logging=False, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"RAY_ADDRESS={address}: no Ray cluster there ({reason}); see `ray start`") from None
    return ray


class ClusterWatch:
    """Whether a Ray cluster can still run what it is given: it is looked at while nothing arrives from it.

    Args:
        ray: Ray, connected.
        tell: is told when nodes come, go or are waited for.
    """

    def __init__(self, ray: Any, tell: Callable[[str], None]) -> None:
        self._ray, self.tell = ray, tell
        self._head = str(ray.get_runtime_context().gcs_address)
        self._answered = self._fit = time.monotonic()
        self._looked, self._known = 0.0, ""

    def look(self) -> None:
        """Look at the head, and at times at the nodes.

        Raises:
            ConnectionError: the head is silent, or no node has a core, for too long.
        """
        now = time.monotonic()
        if not _listens(self._head):
            if now - self._answered > HEAD_PATIENCE_S:
                raise ConnectionError(
                    f"the head of the Ray cluster ({self._head}) does not answer; the same command goes on with one"
                )
            return
        self._answered = now
        if now - self._looked >= min(BETWEEN_LOOKS_S, NODE_PATIENCE_S):
            self._looked = now
            self._look_at_nodes(now)

    def _look_at_nodes(self, now: float) -> None:
        cores = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
        standing = f"Ray cluster: {len(cores)} nodes, {sum(cores)} cores"
        if any(cores):
            self._fit = now
        else:
            standing += "; waiting for a node with 1"
        if standing != self._known:
            self.tell(standing)
            self._known = standing
        if now - self._fit > NODE_PATIENCE_S:
            raise ConnectionError(
                f"no node of the Ray cluster {self._head} had a core for {NODE_PATIENCE_S:g} s; "
                f"add one (ray start --address={self._head}); the same command goes on"
            )

    def lost(self, losses: int) -> None:
        """Note that a call lost its node for the so-many-th time, and look.

        Raises:
            ConnectionError: it was lost too often, or as `look`.
        """
        self.tell("a node of the Ray cluster was lost; what ran there is run again")
        if losses >= LOSSES:
            raise ConnectionError(
                f"a call lost its node {losses} times; are the nodes large enough? The same command goes on"
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

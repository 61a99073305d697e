"""The keys of the collective operations that a training job goes through."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from lcca.evaluation.fabric.workload.collectives import schedules
from lcca.evaluation.fabric.workload.collectives.schedule import Schedule
from lcca.evaluation.fabric.workload.part import MOST_BYTES, MOST_US, Floats, Misfit, Streams
from lcca.inputs.model import Model

Step = tuple[float, Schedule]
"""Messages, and how many µs each rank computes before its first."""


class Operation(Model):
    """A collective operation, after a computation.

    Attributes:
        compute_us: how long each rank computes before its first message.
        barrier: no rank begins before all have ended the operation before; else each when it has received all of it.
        among: `all` ranks; those of one `node`; or those at the same place in each node, the rails of `ranks_per_node`.
    """

    compute_us: float = Field(default=0, ge=0, le=MOST_US)
    barrier: bool = False
    among: Literal["all", "node", "rail"] = "all"

    random: ClassVar[bool] = False

    def problem(self, ranks: int) -> Misfit | None:
        """Return the key that does not fit so many ranks, and why."""
        return None

    @abstractmethod
    def parts(self, ranks: int, streams: Streams, key: int) -> list[Step]:
        """Return its messages in parts that ranks go through one after the other; drawn from the stream of a key."""

    @abstractmethod
    def moved(self, ranks: int) -> float:
        """Return the bytes that a rank has to send at least: busbw in nccl-tests is these over the time."""


class OfRings(Operation):
    """A collective by rings.

    Attributes:
        bytes: of the whole buffer, which each rank has.
        channels: into which a ring's buffer is split, each a ring of its own.
        pieces: of a channel's buffer, or of a tree's, one after the other.
        slots: messages of a channel that a rank of a ring has under way to its neighbour; any number if left out.
    """

    bytes: int = Field(ge=1, le=MOST_BYTES)
    channels: int = Field(default=1, ge=1, le=64)
    pieces: int = Field(default=1, ge=1, le=10_000)
    slots: int | None = Field(default=None, ge=1)

    def ring(self, ranks: int, steps: int) -> Schedule:
        """Return the messages of a ring of so many steps."""
        return schedules.ring(ranks, self.bytes, steps, self.channels, self.pieces, self.slots or 0)


class AllReduce(OfRings):
    """Every rank has the sum of the buffers of all.

    Attributes:
        algorithm: `ring`, 2(n − 1) steps of 1/n of the buffer; `halving-doubling`, 2 log2 n of ever smaller parts; or
            NCCL's `double-tree`.
    """

    kind: Literal["all-reduce"]
    algorithm: Literal["ring", "halving-doubling", "double-tree"] = "ring"

    def problem(self, ranks: int) -> Misfit | None:
        """Return the key that does not fit so many ranks, and why."""
        if self.algorithm == "halving-doubling" and ranks & (ranks - 1):
            return ("algorithm",), f"halving-doubling needs a power of two of ranks, and there are {ranks}; take ring"
        of_tree = {"pieces"} if self.algorithm == "double-tree" else set()
        others = {"channels", "pieces", "slots"} & self.model_fields_set - of_tree
        if self.algorithm != "ring" and others:
            return (min(others),), f"is of rings; leave it out, or take algorithm ring in place of {self.algorithm}"
        return None

    def parts(self, ranks: int, streams: Streams, key: int) -> list[Step]:
        """Return its messages."""
        if self.algorithm == "halving-doubling":
            return [(0.0, schedules.halving_doubling(ranks, self.bytes))]
        if self.algorithm == "double-tree":
            return [(0.0, schedules.double_tree(ranks, self.bytes, self.pieces))]
        return [(0.0, self.ring(ranks, 2 * (ranks - 1)))]

    def moved(self, ranks: int) -> float:
        """Return 2(n − 1)/n of the buffer."""
        return 2 * (ranks - 1) / ranks * self.bytes


class Half(OfRings):
    """A reduce-scatter, of which each rank keeps 1/n of the sum, or an all-gather, after which each has all: a ring."""

    kind: Literal["reduce-scatter", "all-gather"]

    def parts(self, ranks: int, streams: Streams, key: int) -> list[Step]:
        """Return its messages."""
        return [(0.0, self.ring(ranks, ranks - 1))]

    def moved(self, ranks: int) -> float:
        """Return (n − 1)/n of the buffer."""
        return (ranks - 1) / ranks * self.bytes


class Exchange(Operation):
    """Every rank sends to every other one.

    Attributes:
        bytes: from each rank to each other one.
        order: of a rank's peers: the next ones first, or NCCL's triangular order.
        window: messages that a rank has under way; any number if left out.
    """

    kind: Literal["all-to-all"]
    bytes: int = Field(ge=1, le=MOST_BYTES)
    order: Literal["staggered", "triangular"] = "staggered"
    window: int | None = Field(default=None, ge=1)

    def parts(self, ranks: int, streams: Streams, key: int) -> list[Step]:
        """Return its messages."""
        sizes = np.full((ranks, ranks), self.bytes)
        return [(0.0, schedules.all_to_all(ranks, sizes, self.order, self.window or 0))]

    def moved(self, ranks: int) -> float:
        """Return the bytes to all others."""
        return (ranks - 1) * self.bytes


class Experts(Operation):
    """A layer of experts, one a rank: tokens go to those that are chosen for them, and back.

    How popular experts are is drawn anew for each layer and iteration; each rank sends the mean number of tokens.

    Attributes:
        tokens: of each rank.
        top: how many experts each goes to.
        out_bytes: of a token on its way out.
        back_bytes: of a token on its way back.
        skew: expert of popularity k is chosen k^−skew times as often as the most popular one; 0 is equally often.
        expert_us: how long a rank computes between, once it has all its tokens.
        order: of a rank's peers: the next ones first, or NCCL's triangular order.
    """

    kind: Literal["experts"]
    tokens: int = Field(ge=1, le=10_000_000)
    top: int = Field(ge=1)
    out_bytes: int = Field(ge=1, le=1_000_000)
    back_bytes: int = Field(ge=1, le=1_000_000)
    skew: float = Field(default=0, ge=0, le=4)
    expert_us: float = Field(default=0, ge=0, le=MOST_US)
    order: Literal["staggered", "triangular"] = "staggered"

    random: ClassVar[bool] = True

    def problem(self, ranks: int) -> Misfit | None:
        """Return the key that does not fit so many ranks, and why."""
        if self.top > ranks:
            return ("top",), f"must be at most the {ranks} experts, one a rank, got {self.top}"
        return None

    def parts(self, ranks: int, streams: Streams, key: int) -> list[Step]:
        """Return the messages out, and those back."""
        tokens = np.rint(self.tokens * self.shares(ranks, streams, key)).astype(np.int64)
        sizes = np.tile(tokens, (ranks, 1)) * (1 - np.eye(ranks, dtype=np.int64))
        out = schedules.all_to_all(ranks, sizes * self.out_bytes, self.order)
        return [(0.0, out), (self.expert_us, schedules.all_to_all(ranks, sizes.T * self.back_bytes, self.order))]

    def shares(self, ranks: int, streams: Streams, key: int) -> Floats:
        """Return the share of tokens that each expert is chosen for: `top` in all, none above 1."""
        popular = streams.shuffled(key, np.arange(1, ranks + 1)).astype(np.float64) ** -self.skew
        found, full = np.zeros(ranks), np.zeros(ranks, dtype=bool)
        while True:
            found[~full] = (self.top - full.sum()) * popular[~full] / popular[~full].sum()
            if not (more := found > 1).any():
                return found
            full |= more
            found[full] = 1

    def moved(self, ranks: int) -> float:
        """Return the bytes to all others and back, were all experts as popular."""
        return self.tokens * self.top * (ranks - 1) / ranks * (self.out_bytes + self.back_bytes) / 2


class Stages(Operation):
    """A pipeline, a stage a rank: all microbatches go forward, then all back (GPipe).

    Attributes:
        bytes: of a microbatch's activations, and of its gradients.
        microbatches: of an iteration.
        forward_us: how long a stage computes each forward.
        backward_us: how long a stage computes each back.
    """

    kind: Literal["pipeline"]
    bytes: int = Field(ge=1, le=MOST_BYTES)
    microbatches: int = Field(ge=1, le=10_000)
    forward_us: float = Field(ge=0, le=MOST_US)
    backward_us: float = Field(ge=0, le=MOST_US)

    def parts(self, ranks: int, streams: Streams, key: int) -> list[Step]:
        """Return its messages."""
        computes = (self.forward_us * 1000, self.backward_us * 1000)
        return [(0.0, schedules.pipeline(ranks, self.microbatches, self.bytes, *computes))]

    def moved(self, ranks: int) -> float:
        """Return the bytes that a stage in the middle sends."""
        return (2 if ranks > 2 else 1) * self.microbatches * self.bytes


AnyOperation = Annotated[AllReduce | Half | Exchange | Experts | Stages, Field(discriminator="kind")]

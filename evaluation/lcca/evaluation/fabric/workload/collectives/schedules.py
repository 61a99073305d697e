"""Schedules of collectives as libraries of training have them (NCCL: NVIDIA/nccl @5067397c).

n ranks, S bytes per rank, B the rate of a rank's link, α the time that a message without bytes takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lcca.evaluation.fabric.workload.collectives.schedule import Ints, Schedule
from lcca.remy_plus.fabric.flows import Moment


def shares(size: int, parts: int) -> list[int]:
    """Return a size in parts as equal as whole bytes can be, none of them empty."""
    return [max(size * (part + 1) // parts - size * part // parts, 1) for part in range(parts)]


def ring(ranks: int, size: int, steps: int, channels: int = 1, loops: int = 1, slots: int = 0) -> Schedule:
    """Return a ring: in each step every rank sends to the next what it has received in the step before.

    An all-reduce has 2(n − 1) steps, and takes 2(n − 1)(α + S/nB); a reduce-scatter or an all-gather has half of them.
    With `loops` the buffer passes in that many pieces one after the other, of which a rank may be ahead of what its
    neighbour has acknowledged by `slots` messages (`all_reduce.h`): 2(n − 1)(S/nB + α + S/(n · loops · B)) at most,
    where α of one hides behind the bytes of another. Channels are rings with a share of the buffer each.

    Args:
        ranks: n, at least 2.
        size: S.
        steps: of each chunk.
        channels: into which the buffer is split, each a ring of its own.
        loops: into which the buffer of a channel is split.
        slots: messages of a channel that a rank has under way to its neighbour; 0 is any number.
    """
    found = Schedule()
    for part in shares(size, channels):
        chunks = [shares(piece, ranks) for piece in shares(part, loops)]
        sent: list[list[int]] = [[] for _ in range(ranks)]  # of each rank, in the order of the channel
        for loop in range(loops):
            before: list[int] = []
            for step in range(steps):
                now = []
                for rank in range(ranks):
                    awaited = [before[rank - 1]] if before else []
                    moments: list[Moment] = ["received"] * len(awaited)
                    if slots and len(sent[rank]) >= slots:
                        awaited, moments = [*awaited, sent[rank][-slots]], [*moments, "acknowledged"]
                    bytes_ = chunks[loop][(rank - step) % ranks]
                    now.append(found.send(rank, (rank + 1) % ranks, bytes_, step, found.wait(awaited, moments)))
                    sent[rank].append(now[-1])
                before = now
    return found


def halving_doubling(ranks: int, size: int) -> Schedule:
    """Return an all-reduce of 2 log2 n steps: halves are exchanged with ever nearer ranks, and back again.

    It takes 2kα + 2(n − 1)/n · S/B with n = 2^k ranks.

    Args:
        ranks: a power of two.
        size: S.
    """
    found, levels = Schedule(), ranks.bit_length() - 1
    order = [*range(levels), *reversed(range(levels))]
    came, sent = list[int](), list[int]()
    for step, level in enumerate(order):
        partner = ranks >> (level + 1)
        bytes_ = max(size >> (level + 1), 1)
        both = [[came[rank], sent[rank]] if sent else [] for rank in range(ranks)]
        waits = [found.wait(each, ["received", "begun"]) for each in both]
        sent = [found.send(rank, rank ^ partner, bytes_, step, waits[rank]) for rank in range(ranks)]
        came = [sent[rank ^ partner] for rank in range(ranks)]
    return found


def parents(ranks: int, mirrored: bool) -> list[int]:
    """Return the parent of each rank in one of the two trees of NCCL (`trees.cc`); −1 is the root.

    The parent of r is r with its lowest bit cleared and the next set, or only cleared where there is no such rank; the
    other tree is the mirror image for an even number of ranks, else the same one shifted by one rank.
    """

    def parent(rank: int) -> int:
        if rank == 0:
            return -1
        bit = rank & -rank
        up = (rank ^ bit) | (bit << 1)
        return up if up < ranks else rank ^ bit

    if not mirrored:
        return [parent(rank) for rank in range(ranks)]
    if ranks % 2 == 0:
        return [ranks - 1 - above if (above := parent(ranks - 1 - rank)) >= 0 else -1 for rank in range(ranks)]
    return [(above + 1) % ranks if (above := parent((rank - 1) % ranks)) >= 0 else -1 for rank in range(ranks)]


def double_tree(ranks: int, size: int, loops: int = 1) -> Schedule:
    """Return an all-reduce over two binary trees, each with half of the buffer: up to the root, and down again.

    It takes about 2 log2 n · α + 2S/B as `loops`, the pieces that follow one another, become many.
    """
    found = Schedule()
    for mirrored, part in enumerate(shares(size, 2)):
        above = parents(ranks, bool(mirrored))
        children = [[rank for rank in range(ranks) if above[rank] == own] for own in range(ranks)]
        depth = [0] * ranks
        order = [above.index(-1)]  # from the root down
        for own in order:
            for child in children[own]:
                depth[child] = depth[own] + 1
                order.append(child)
        deepest = max(depth)
        for piece in shares(part, loops):
            up, down = [-1] * ranks, [-1] * ranks
            for rank in reversed(order[1:]):
                waits = found.wait([up[child] for child in children[rank]])
                up[rank] = found.send(rank, above[rank], piece, deepest - depth[rank], waits)
            for rank in order[1:]:
                over = above[rank]
                came = [down[over]] if down[over] >= 0 else [up[child] for child in children[over]]
                down[rank] = found.send(over, rank, piece, deepest + depth[over], found.wait(came))
    return found


def peers(ranks: int, order: str) -> list[int]:
    """Return by how much the rank of each peer is larger, in the order in which a rank sends to them.

    `staggered` is 1, 2, 3, …; `triangular` is NCCL's (`init.cc`): 1, 3, 6, 10, … modulo the next power of two, of which
    those that are no rank are left out.
    """
    if order == "staggered":
        return list(range(1, ranks))
    whole = 1 << (ranks - 1).bit_length()
    deltas = [step * (step + 1) // 2 % whole for step in range(whole)]
    return [delta for delta in deltas if 0 < delta < ranks]


def all_to_all(ranks: int, sizes: Ints, order: str = "staggered", window: int = 0) -> Schedule:
    """Return an exchange of every rank with every other one.

    It takes at least the bytes that the busiest rank sends or receives, over B.

    Args:
        ranks: n.
        sizes: bytes, (sender, receiver); 0 is no message.
        order: of the peers of a rank (`peers`).
        window: messages that a rank has under way until they are acknowledged; 0 is any number.
    """
    found = Schedule()
    sent: list[list[int]] = [[] for _ in range(ranks)]
    for step, delta in enumerate(peers(ranks, order)):
        for rank in range(ranks):
            to = (rank + delta) % ranks
            if not (size := int(sizes[rank, to])):
                continue
            own = sent[rank]
            waits = found.wait(own[-window:][:1], "acknowledged") if window and len(own) >= window else -1
            own.append(found.send(rank, to, size, step, waits))
    return found


def pipeline(stages: int, microbatches: int, size: int, forward_ns: float, backward_ns: float) -> Schedule:
    """Return the activations and gradients of a pipeline: all microbatches go forward, then all back (GPipe).

    A stage computes one microbatch at a time, for `forward_ns` or `backward_ns`, and sends what comes out to the next
    stage, or back to the one before. Without bytes the last gradient comes to the first stage after
    (microbatches + stages − 1)(forward + backward) less one backward, which the first stage has yet to compute.
    """
    found = Schedule()
    forth = _passed(found, range(stages), microbatches, size, forward_ns, -1, 0.0)
    ready = found.wait(forth)  # the last stage has all; it computes the last one yet
    _passed(found, range(stages - 1, -1, -1), microbatches, size, backward_ns, ready, forward_ns)
    return found


def _passed(
    found: Schedule, stages: Sequence[int], microbatches: int, size: int, compute_ns: float, ready: int, more_ns: float
) -> list[int]:
    """Add what stages send one to the next, the first of which waits for a set; return what the last receives."""
    steps = max(found.step, default=-1) + 1
    arrived: list[int] = []
    for place, (stage, following) in enumerate(pairwise(stages)):
        sent: list[int] = []
        for batch in range(microbatches):
            awaited, moments = arrived[batch : batch + 1], list[Moment](["received"] * bool(arrived))
            if sent:  # the one before is computed
                awaited, moments = [*awaited, sent[-1]], [*moments, "begun"]
            first = not (place or batch)
            after, delay = (ready, compute_ns + more_ns) if first else (found.wait(awaited, moments), compute_ns)
            sent.append(found.send(stage, following, size, steps + place, after, delay))
        arrived = sent
    return arrived

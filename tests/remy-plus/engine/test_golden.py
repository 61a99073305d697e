"""Every feedback of R+ and Remy on networks without randomness, bit for bit.

The traces were printed by the original programs. On these networks nothing depends on a random number, so equal
arithmetic in equal order gives equal bits.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Model
from lcca.remy_plus.files import dna
from lcca.remy_plus.network import Network, compile_network
from lcca.remy_plus.policies.policy import compile_policy

INF = math.inf


@dataclass(frozen=True)
class Case:
    name: str
    table: str
    link_rate: float
    rtt: float
    buffer: float
    duration: float
    script: tuple[tuple[float, ...], ...]  # per sender: on, off, on, … in µs

    @property
    def pacing(self) -> str:
        return "relative" if self.name.startswith("rplus") else "absolute"


CASES = (
    Case("rplus-onerule-1sender", "onerule-e2e", 2.5, 24, 250, 400, ((1.25,),)),
    Case("rplus-onerule-lq-1sender", "onerule-linkqueue", 3.5, 20, 100, 400, ((3.7,),)),
    Case("rplus-syn-e2e-1sender", "syn-e2e-64", 3, 25, 100, 500, ((1.25,),)),
    Case("rplus-syn-link-2senders", "syn-link-64", 3, 25, 100, 500, ((1.25,), (57.313,))),
    Case(
        "rplus-syn-lq-3senders-restart",
        "syn-linkqueue-96",
        *(3.5, 28, 100, 800),
        ((1.25, 301.4, 309.77), (57.313, 500.9, 650.123), (113.19,)),
    ),
    Case("rplus-syn-all9-2senders-smallbuf", "syn-all9-192", 2.5, 24, 12, 600, ((1.25,), (97.77,))),
    Case("remy-2013-delta0.1-1sender", "RemyCC-2013-delta0.1", 1, 100, INF, 1500, ((1.25,),)),
    Case("remy-2013-delta1-2senders", "RemyCC-2013-delta1", 1.5, 150, INF, 3000, ((20.5,), (611.3, 1700.7, 2011.9))),
    Case("remy-2014-100x-2senders", "RemyCC-2014-100x", 1, 150, INF, 2000, ((100.5,), (713.1,))),
)

COLUMNS = {  # of the reference's files: ours
    "tick": "now_us",
    "tick_received": "now_us",
    "sender": "sender",
    "seq": "sequence",
    "tick_sent": "sent_us",
    "queue_stat": "stamp_queue",
    "link_stat": "stamp_link",
    "send_ewma": "send_ewma",
    "rec_ewma": "receive_ewma",
    "rtt_ratio": "rtt_ratio",
    "slow_rec_ewma": "slow_receive_ewma",
    "rtt_diff": "rtt_difference",
    "queueing_delay": "queueing_delay",
    "recent_loss": "loss",
    "int_queue": "queue_ewma",
    "int_link": "link_ewma",
    "rule": "rule",
    "window": "window_packets",
    "intersend": "gap_us",
    "largest_ack": "acknowledged",
    "packets_sent_before_send": "packets_sent",
    "sending": "on",
}
NOT_OURS = {"n", "flow", "batch"}  # a row number; the flow, which has its own test; R+'s batches, always of one packet


class Golden:
    """One case: the reference's rows and the engine's."""

    def __init__(self, case: Case, folder: Path, compiled: Callable[[Network], _core.Network]) -> None:
        self.case = case
        self.folder = folder
        self.compiled = compiled
        self.lines = (folder / "rplus" / "golden" / f"{case.name}.csv").read_text().splitlines()

    @cached_property
    def reference(self) -> dict[str, np.ndarray]:
        rows = list(csv.DictReader(line for line in self.lines if not line.startswith("#")))
        return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}

    @cached_property
    def engine(self) -> dict[str, np.ndarray]:
        return self.run(self.case.duration)

    def run(self, duration: float) -> dict[str, np.ndarray]:
        case = self.case
        table = dna.read(self.folder / "dna" / f"{case.table}.dna", pacing=case.pacing).table
        # Nothing is drawn with a script and no loss, so the means and the seed do not matter.
        network = Network(0, case.link_rate, case.rtt, len(case.script), case.buffer, 1000.0, 1000.0, 0.0)
        return _core.trace(
            compile_policy(table),
            self.compiled(network),
            0,
            duration=duration,
            model=Model(rplus_link_window=True, ack_size=0.0).parts(),
            script=[list(times) for times in case.script],
        )

    def finals(self) -> list[dict[str, float]]:
        """The counters of each sender at the end, as the reference printed them."""
        found = [line for line in self.lines if line.startswith("# final sender=")]
        return [{k: float(v) for k, v in re.findall(r"(\w+)=(\S+)", line)} for line in found]


@pytest.fixture(scope="module", params=("one-port", "links"))
def compiled(request: pytest.FixtureRequest, by_links: Callable[[Network], _core.Network]) -> Any:
    return compile_network if request.param == "one-port" else by_links


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def golden(request: pytest.FixtureRequest, reference: Path, compiled: Callable[[Network], _core.Network]) -> Golden:
    return Golden(request.param, reference / "data", compiled)


def test_same_bits_in_every_row(golden: Golden) -> None:
    assert set(golden.reference) <= set(COLUMNS) | NOT_OURS
    assert len(golden.engine["now_us"]) == len(golden.reference["tick"]) > 100
    for theirs, values in golden.reference.items():
        if theirs not in NOT_OURS:
            np.testing.assert_array_equal(golden.engine[COLUMNS[theirs]].astype(float), values, err_msg=theirs)


def test_flow_of_each_packet(golden: Golden) -> None:
    """The engine tells the sender's flow and whether the packet is of it; R+ tells the packet's flow."""
    ours, current = golden.engine["flow"], golden.engine["current"].astype(bool)
    theirs = golden.reference["flow"]
    np.testing.assert_array_equal(ours[current], theirs[current])
    assert (theirs[~current] < ours[~current]).all()


def test_some_packets_are_late_and_some_senders_off(reference: Path) -> None:
    """Without them the golden traces would say nothing about such packets."""
    restart = Golden(CASES[4], reference / "data", compile_network).engine
    assert (restart["current"] == 0).sum() > 5
    assert (restart["on"] == 0).sum() > 5


def test_counters_at_the_end(golden: Golden) -> None:
    """Packets sent and received, mean delay.

    R+'s share of time is not compared: it gives the time since the last event to the senders that are on after a
    switch, and leaves out what follows the last event; ours is the integral (tested by itself).
    """
    rows, end = golden.engine, golden.case.duration
    longer = golden.run(end + golden.case.rtt + 100 / golden.case.link_rate)  # receives all that was sent by `end`
    for sender, final in enumerate(golden.finals()):
        mine = rows["sender"] == sender
        assert mine.sum() == final["packets_received"]
        delay = rows["now_us"][mine] - rows["sent_us"][mine]
        assert math.isclose(delay.mean(), final["delay"], rel_tol=1e-12)
        theirs = longer["sender"] == sender
        sequence, sent_us = longer["sequence"][theirs], longer["sent_us"][theirs]
        sent = sequence[sent_us <= end].max() + 1
        after = sequence[sent_us > end]
        # Sequence numbers count packets; those dropped between the last one received and `end` do not show.
        assert sent <= final["packets_sent"] <= (after.min() if len(after) else INF)
        if golden.case.buffer > 12:  # nothing dropped: no gap to hide in
            assert sent == final["packets_sent"]


def test_every_sender_has_its_counters(golden: Golden) -> None:
    assert len(golden.finals()) == len(golden.case.script)

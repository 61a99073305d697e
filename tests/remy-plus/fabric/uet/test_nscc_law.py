"""NSCC's window law: every window of the public simulator's event logs, and a second implementation on random ACKs."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.switches.transports import TRANSPORTS

from .uet_support import DATA, Cell, cells

PAYLOAD, HEADER = 4086, 64
FULL = PAYLOAD + HEADER
TRIMMED, AT_LAST_HOP, TIMEOUT = 1, 2, 3
LOGGED = [
    cell
    for cell in cells(DATA)
    if cell.scenario in ("incast2-star", "incast8-star", "alone-fattree")
    and cell.configuration in ("nscc", "both", "nscc-notrim")
]


def windows(gbps: float, rtt_ns: float, trims: bool, news: pd.DataFrame, transport: str = "nscc") -> Any:
    kind = TRANSPORTS[transport]
    return _core.nscc_windows(
        kind.parameters(gbps, {}),
        gbps,
        rtt_ns,
        PAYLOAD,
        HEADER,
        trims,
        news.now_ns.to_numpy(float),
        news.bytes.to_numpy(np.int64),
        news.under_way.to_numpy(np.int64),
        news.marked.to_numpy(np.uint8),
        news.rtt_ns.to_numpy(float),
        news.lost.to_numpy(np.uint8),
    )


def news_of(events: pd.DataFrame, rtt_ns: float) -> pd.DataFrame:
    """What a flow's log says of its ACKs, trims and timeouts; `window` is NaN where it has none."""
    sent, size, rows = dict[int, float](), dict[int, int](), []
    mean, base = 0.0, rtt_ns
    for event in events.itertuples():
        if event.event in ("send", "resend"):
            sent[event.psn], size[event.psn] = event.t_ns, event.bytes
        elif event.event == "ack":
            timed = not (event.delay_ns == mean == event.avg_delay_ns and event.base_rtt_ns == base)
            rtt = event.delay_ns + event.base_rtt_ns if timed else -1.0
            rows.append((event.t_ns, event.newly_bytes, event.inflight_bytes, event.ecn, rtt, 0, event.cwnd_bytes))
            mean, base = event.avg_delay_ns, event.base_rtt_ns
        elif event.event == "nack" and not math.isnan(event.cwnd_bytes):
            lost = AT_LAST_HOP if "L" in str(event.flags) else TRIMMED
            bytes_, since = size[event.psn], event.t_ns - sent[event.psn]
            rows.append((event.t_ns, bytes_, event.inflight_bytes + bytes_, 1, since, lost, event.cwnd_bytes))
            mean, base = math.nan, event.base_rtt_ns
        elif event.event == "rto":
            rows.append((event.t_ns, FULL, 0, 0, 0, TIMEOUT, math.nan))
    return pd.DataFrame(rows, columns=["now_ns", "bytes", "under_way", "marked", "rtt_ns", "lost", "window"])


@pytest.mark.parametrize("cell", [pytest.param(cell, id=cell.name) for cell in LOGGED])
def test_every_logged_window_is_within_two_bytes(cell: Cell, reference: Path) -> None:
    events = pd.read_csv(DATA / f"events-{cell.name}.csv")
    rtt_ns, transport = float(cell.parameters.network_rtt_ns), "nscc+rccc" if cell.configuration == "both" else "nscc"
    compared = 0
    for _, flow in events.groupby("flow"):
        news = news_of(flow, rtt_ns)
        found = windows(cell.gbps, rtt_ns, "notrim" not in cell.configuration, news, transport)["window_bytes"]
        apart = np.abs(found - news.window.to_numpy())[news.window.notna()]
        assert apart.max(initial=0) <= 2, f"flow {flow.flow.iloc[0]}: ACK {int(apart.argmax())}"
        compared += len(apart)
    assert compared > 100


class Nscc:
    """The law as the fact sheet has it, in floating point: bytes and ns."""

    def __init__(self, gbps: float, rtt: float, trims: bool) -> None:
        self.rtt, self.rate, self.target = rtt, gbps / 8, rtt * (0.75 if trims else 1)
        self.gain = rtt * self.rate / 150_000
        self.window = self.most = 1.5 * rtt * self.rate
        self.base, self.mean, self.increase = rtt, 0.0, 0.0
        self.received = self.achieved = self.ignored = self.to_ignore = self.quiet = 0
        self.round_end = self.decreased = self.adjusted = 0.0
        self.trimmed = self.fast = False

    def clamp(self) -> None:
        self.window = min(max(self.window, FULL), max(self.most, FULL))

    def lower_base(self, rtt: float) -> None:
        if rtt < self.base:
            self.base, self.most = rtt, 1.5 * rtt * self.rate

    def cut(self, marked: bool, delay: float, under_way: int, now: float) -> bool:
        if marked and self.ignored < self.to_ignore:
            self.increase = self.received = 0
            return True
        if now <= self.round_end:
            return False
        cuts = self.round_end > 0 and (self.trimmed or delay > 4 * self.target) and self.achieved < self.most / 8
        if cuts:
            self.window, self.to_ignore, self.ignored = max(self.achieved, FULL), under_way, 0
            self.trimmed, self.increase, self.received = False, 0, 0
        self.achieved, self.round_end = 0, now + self.base + self.target
        return cuts

    def ack(self, now: float, size: int, under_way: int, marked: bool, rtt: float) -> None:
        self.achieved += size
        self.received += size
        self.ignored += size
        delay = self.mean
        if rtt >= 0:
            self.lower_base(rtt)
            delay = rtt - self.base
            self.mean += 0.0125 * ((self.base / 4 if not marked and delay > self.target else delay) - self.mean)
        if self.cut(marked, delay, under_way, now):
            return
        if marked and delay >= self.target:
            self.fast, self.quiet = False, 0
            if self.mean > self.target and now - self.decreased > self.base:
                self.window *= max(1 - 0.8 * (self.mean - self.target) / self.mean, 0.5)
                self.decreased = now
        elif not marked and delay >= self.target:
            self.increase += 5 * PAYLOAD * self.gain * size
        elif not marked:
            self.quiet, self.fast = (self.quiet + size, self.fast) if delay < 1000 else (0, False)
            if delay < 1000 and (self.quiet > self.window or self.fast):
                self.window, self.fast = self.window + 0.25 * self.gain * size, True
            else:
                self.increase += 4 * PAYLOAD * self.gain * size * (self.target - delay) / 12_000
        self.clamp()
        if self.received > 8 * FULL or now - self.adjusted > self.rtt:
            self.window += self.increase / self.window
            if now - self.adjusted >= self.rtt:
                self.window, self.adjusted = self.window + 0.15 * PAYLOAD * self.gain, now
            self.increase = self.received = 0
        self.clamp()

    def trim(self, size: int, since: float, under_way: int, now: float) -> None:
        self.lower_base(since)
        self.ignored += size
        self.mean += 0.0125 * (self.rtt - self.mean)
        self.trimmed = True
        if not self.cut(True, self.mean, under_way, now):
            self.window -= size
            self.clamp()


@pytest.mark.parametrize("gbps", [25, 100, 800])
@pytest.mark.parametrize("seed", range(4))
def test_a_second_implementation_has_the_same_windows(gbps: float, seed: int) -> None:
    random, rtt, trims = np.random.default_rng(seed), 10_000.0, seed % 2 == 0
    count = 3000
    # Queues that rise and fall, so that every branch of the law is met.
    queue = np.clip(np.cumsum(random.normal(0, 2500, count)) % 60_000, 0, None)
    news = pd.DataFrame(
        {
            "now_ns": 20_000 + np.cumsum(random.exponential(1500, count)).round(),
            "bytes": random.integers(1, 5, count) * FULL,
            "under_way": random.integers(0, 200_000, count),
            "marked": queue > random.uniform(0, 30_000, count),
            "rtt_ns": np.where(random.random(count) < 0.1, -1, rtt - 500 + queue.round()),
            "lost": np.where(random.random(count) < 0.02, TRIMMED, 0),
        }
    )
    news.loc[news.lost > 0, "rtt_ns"] = rtt + 1000
    law, wanted, branches = Nscc(gbps, rtt, trims), [], set[str]()
    for row in news.itertuples():
        before = law.window
        if row.lost:
            law.trim(int(row.bytes), row.rtt_ns, int(row.under_way), row.now_ns)
        else:
            law.ack(row.now_ns, int(row.bytes), int(row.under_way), bool(row.marked), row.rtt_ns)
        branches.add("up" if law.window > before else "down" if law.window < before else "same")
        wanted.append(law.window)
    assert branches == {"up", "down", "same"}
    found = windows(gbps, rtt, trims, news)["window_bytes"]
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=20)  # whole bytes and ps against real numbers

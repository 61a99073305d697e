"""Numbers of senders by the gaps that their packets say, against how many there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import WithHeader
from lcca.signal_sets.headers.costs import switch_cost
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.simulated import header_signals, stamping

GAP = {"name": "gap", "source": "gap", "unit": "us", "bits": 16, "agg": "first", "scope": "src_once"}
CODE = {"kind": "log", "base": 1.001, "min": 0.01, "zero": True, "round": "nearest"}
OVER = {"window": "tumbling", "interval_rtts": 4}
COUNT = {"name": "senders", "source": "senders", "measure": OVER, "bits": 16, "agg": "max"}
FINE = {"kind": "linear", "step": 0.01, "round": "nearest"}


def header(gap: dict[str, Any] | None = None, count: dict[str, Any] | None = None, **more: Any) -> Header:
    fields = [*([] if gap == {} else [GAP | {"encode": CODE} | (gap or {})]), COUNT | {"encode": FINE} | (count or {})]
    whole = {"name": "counted", "title": "Counted", "placement": {"layer": "l3"}, "fields": fields}
    return Header.model_validate(whole | more)


SENDERS = """
class Of:
    signals = ("flows",)
    windows = iter({windows})

    def __init__(self):
        self.window = 5

    def start(self):
        self.window = next(Of.windows, 5)
        return self.window, 0

    def on_ack(self, ack):
        with open({log!r}, "a") as log:
            print(ack.flows, file=log)
        return self.window, 0
"""


def said(tmp_path: Path, windows: list[int], described: Header) -> np.ndarray:
    """Return the numbers that ACKs bring senders with these windows, behind a link that carries them all."""
    file, log = tmp_path / "of.py", tmp_path / "log"
    file.write_text(SENDERS.format(windows=[*windows, *windows], log=str(log)))  # it is rehearsed first
    log.write_text("")
    on = Network(1, 2.0, 20.0, len(windows), 1e3, 1e9, 1.0, 0.0)
    policy = WithHeader(load(f"{file}:Of").policy, stamping(described, charged=False))
    engine = Engine(2000.0, jobs=1)
    log.write_text("")
    record = engine.run([engine.compile(policy)], NetworkList([on]), [0], [0], [1])
    assert not any(record.errors)
    return np.loadtxt(log)


@pytest.mark.parametrize("windows", [[20], [20] * 3, [8, 8, 8, 8, 80]])
def test_as_many_as_there_are_whatever_their_windows(tmp_path: Path, windows: list[int]) -> None:
    found = said(tmp_path, windows, header())
    late = found[len(found) // 2 :]
    assert late.mean() == pytest.approx(len(windows), rel=0.03) and late.std() < 0.2 * len(windows)


def test_coarse_gaps_are_wrong_by_their_steps(tmp_path: Path) -> None:
    """All of five equal gaps are rounded alike: the count is off by the code's ratio at most, and is not exact."""
    coarse = {"encode": CODE | {"base": 1.5, "min": 1, "round": "floor"}, "bits": 8}
    found = said(tmp_path, [20] * 5, header(coarse))
    share = found[len(found) // 2 :].mean() / 5
    assert 1 / 1.5 < share < 0.98


def test_no_map_of_flows() -> None:
    """A sum that runs, the last one and the number of the interval, of 32 bits."""
    cost = switch_cost(header())
    assert (cost.state_bits, cost.operations) == (96, 4 + 2)
    assert header_signals(header()) == ("flows",)


@pytest.mark.parametrize(
    ("gap", "count", "wrong"),
    [
        ({}, {}, "senders are counted by their gaps: add a field with source: gap, scope: src_once"),
        ({}, {"source": "expr:senders * 2"}, "senders are counted by their gaps: add a field"),
        (None, {"measure": {}}, "senders are counted in intervals: window: tumbling"),
        (None, {"measure": {"window": "ewma", "interval_us": 9}}, "senders are counted in intervals"),
        ({"scope": "hop"}, {}, "the sender says its gap: scope: src_once"),
        ({"unit": "ns"}, {}, "a gap is in us"),
    ],
)
def test_what_cannot_be_counted_is_refused(gap: dict[str, Any] | None, count: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValidationError, match=wrong):
        header(gap, count)

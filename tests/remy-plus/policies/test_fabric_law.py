"""Laws for fabrics: a second implementation, C that stands alone, and what a fabric does with them."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.builders import dumbbell, star
from lcca.remy_plus.fabric.engine import FabricEngine, Watch, engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.lawc import c_source
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.fabric_law import FEATURES, MOST_SIGNALS, TERMS, FabricLaw
from lcca.remy_plus.policies.policy import WithHeader, compile_policy
from lcca.signal_sets.headers.header import header as named_header
from lcca.signal_sets.headers.simulated import stamping

INPUTS = ("load", "queue_time", "flows", "mark", "capacity", "trims", "marked_ways", "credit")
DELAY_LAW = FabricLaw.of({}, {"one": 0.14, "window": -0.05, "delay": -0.58})


def random_law(seed: int, inputs: tuple[str, ...] = INPUTS) -> FabricLaw:
    """Return a law all of whose numbers count."""
    draw = np.random.default_rng(seed)
    terms = dict(zip(TERMS, draw.normal(0, 0.5, len(TERMS)).tolist(), strict=True)) | {"add": -5.0, "loss": 1.2}
    features = dict(zip(FEATURES, draw.normal(0, 0.4, len(FEATURES)).tolist(), strict=True))
    return FabricLaw.of(terms, features, {name: draw.normal(0, 0.3, 3).tolist() for name in inputs})


# --- a second implementation


class Second:
    """The law as its page has it, in Python's own logarithms and powers."""

    def __init__(self, law: FabricLaw, bdps_left: float) -> None:
        self.law, self.p, self.f = law, law.named_terms, law.named_features
        first = self.p["first"] + self.p["first_size"] * self.size(bdps_left)
        self.window = self.reference = 2 ** min(max(first, -10), 4)
        self.delay = 0.0

    @staticmethod
    def size(bdps_left: float) -> float:
        return min(max(math.log2(bdps_left), -4), 9) / 4

    def ack(self, delay: float, bdps_left: float, forms: list[float], moves: bool) -> None:
        size, d, w = self.size(bdps_left), min(max(delay, 0), 8), math.log2(self.reference)
        seen = {
            "one": 1.0,
            "window": w,
            "delay": d,
            "long_delay": max(0, d - 0.5),
            "trend": d - self.delay,
            "delay_window": min(d, 2) * w,
            "size": size,
            "size_delay": size * min(d, 2),
        }
        n = sum(self.f[name] * value for name, value in seen.items())
        for form, (plain, above, by_size) in zip(forms, self.law.coefficients, strict=True):
            n += plain * form + above * max(0, form) + by_size * size * form
        added = 2 ** min(max(self.p["add"] + self.p["add_size"] * size, -17), 3)
        largest = 2 ** min(max(self.p["largest"], -4), 4)
        self.window = min(max(self.reference * 2 ** min(max(n, -3), 1.5) + added, 1 / 1024), largest)
        if moves:
            self.reference, self.delay = self.window, d

    def lost(self) -> None:
        self.window = self.reference = max(self.reference * 2 ** -min(max(self.p["loss"], 0), 10), 1 / 1024)


FORMS = (
    lambda v: min(max(v, 0), 8),
    lambda v: min(max(math.log2(max(v, 2**-12)), -12), 4),
    lambda v: min(max(v, 0), 1),
    lambda v: math.log2(max(v, 1)),
    lambda v: math.log2(1 + max(v, 0)),
)


class State(ctypes.Structure):
    _fields_ = [("window", ctypes.c_double), ("reference", ctypes.c_double), ("delay", ctypes.c_double)]


def compiled_c(law: FabricLaw, folder: Path) -> ctypes.CDLL:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    (folder / "law.c").write_text(c_source(law))
    warned = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    command = ["gcc", "-std=c99", "-O2", "-ffp-contract=off", *warned, "-shared", "-fPIC", "law.c", "-o", "law.so"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "law.so"))
    library.law_rate.restype = library.law_under_way.restype = ctypes.c_double
    return library


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_exported_c_is_the_law(seed: int, tmp_path: Path) -> None:
    law, draw = random_law(seed), np.random.default_rng(100 + seed)
    library, state, number = compiled_c(law, tmp_path), State(), ctypes.c_double
    library.law_start(ctypes.byref(state), number(12.5))
    second = Second(law, 12.5)
    for step in range(200):
        delay, left = float(draw.exponential(0.7)), float(2 ** draw.uniform(-6, 12))
        values = draw.exponential(1.5, len(law.inputs)).tolist()
        forms = [FORMS[_core.fabric_form(name)](value) for name, value in zip(law.inputs, values, strict=True)]
        if step % 37 == 36:
            library.law_lost(ctypes.byref(state))
            second.lost()
        moves = step % 5 == 0
        array = (ctypes.c_double * max(1, len(values)))(*values)
        library.law_ack(ctypes.byref(state), number(delay), number(left), array, moves)
        second.ack(delay, left, forms, moves)
        assert (state.window, state.reference) == pytest.approx((second.window, second.reference), rel=1e-6)
        rate = min(max(second.window * 2 ** second.p["pace"], 1 / 1024), 1)
        assert library.law_rate(ctypes.byref(state)) == pytest.approx(rate, rel=1e-6)
        under_way = second.window * 2 ** second.p["ahead"]
        assert library.law_under_way(ctypes.byref(state)) == pytest.approx(under_way, rel=1e-6)


# --- on a fabric


def lone(size: int) -> FabricFlows:
    return FabricFlows(np.array([0]), np.array([1]), np.array([size]), np.array([0.0]))


def incast(senders: int, size: int) -> FabricFlows:
    count = np.arange(1, senders + 1)
    return FabricFlows(count, np.zeros_like(count), np.full(senders, size), np.zeros(senders))


def test_the_fabric_runs_the_law_a_reference_once_per_rtt() -> None:
    """Alone, without queues: the rate of each RTT is that of the second implementation."""
    law = FabricLaw.of({"first": -5, "pace": 0.5, "add": -8, "largest": -1}, {"one": 0.4})
    size, gbps = 4_000_000, 100.0
    engine = FabricEngine(law, settings=FabricSettings(payload_bytes=1000))
    record = engine.run(star(2, gbps=gbps, delay_ns=5000), lone(size), watch=Watch(500.0, [0]))
    rtt, bdp = record["base_rtt_ns"], gbps / 8 * record["base_rtt_ns"]
    second, expected = Second(law, size / bdp), []
    for _ in range(40):
        second.ack(0.0, 1.0, [], True)
        expected.append(gbps * min(second.window * 2**0.5, 1))
    sampled = record["sample_gbps"][:, 0][: int(12 * rtt / 500)]
    rates = list(dict.fromkeys(sampled[sampled > 0].tolist()))
    assert len(rates) > 8
    assert rates.pop(0) == gbps  # until the first ACK
    nearest = [int(np.argmin([abs(rate / each - 1) for each in expected])) for rate in rates]
    assert nearest == sorted(set(nearest))
    assert rates == pytest.approx([expected[at] for at in nearest], rel=1e-6)


@pytest.mark.parametrize(("signal", "header", "form"), [("capacity", "fair-share", -1.0), ("flows", "fair-share", 0.0)])
def test_a_header_counts_from_the_first_ack_in_the_units_of_the_line(signal: str, header: str, form: float) -> None:
    """Alone over a link of half the line rate: its capacity is 2^−1 of it, its one flow 2^0, from the start."""
    law = FabricLaw.of({"first": -5, "add": -8, "largest": -2}, {"one": 0.1}, {signal: (0.4, 0.0, 0.0)})
    policy = WithHeader(law, stamping(named_header(header)))
    topology = dumbbell(1, bottleneck_gbps=50, host_gbps=100)
    record = engine_of(policy, FabricSettings()).run(topology, lone(4_000_000), watch=Watch(500.0, [0]))
    sampled = record["sample_gbps"][:, 0]
    first = next(rate for rate in sampled if 0 < rate < 100)
    second = Second(law, 4_000_000 / (12.5 * record["base_rtt_ns"]))
    second.ack(0.0, 1.0, [form], True)
    expected = [second.window]
    second.ack(0.0, 1.0, [form], True)
    expected.append(second.window)  # the first ACK moves the reference; those that follow it go on from there
    assert min(abs(first / (100 * each) - 1) for each in expected) < 2e-3  # the header's code


@pytest.mark.parametrize("lossless", [True, False])
def test_what_is_sent_arrives(lossless: bool) -> None:
    settings = FabricSettings(lossless=lossless, buffer_bytes=400_000 if lossless else 100_000, headroom_delays=3)
    record = engine_of(DELAY_LAW, settings).run(star(9), incast(8, 300_000), seed=3)
    assert np.isfinite(record["flow_fct_ns"]).all()
    assert (record["flow_delivered_bytes"] == 300_000).all()
    assert lossless == (int(record["port_drops"].sum()) == 0)


def test_a_loss_takes_its_share() -> None:
    """Where a loss decreases the window, fewer packets are sent again."""
    settings = FabricSettings(lossless=False, buffer_bytes=60_000)
    law = {"one": 0.3}  # grows until packets are lost
    again = [
        int(
            engine_of(FabricLaw.of({"loss": loss}, law), settings).run(star(9), incast(8, 500_000), seed=3)[
                "retransmitted_packets"
            ]
        )
        for loss in (0.0, 3.0)
    ]
    assert again[0] > again[1] > 0


def test_a_law_keeps_queues_shorter_than_a_fixed_window() -> None:
    flows = incast(8, 4_000_000)
    law, window = (
        FabricEngine(policy).run(star(9), flows)["port_mean_queued_bytes"].max() for policy in (DELAY_LAW, "window")
    )
    assert law < 0.5 * window


def test_long_flows_yield_to_short_ones_where_the_law_knows_sizes() -> None:
    sized = FabricLaw.of({}, DELAY_LAW.named_features | {"size": -0.5, "size_delay": -1.0})
    flows = FabricFlows(np.array([1, 2]), np.array([0, 0]), np.array([4_000_000, 200_000]), np.array([0.0, 60_000.0]))
    plain, yielding = (
        engine_of(law, FabricSettings()).run(star(3), flows)["flow_fct_ns"][1] for law in (DELAY_LAW, sized)
    )
    assert yielding < 0.9 * plain


# --- what cannot be


def test_networks_refuse_it() -> None:
    with pytest.raises(InputError, match="runs on a fabric only"):
        compile_policy(DELAY_LAW)
    network = Network(0, link_rate=2.0, rtt=20.0, senders=1, buffer=100, mean_on=1000.0, mean_off=100.0, loss=0.0)
    with pytest.raises(InputError, match="runs on fabrics"):
        Engine(100.0).run([compile_policy(DELAY_LAW, on_fabric=True)], NetworkList([network]), [0], [0], [1])


def test_files_hold_it(tmp_path: Path) -> None:
    law, file = random_law(4), tmp_path / "law.json"
    policyfile.write(file, policyfile.PolicyFile(law))
    assert policyfile.load(file).policy == law


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"terms": {"frist": 1.0}}, "terms: unknown name 'frist' .did you mean 'first'"),
        ({"features": {"delays": 1.0}}, "features: unknown name 'delays' .did you mean 'delay'"),
        ({"terms": {"add": 1e9}}, "terms.add: must be between"),
        ({"inputs": {"no such": (0, 0, 0)}}, "unknown signal"),
        ({"inputs": {"load": (0, 0)}}, "three numbers are needed"),
    ],
)
def test_what_cannot_be_is_named(change: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        FabricLaw.of(**({"terms": {}} | change))


def test_it_takes_few_signals() -> None:
    names = ["load", "queue", "queue_time", "flows", "mark", "capacity", "fair_rate", "link", "hop_delay"]
    with pytest.raises(InputError, match=f"at most {MOST_SIGNALS}"):
        FabricLaw.of({}, {}, dict.fromkeys(names, (0.0, 0.0, 0.0)))

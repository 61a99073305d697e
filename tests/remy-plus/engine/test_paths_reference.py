"""The engine on many links against a plain simulation of the same, packet by packet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Model
from lcca.remy_plus.policies.policy import FixedWindow, compile_policy

DURATION = 600.0
MEAN_OFF = 20.0


def _reference() -> object:
    """The module next to this one."""
    import importlib.util
    import sys

    path = Path(__file__).with_name("path_reference.py")
    spec = importlib.util.spec_from_file_location("path_reference", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


reference = _reference()


@dataclass(frozen=True)
class Case:
    """Random links and ways over them, without order or sense."""

    seed: int
    rate: list[float]
    delay: list[float]
    buffer: list[float]
    forward: list[list[int]]
    backward: list[list[int]]
    measured: int
    window: int
    ack_size: float
    one_way: bool


def draw(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    links, senders = int(rng.integers(2, 9)), int(rng.integers(1, 7))
    buffer = [math.inf, 3.0, 12.0][seed % 3]

    def way() -> list[int]:
        return rng.permutation(links)[: int(rng.integers(1, links + 1))].tolist()

    return Case(
        seed,
        rng.uniform(0.5, 4, links).tolist(),
        rng.uniform(0, 10, links).tolist(),
        [buffer] * links,
        [way() for _ in range(senders)],
        [way() for _ in range(senders)],
        int(rng.integers(1, senders + 1)),
        int(rng.integers(1, 25)),
        [0.125, 0.5, 0.25][seed // 3 % 3],  # exact in the meter's units
        bool(seed % 2),
    )


def engine_network(case: Case) -> _core.Network:
    layout = _core.Layout(
        case.rate, case.delay, case.buffer, case.forward, case.backward, case.measured, one_way=case.one_way
    )
    return _core.Network(
        id=case.seed,
        link_rate=1.0,
        rtt=0.0,
        senders=case.measured,
        buffer=math.inf,
        loss=0.0,
        workload=("time-switched", 1e12, MEAN_OFF),
        layout=layout,
    )


def first_on(case: Case, sender: int) -> float:
    """When a sender comes on: the engine's own draw, whether the sender is measured or not."""
    (uniform,) = _core.uniforms(case.seed, case.seed, 1, sender, 0, 1)
    return -MEAN_OFF * _core.portable_log(uniform)


def simulate(case: Case) -> object:
    links = [reference.Link(*each) for each in zip(case.rate, case.delay, case.buffer, strict=True)]
    starts = [first_on(case, i) for i in range(len(case.forward))]
    run = reference.Reference(links, case.forward, case.backward, starts, case.window, case.ack_size, case.one_way)
    run.run(DURATION)
    return run


@pytest.mark.parametrize("seed", range(60))
def test_every_packet_and_every_link(seed: int) -> None:
    case = draw(seed)
    plain, policy, network = simulate(case), compile_policy(FixedWindow(case.window)), engine_network(case)
    common = {"duration": DURATION, "model": Model(ack_size=case.ack_size).parts()}
    trace = _core.trace(policy, network, case.seed, script=[], **common)
    rows = [row for row in plain.rows if row.sender < case.measured and row.now < plain.first_tie]
    assert len(rows) == (trace["now_us"] < plain.first_tie).sum()
    for name, key in {
        "now": "now_us",
        "sent": "sent_us",
        "sender": "sender",
        "sequence": "sequence",
        "queue": "stamp_queue",
        "link": "stamp_link",
    }.items():
        np.testing.assert_array_equal(trace[key][: len(rows)], [getattr(row, name) for row in rows], err_msg=name)
    if plain.first_tie < DURATION:
        return
    check_links(
        case,
        plain,
        _core.run_batch(
            [policy],
            [network],
            np.zeros(1, np.uint32),
            np.zeros(1, np.uint32),
            np.array([case.seed], np.uint64),
            jobs=1,
            keep_delays=False,
            keep_flows=False,
            keep_rule_hits=False,
            keep_links=True,
            **common,
        ),
    )


def check_links(case: Case, plain: object, batch: dict[str, np.ndarray]) -> None:
    """Totals of links (Little's law: waiting times summed are the queue integrated), drops by flow, bounds."""
    integral = np.array([link.queue_integral for link in plain.links])
    np.testing.assert_allclose(batch["link_queue_mean_packets"], integral / DURATION, rtol=1e-9, atol=1e-9)
    busy = np.array([link.busy for link in plain.links])
    np.testing.assert_allclose(batch["link_utilisation"], busy / DURATION, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(batch["link_accepted"], [link.accepted for link in plain.links])
    np.testing.assert_array_equal(batch["link_dropped"], [link.dropped for link in plain.links])
    np.testing.assert_array_equal(batch["sender_dropped"], plain.dropped[: case.measured])
    np.testing.assert_array_equal(batch["sender_acks_dropped"], plain.acks_dropped[: case.measured])
    assert batch["trial_hops"][0] == batch["link_accepted"].sum()
    assert batch["trial_utilisation"][0] == batch["link_utilisation"].max()
    assert all(link.most <= link.buffer for link in plain.links)


@pytest.mark.slow
def test_the_cases_drop_packets_and_acknowledgements() -> None:
    found = [simulate(draw(seed)) for seed in range(30)]
    assert sum(sum(run.dropped) for run in found) > 100
    assert sum(sum(run.acks_dropped) for run in found) > 100
    assert sum(run.first_tie > DURATION for run in found) > 20

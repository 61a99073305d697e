"""Signals that are formulas: as registered ones where they equal one, and as Python computes them from a trace."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import formula, places, quantity, registered
from lcca.remy_plus.core.signals import CARRIED, QUANTITIES, SIGNAL_CEILING, SIGNALS
from lcca.remy_plus.core.stamping import ONLY_IN_HEADERS
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.files.lawc import c_source
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, loads
from lcca.remy_plus.files.text import describe
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.agents import Agent, LawSteering
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.law import FEATURES, Law
from lcca.remy_plus.policies.policy import WithHeader, compile_policy, seen
from lcca.remy_plus.policies.rules import RuleTable, one_rule
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.registry import signal

NETWORK = Network(id=1, senders=4, rtt=25.0, link_rate=3.0, buffer=60, mean_on=1000.0, mean_off=300.0, loss=0.004)
PRESSURE = "pressure [µs] = rtt_ratio * receive_ewma"
Rows = dict[str, np.ndarray[Any, Any]]


def traced(policy: Any, duration: float = 4000.0) -> Rows:
    options: dict[str, Any] = {"script": [], "duration": duration, "model": Model().parts()}
    return _core.trace(compile_policy(policy), compile_network(NETWORK), 11, **options)


def assert_same(a: Rows, b: Rows) -> None:
    for name in ("now_us", "window_packets", "gap_us", "rule", "sender", *SIGNALS):
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def crowded(*signals: str) -> RuleTable:
    """A table whose windows fill link and buffer."""
    return one_rule(signals, windows="real").with_action(0, 1, 0.97, 0.3)


def law(inputs: tuple[str, ...]) -> Law:
    numbers = np.random.default_rng(7).uniform(-0.5, 0.5, (len(FEATURES) + len(inputs), 3)).tolist()
    terms = {"window": 3, "gap": -1, "increase": -1, "boost": 3, "boost_time": 1.5, "decrease": 0.5, "pace": -0.15}
    return Law.of(terms, dict(zip([*FEATURES, *inputs], numbers, strict=True)), inputs=inputs)


# --- equal to a registered signal


@pytest.mark.parametrize("name", [name for name in SIGNALS if CARRIED.get(name) not in ONLY_IN_HEADERS])
def test_a_table_over_a_formula_that_is_a_signal_acts_as_over_the_signal(name: str, grow: Callable[..., Any]) -> None:
    other = "receive_ewma" if name == "rtt_ratio" else "rtt_ratio"
    plain = grow(3, splits=4, signals=(other, name))
    own = RuleTable((other, f"mine = {name}"), *(getattr(plain, each) for each in COLUMNS))
    a, b = traced(plain), traced(own)
    assert_same(a, b)
    np.testing.assert_array_equal(b[f"mine = {name}"], np.minimum(a[name], SIGNAL_CEILING - 1))
    assert np.ptp(a["rule"]) > 0


COLUMNS = ("lower", "upper", "increment", "multiple", "pacing")


@pytest.mark.parametrize("inputs", [("hop_delay", "queue"), ("queue_time",), ("capacity", "queue", "rtt_difference")])
def test_a_law_over_formulas_that_are_signals_acts_as_over_the_signals(inputs: tuple[str, ...]) -> None:
    own = tuple(f"s{i} [{quantity(name).unit}] = {name}" for i, name in enumerate(inputs))
    assert_same(traced(law(inputs)), traced(law(own)))


def test_a_header_brings_what_a_formula_reads(grow: Callable[..., Any]) -> None:
    plain = grow(5, splits=4, signals=("rtt_ratio", "queue"))
    own = RuleTable(("rtt_ratio", "mine [packets] = queue"), *(getattr(plain, each) for each in COLUMNS))
    carried = stamping(header("nosignal-8b"), charged=True)
    assert_same(traced(WithHeader(plain, carried)), traced(WithHeader(own, carried)))
    with pytest.raises(InputError, match="does not carry the signal queue"):
        WithHeader(own, stamping(header("ecn")))
    assert seen(own) == ("rtt_ratio", "queue")


def test_the_search_cuts_a_formula_as_the_signal() -> None:
    plain, own = (crowded("rtt_ratio", name) for name in ("queue", "mine = queue"))
    engine, networks = Engine(duration=2000.0, jobs=1), NetworkList([NETWORK])
    cuts = [engine.cuts(compile_policy(each), networks, [0], [5], 0, each.signals) for each in (plain, own)]
    np.testing.assert_array_equal(*cuts)
    assert np.isfinite(cuts[0]).all()


# --- computed a second time

FORMULAS = {
    PRESSURE: lambda s: s["rtt_ratio"] * s["receive_ewma"],
    "inverse = 1 / loss": lambda s: 1 / s["loss"],  # 0 at first, and again after a while without losses: never quite
    "unknown = queue / queue + 0 * flows": lambda s: s["queue"] / s["queue"] + 0 * s["flows"],
    "negative = 1 - rtt_ratio": lambda s: 1 - s["rtt_ratio"],
    "large = 1e9 * rtt_ratio": lambda s: 1e9 * s["rtt_ratio"],
    "steps = queue // 3 % 4 + floor(rtt_ratio) + ceil(-0.5)": lambda s: (
        s["queue"] // 3 % 4 + math.floor(s["rtt_ratio"]) + math.ceil(-0.5)
    ),
    "choice = (queue > 5 and not rtt_ratio < 1.4) * max(min(queue, flows, 7), 2)": lambda s: (
        float(s["queue"] > 5 and not s["rtt_ratio"] < 1.4) * max(min(s["queue"], s["flows"], 7), 2)
    ),
    "inside = 1 < rtt_ratio <= 1.3 or queue == 0": lambda s: float(1 < s["rtt_ratio"] <= 1.3 or s["queue"] == 0),
}


def again(rows: Rows, compute: Callable[[dict[str, float]], float]) -> list[float]:
    """Return a formula's values, row by row: 0 until a flow's second ACK, and what it was where it cannot be known."""
    values, last = [], dict[tuple[int, int], float]()
    for i in range(len(rows["now_us"])):
        flow = (int(rows["sender"][i]), int(rows["flow"][i]))
        if rows["current"][i] and rows["rtt_ratio"][i] > 0:
            signals = {name: float(rows[name][i]) for name in SIGNALS}
            try:
                last[flow] = min(max(compute(signals), 0.0), SIGNAL_CEILING - 1)
            except ZeroDivisionError:
                pass
        values.append(last.get(flow, 0.0))
    return values


@pytest.mark.slow
def test_formulas_are_what_python_computes_from_a_trace() -> None:
    rows = traced(crowded(*FORMULAS))
    for name, compute in FORMULAS.items():
        np.testing.assert_array_equal(rows[name], again(rows, compute), err_msg=name)
        assert "negative" in name or np.ptp(rows[name]) > 0, name
    assert (rows["loss"] == 0).any() and (rows["loss"] > 0).any() and (rows["queue"] == 0).any()


# --- values that travel


def test_threads_and_copies_have_the_same_bits(grow: Callable[..., Any]) -> None:
    plain = grow(3, splits=3, signals=("rtt_ratio", "receive_ewma"))
    table = RuleTable(("rtt_ratio", PRESSURE), *(getattr(plain, each) for each in COLUMNS))
    policies = [compile_policy(table), compile_policy(law((PRESSURE,)))]
    policies += [pickle.loads(pickle.dumps(each)) for each in policies]
    assert [each.__getstate__() for each in policies[:2]] == [each.__getstate__() for each in policies[2:]]
    index, network, seeds = np.arange(16) % 4, np.zeros(16, dtype=int), np.repeat(np.arange(4), 4)
    one, two = (
        Engine(duration=2000.0, jobs=jobs).run(policies, NetworkList([NETWORK]), index, network, seeds)
        for jobs in (1, 3)
    )
    for name in ("sender_delivered", "sender_delay_sum_us"):
        np.testing.assert_array_equal(one[name], two[name])
        kinds = np.asarray(one[name]).reshape(4, 4, -1)
        np.testing.assert_array_equal(kinds[:, :2], kinds[:, 2:])


def test_policy_files_have_all_of_it(grow: Callable[..., Any]) -> None:
    plain = grow(3, splits=2, signals=("rtt_ratio", "receive_ewma"))
    table = RuleTable(("rtt_ratio", PRESSURE), *(getattr(plain, each) for each in COLUMNS))
    for policy in (table, law(("queue", PRESSURE))):
        file = PolicyFile(policy)
        assert loads(dumps(file)).policy == policy
        assert "rtt_ratio * receive_ewma" in describe(file) and "pressure" in describe(file)
    other = RuleTable(("rtt_ratio", PRESSURE.replace("*", "/")), *(getattr(plain, each) for each in COLUMNS))
    assert table.digest != other.digest
    with pytest.raises(InputError, match=r"signals\.1: expr: 'rtt_rato': there is no 'rtt_rato' .*'rtt_ratio'"):
        loads(dumps(PolicyFile(table)).replace("= rtt_ratio * receive_ewma", "= rtt_rato"))


def test_names_of_formulas() -> None:
    own = formula(PRESSURE)
    assert own is not None and (own.name, own.unit, quantity(PRESSURE).unit) == ("pressure", "µs", "µs")
    assert formula("rtt_ratio") is None
    assert registered(("queue", PRESSURE)) == ("queue", "receive_ewma", "rtt_ratio")
    assert places(("queue", "a = queue", "b = flows"))[1:] == [len(QUANTITIES) + 1, len(QUANTITIES) + 2]
    assert signal("constant [RTTs] = 5").source == "end-to-end" and not registered(["constant [RTTs] = 5"])
    with pytest.raises(InputError, match=r"'own = 2\*queue  \+ 1' must be written 'own = 2\*queue \+ 1'"):
        law(("own = 2*queue  + 1",))
    with pytest.raises(InputError, match="'pressure' is listed twice"):
        law((PRESSURE, "pressure = queue"))
    with pytest.raises(InputError, match="9 formulas, but a policy has at most 8"):
        law(tuple(f"s{i} = queue" for i in range(9)))


# --- where they cannot be


def test_where_formulas_cannot_be_is_told() -> None:
    with pytest.raises(InputError, match="pressure: a law in C has no signals that are formulas"):
        c_source(law((PRESSURE,)))
    with pytest.raises(InputError, match=r"signals\.0: 'pressure .*formulas are for rule tables and laws of networks"):
        Agent((PRESSURE,))
    with pytest.raises(InputError, match="a law that agents steer has no signals that are formulas"):
        Agent(("rtt_ratio",), steering=LawSteering(law((PRESSURE,))))
    with pytest.raises(InputError, match="formulas are for rule tables and laws of networks"):
        FabricLaw.of({}, {}, {PRESSURE: (0.0, 0.0, 0.0)})

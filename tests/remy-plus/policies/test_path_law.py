"""Laws that choose ways: a second implementation, and what a fabric does with them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.builders import fat_tree, leaf_spine, three_tier
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, engine_of
from lcca.remy_plus.fabric.events import LinkChange, LinkEvents
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings, settings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.path_law import TERMS, PathLaw
from lcca.remy_plus.policies.policy import Mixture, Policy, WithHeader, compile_policy
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.headers.header import header as named_header
from lcca.signal_sets.headers.simulated import stamping

NSCC = Transport("nscc")
ABW = stamping(named_header("csig-compact-abw"))
GOOD, MARKED, TRIMMED, TIMEOUT = range(4)


# --- a second implementation


class Second:
    """The law as its page has it, with its own turns."""

    def __init__(self, law: PathLaw, base_rtt_ns: float, ways: int) -> None:
        self.p, self.base = law.named_terms, base_rtt_ns
        self.weights = {name: self.p[name] for name in ("mark", "loss", "delay")} | dict(law.inputs)
        self.all: dict[str, float] = {}
        self.averages: list[dict[str, float]] = [{} for _ in range(ways)]
        self.heard: list[float | None] = [None] * ways
        self.left: list[float] = [-math.inf] * ways
        self.waits: list[float | None] = [None] * ways
        self.rtt: float | None = None

    def belief(self, way: int, now: float) -> float:
        heard = self.heard[way]
        return 0.0 if heard is None else 1 / (1 + (now - heard) / (2 ** self.p["memory"] * self.base))

    def score(self, way: int, now: float) -> float:
        known = self.averages[way]
        apart = sum(self.weights[name] * (value - self.all[name]) for name, value in known.items())
        waits, wait = self.waits[way], 0.0
        if self.rtt is not None and waits is not None:
            wait = min(max((now - waits) / self.base - self.rtt, 0), 8)
        return self.p["bias"] + self.belief(way, now) * apart + self.p["silence"] * wait

    def leaves(self, way: int, now: float) -> None:
        self.left[way] = now
        self.waits[way] = now if self.waits[way] is None else self.waits[way]

    def hear(self, way: int, echo: int, sent: float, delay: float, forms: dict[str, float], now: float) -> None:
        step = 1 - (1 - 2 ** self.p["gain"]) * self.belief(way, now)
        values = {"loss": {TRIMMED: 1.0, TIMEOUT: 4.0}.get(echo, 0.0)} | forms
        if echo != TIMEOUT:
            values["mark"] = float(echo != GOOD)
            if sent >= 0 and (since := self.waits[way]) is not None:
                self.waits[way] = max(since, sent) if self.left[way] > sent else None
                rtt = (now - sent) / self.base
                self.rtt = rtt if self.rtt is None else self.rtt + (rtt - self.rtt) / 32
        if delay >= 0:
            values["delay"] = min(delay, 4)
        for name, value in values.items():
            known = self.averages[way]
            known[name] = known[name] + step * (value - known[name]) if name in known else value
            self.all[name] = self.all[name] + (value - self.all[name]) / 32 if name in self.all else value
        self.heard[way] = now


def test_ways_have_packets_as_their_scores_say() -> None:
    """Over rounds in which nothing is heard, each way has its share of every turn, 2^-score, but for one packet."""
    draw = np.random.default_rng(3)
    for case in range(6):
        terms = dict(zip(TERMS, draw.normal(0, 1, len(TERMS)).tolist(), strict=True)) | {"memory": 3.0, "gain": -1.5}
        law = PathLaw.of(NSCC, terms, {"load": draw.normal(), "queue_time": draw.normal()})
        ways, base = 8, 1000.0
        events: list[tuple[int, int, float, float, float, list[float]]] = []
        second, now = Second(law, base, ways), 0.0
        first = chosen(law, ways, base, [(-1, 0, float(k), -1, -1, []) for k in range(40)])
        for way in first:  # the first packets, whichever ways they took
            events.append((-1, 0, now, -1, -1, []))
            second.leaves(way, now)
            now += 1
        for _ in range(60):
            way, echo, now = int(draw.integers(ways)), int(draw.integers(4)), now + draw.exponential(200)
            sent, delay = draw.choice([-1.0, draw.uniform(0, now)]), draw.choice([-1.0, draw.uniform(0, 6)])
            forms = [draw.normal() if draw.random() < 0.7 else math.nan for _ in law.inputs]
            events.append((echo, way, now, sent, delay, forms))
            known = {name: value for name, value in zip(law.inputs, forms, strict=True) if not math.isnan(value)}
            second.hear(way, echo, sent, delay, known, now)
        packets = 4000
        sent_by = chosen(law, ways, base, events + [(-1, 0, now, -1, -1, [])] * packets)[len(first) :]
        counts = np.bincount(sent_by, minlength=ways)
        shares = np.array([2 ** -min(max(second.score(way, now), 0), 6) for way in range(ways)])
        np.testing.assert_allclose(counts, packets * shares / shares.sum(), atol=3, err_msg=str(case))


def chosen(law: PathLaw, ways: int, base: float, events: list[Any]) -> list[int]:
    echo, entropy, now, sent, delay, forms = zip(*events, strict=True)
    whole = (np.array(each, dtype=np.int32) for each in (echo, entropy))
    times = (np.array(each, dtype=np.float64) for each in (now, sent, delay))
    return _core.ways_chosen(law.compile_on_fabric(), ways, 7, base, *whole, *times, list(forms))


# --- numbered ways


def crossing(topology: FabricTopology, size: int, pairs: int | None = None) -> FabricFlows:
    here = np.arange(topology.hosts if pairs is None else pairs)
    return FabricFlows(
        here, (here + topology.hosts // 2) % topology.hosts, np.full(len(here), size), np.zeros(len(here))
    )


def run(policy: Policy | str, topology: FabricTopology, flows: FabricFlows, **changes: Any) -> FabricRecord:
    own = settings("uet-htsim", **{"queue_pairs": True, "feedback_per_packet": True} | changes)
    engine = FabricEngine(policy, settings=own) if isinstance(policy, str) else engine_of(policy, own)
    return engine.run(topology, flows, 1, 1e9)


def test_an_entropy_is_the_number_of_a_way() -> None:
    """Senders that go round their entropies send the same by every spine, and in a fat tree by every core."""
    for topology, ways in ((leaf_spine(4, 2, 4, 100, 100), 4), (fat_tree(4), 4), (three_tier(2, 2, 4, 8, 2), 8)):
        flows = crossing(topology, 4086 * 12 * ways)
        record = run("nscc", topology, flows, spraying="oblivious", entropies=ways, ways="numbered")
        top = topology.tier == topology.tier.max()
        by = record["port_data_packets"][np.isin(record["port_peer"], np.flatnonzero(top))]
        assert record["retransmitted_packets"] == 0 and len(set(by.tolist())) == 1, by


def test_what_is_known_of_ways_is_shared_by_leaf() -> None:
    """A flow to a host that was never sent to avoids the slow spine, if hosts know ways by the leaf."""
    topology, flows = slow(leaf_spine(2, 4, 4, 100, 100), spine=11), None
    first = FabricFlows(np.array([0]), np.array([4]), np.array([8_000_000]), np.array([0.0]))
    then = FabricFlows(np.array([0, 0]), np.array([4, 5]), np.array([8_000_000, 300_000]), np.array([0.0, 7e5]))
    by: dict[str, float] = {}
    for ways in ("numbered", "shared"):
        for name, flows in (("first", first), ("then", then)):
            record = run(PathLaw.of(NSCC, {"delay": 8.0, "memory": 8.0}), topology, flows, entropies=4, ways=ways)
            by[f"{ways} {name}"] = record["port_data_packets"][record["port_peer"] == 11].sum()
    alone = {ways: by[f"{ways} then"] - by[f"{ways} first"] for ways in ("numbered", "shared")}
    assert alone["shared"] < 0.75 * alone["numbered"], by


def slow(topology: FabricTopology, spine: int, toward: int | None = None) -> FabricTopology:
    """A spine whose links have a quarter of their rate; with `toward` the link down to that switch alone."""
    its = topology.b == spine if toward is None else (topology.a == toward) & (topology.b == spine)
    slower = np.where(its, topology.gbps / 4, topology.gbps)
    return replace(topology, gbps=slower) if toward is None else replace(topology, gbps_back=slower)


# --- what a law does


@pytest.mark.parametrize(
    ("name", "inputs"), [("csig-compact-abw", {"available_capacity": -2.0}), ("hpcc", {"link": 8.0})]
)
def test_a_header_shows_a_slow_link_that_switches_before_it_do_not_see(name: str, inputs: dict[str, float]) -> None:
    """By what is left of its links' rates, or used, a sender sends the least by the way whose second link is slow."""
    topology = slow(leaf_spine(2, 4, 4, 100, 100), spine=11, toward=9)
    flows = crossing(topology, 3_000_000, 4)
    plain = PathLaw.of(NSCC, dict.fromkeys(("mark", "loss", "delay", "silence"), 0.0))
    headed = WithHeader(replace(plain, inputs=inputs), stamping(named_header(name)))
    share = {}
    for of, policy in (("plain", plain), ("headed", headed)):
        record = run(policy, topology, flows, entropies=4, ways="shared")
        share[of] = record["port_data_packets"][record["port_peer"] == 11].sum() / 4 / math.ceil(3_000_000 / 4086)
        assert record["flow_delivered_bytes"].tolist() == flows.size_bytes.tolist()
    assert 0.24 < share["plain"] < 0.3 and share["headed"] < 0.15, share


def test_a_way_that_answers_nothing_is_left_soon() -> None:
    """A link that fails and that routing does not know of loses fewer packets where silence counts."""
    topology = leaf_spine(2, 4, 4, 100, 100)
    gone = LinkEvents((LinkChange(50_000.0, 8, 11, 0.0, 0),), 1e9)
    lost = {}
    for silence in (0.0, 4.0):
        law = PathLaw.of(NSCC, {"silence": silence, "loss": 2.0})
        record = run(law, replace(topology, events=gone), crossing(topology, 2_000_000, 4), entropies=4, ways="shared")
        lost[silence] = record["port_lost_packets"].sum()
    assert 0 < lost[4.0] < 0.6 * lost[0.0], lost


def test_a_header_has_its_bytes_in_every_packet_and_no_time_of_sending() -> None:
    topology = leaf_spine(2, 2, 2, 100, 100)
    flows = crossing(topology, 4086 * 100, 1)
    for header, more in ((None, 0), (ABW, 4)):
        law = (
            PathLaw.of(NSCC)
            if header is None
            else WithHeader(PathLaw.of(NSCC, {}, {"available_capacity": -1.0}), header)
        )
        record = run(law, topology, flows, entropies=2, ways="numbered")
        from_host = (record["port_node"] == 0) & (record["port_data_packets"] > 0)
        assert record["port_data_bytes"][from_host].sum() == 100 * (4086 + 64 + more)


@pytest.mark.parametrize("over", ["nscc", "rccc", "nscc+rccc", "ndp", "eqds"])
@pytest.mark.parametrize("ways", ["hashed", "numbered", "shared"])
def test_every_byte_arrives_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, over: str, ways: str) -> None:
    topology = slow(leaf_spine(4, 4, 4, 100, 100), spine=21)
    flows = crossing(topology, 400_000)
    policy = WithHeader(PathLaw.of(Transport(over), {}, {"available_capacity": -1.0}), ABW)
    engine = engine_of(policy, settings("uet-htsim", ways=ways, entropies=4, queue_pairs=True))
    once, again = engine.run(topology, flows, 1, 1e9), by_threads(monkeypatch, engine, topology, flows)
    np.testing.assert_array_equal(once["flow_delivered_bytes"], flows.size_bytes)
    for name in once:
        np.testing.assert_array_equal(once[name], again[name], err_msg=name)


def by_threads(
    monkeypatch: pytest.MonkeyPatch, engine: FabricEngine, topology: FabricTopology, flows: FabricFlows
) -> FabricRecord:
    """Run by three threads, even in windows that one would be through sooner."""
    alone = _core.run_fabric
    shared: dict[str, Any] = {"threads": 3, "least_packets": 0}
    monkeypatch.setattr(_core, "run_fabric", lambda *given, **named: alone(*given, **named | shared))
    return engine.run(topology, flows, 1, 1e9)


def test_pulled_packets_may_have_headers() -> None:
    """A long flow alone under NDP, whose credit counts packets, is as fast with a header as its bytes say."""
    topology = leaf_spine(2, 2, 2, 100, 100)
    flows = FabricFlows(np.array([0]), np.array([2]), np.array([20_000 * 4086]), np.array([0.0]))
    law = WithHeader(PathLaw.of(Transport("ndp"), {}, {"hop_delay": 0.1}), stamping(named_header("csig-wide-delay")))
    record = run(law, topology, flows, entropies=2)
    assert record["flow_fct_ns"][0] < 1.05 * record["flow_alone_ns"][0]


def test_numbers_of_ways_stay_as_a_link_fails() -> None:
    """Of four ways one goes by another's port: the others keep theirs."""
    topology = leaf_spine(2, 4, 4, 100, 100)
    gone = replace(topology, events=LinkEvents((LinkChange(0.0, 8, 11, 0.0, 0),), 0.0))
    record = run("nscc", gone, crossing(topology, 4086 * 40, 4), spraying="oblivious", entropies=4, ways="numbered")
    up = record["port_data_packets"][(record["port_node"] == 8) & (record["port_peer"] >= 10)]
    assert sorted((up[up > 0] / 40).round().tolist()) == [1, 1, 2]


# --- files and errors


def test_a_file_gives_it_back() -> None:
    law = PathLaw.of(Transport("nscc", {"gamma": 0.5}), {"mark": 3.0}, {"queue_time": 0.5, "load": 1.5})
    text = policyfile.dumps(policyfile.PolicyFile(law, header="hpcc"))
    assert policyfile.loads(text).policy == law
    assert policyfile.dumps(policyfile.loads(text)) == text


REFUSED: list[tuple[Any, str]] = [
    (lambda: PathLaw.of(Transport("dctcp")), "transport: dctcp does not spray by what it hears; nscc, rccc, "),
    (lambda: PathLaw.of(NSCC, {"marks": 1.0}), "terms: unknown name 'marks' (did you mean 'mark'"),
    (lambda: PathLaw.of(NSCC, {"mark": math.nan}), "terms.mark: must be between -64 and 64"),
    (lambda: PathLaw.of(NSCC, {}, {"load": "a"}), "inputs.load: must be a number"),
    (lambda: PathLaw(NSCC, (1.0, 2.0)), "terms: 7 are needed: mark, loss, "),
    (lambda: PathLaw.of(NSCC, {}, {"receiver_rank": 1.0}), "receiver_rank"),
    (lambda: engine_of(PathLaw.of(NSCC, {}, {"load": 1.0}), FabricSettings()), "has its signals by a header; name one"),
    (
        lambda: engine_of(PathLaw.of(NSCC), FabricSettings(adaptive=True)),
        "a law of ways does nothing where the scenario has adaptive",
    ),
    (
        lambda: engine_of(Mixture(PathLaw.of(NSCC), NSCC, 0.5), FabricSettings()),
        "mix: a law of ways mixes with nothing; leave mix: out",
    ),
    (lambda: compile_policy(PathLaw.of(NSCC)), "runs on a fabric only, which has several ways between hosts"),
]


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_what_cannot_be_is_one_error(made: Any, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")) as refused:
        compiled = made()
        if isinstance(compiled, FabricEngine):
            _ = compiled.telemetry_bytes
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("transport", "changes", "message"),
    [
        (PathLaw.of(NSCC), {"spraying": "flow"}, "a law of ways does nothing where the scenario has spraying: flow"),
        ("nscc", {"spraying": "flow", "ways": "numbered"}, "ways: only senders that spray number them"),
        ("dctcp", {"ways": "shared"}, "ways: only senders that spray number them"),
    ],
)
def test_ways_that_nobody_chooses_are_refused(transport: Any, changes: dict[str, Any], message: str) -> None:
    topology = leaf_spine(2, 2, 2, 100, 100)
    with pytest.raises(InputError, match=message):
        run(transport, topology, crossing(topology, 10_000), **changes)

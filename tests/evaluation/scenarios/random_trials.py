"""Random trials of both engines, one a case, that break no rule that holds for every network and every fabric.

`make sanitize` runs 1,000 of each on engines that the sanitizers watch. A fault ends it with their report; the last
line names the case, which runs alone with ``make sanitize ARGS="--engine fabrics --first CASE --cases 1"``. With
``make sanitize SANITIZE=thread ARGS="--engine fabrics --threads 3"`` threads share every trial, watched for races.
With ``--threads 1 2 3 7`` every trial is run by each of these numbers of threads, which must not change a bit.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError

if __name__ == "__main__":  # before anything imports the other one
    _parser = argparse.ArgumentParser()
    _parser.add_argument("--core", type=Path, required=True, help="the compiled module")
    _parser.add_argument("--cases", type=int, default=1000, help="of each engine that run")
    _parser.add_argument("--first", type=int, default=0)
    _parser.add_argument("--threads", type=int, nargs="+", default=[1], help="that share a trial of a fabric")
    _parser.add_argument("--engine", choices=("networks", "fabrics"), action="append")
    OPTIONS = _parser.parse_args()
    _spec = importlib.util.spec_from_file_location("lcca.remy_plus._core", OPTIONS.core)
    assert _spec is not None and _spec.loader is not None
    sys.modules["lcca.remy_plus._core"] = _core = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_core)
    import lcca.remy_plus

    lcca.remy_plus._core = _core  # type: ignore[attr-defined]

import lcca.remy_plus.fabric.engine
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import OF_HOSTS, OF_SELECTIVE_HOSTS, SIGNALS
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.explicit import Explicit
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.path_law import ENGINE, TERMS, PathLaw
from lcca.remy_plus.policies.policy import Mixture, Policy, WithHeader, with_header
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule
from lcca.remy_plus.record import Record
from lcca.remy_plus.switches.knobs import Knob
from lcca.remy_plus.switches.markers import MARKERS
from lcca.remy_plus.switches.transports import SCHEDULING, SPRAYING, TRANSPORTS, WAYS, Transport
from lcca.remy_plus.topology import KINDS, Topology
from lcca.remy_plus.workload import FlowSizes, OpenFlows
from lcca.signal_sets.headers.header import header, packaged_headers
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.load import resolve

POLICIES = Path(__file__).parents[3] / "configs" / "policies"
FILES = tuple(sorted(map(str, POLICIES.glob("*.json"))))
SLACK = 1 + 1e-9
MOST_US = 20_000.0
"""Of a case on a network, of all senders and trials together: tables pace at 500 packets/µs at most."""

MOST_FRAMES = 3e6
"""Of a case on a fabric, and how often timers ring at most: so no case takes much longer than the others together."""

T = TypeVar("T")


class Draws:
    """The random choices of a case: a stream of its own, counted from its number."""

    def __init__(self, engine: int, case: int) -> None:
        self.random = np.random.Generator(np.random.Philox(key=[engine, case]))

    def of(self, *choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def whole(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def number(self, low: float, high: float) -> float:
        """As often small as large."""
        return float(np.exp(self.random.uniform(math.log(low), math.log(high))))

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)


def accepted(drawn: Callable[[Draws], T], draws: Draws) -> T:
    """The first draw that is not refused: many are, since what is drawn need not go together."""
    for _ in range(200):
        try:
            return drawn(draws)
        except (InputError, ValidationError):
            pass
    raise AssertionError("nothing is accepted")


# Networks


def drawn_network(draws: Draws) -> Network:
    rate, rtt = draws.number(0.05, 20), draws.of(0.0, draws.number(0.1, 300), draws.number(1, 100))
    if draws.chance(0.15):
        sizes = FlowSizes("drawn", (1.0, draws.number(1, 20), 200.0), (0.0, 0.5, 1.0))
        flows = OpenFlows(draws.number(0.05, 0.95), sizes)
        return Network(draws.whole(0, 9), rate, rtt, 1, math.inf, 1.0, 0.0, 0.0, open_flows=flows)
    kind = draws.of(*KINDS)
    options = {
        "hosts_per_router": draws.whole(1, 4),
        "reverse_senders": draws.whole(1, 4),
        "one_way": draws.chance(0.5),
        "stamping": draws.of(1.0, 0.0, draws.number(0.1, 1)) if kind != "dumbbell" else 1.0,
    }
    switched = draws.of("time", "bytes")
    return Network(
        draws.whole(0, 9),
        rate,
        rtt,
        senders=draws.of(1, 2, draws.whole(1, 12)),
        buffer=draws.of(0, 1, math.inf, draws.whole(2, 300)),
        mean_on=draws.number(0.5, 2000),
        mean_off=draws.of(0.0, draws.number(0.5, 1000)) if switched == "time" else draws.number(0.5, 1000),
        loss=draws.of(0.0, 0.01, draws.number(1e-4, 0.99)),
        switched=switched,
        topology=Topology(kind, **options),
    )


def drawn_table(draws: Draws) -> RuleTable:
    names = draws.random.permutation(list(SIGNALS))[: draws.whole(1, 5)]
    table = one_rule(tuple(map(str, names)), draws.of("relative", "absolute"))
    for _ in range(draws.whole(0, 5)):
        rule = draws.whole(0, len(table) - 1)
        low, high = table.lower[rule], np.minimum(table.upper[rule], table.lower[rule] + draws.number(0.01, 100))
        table = bisect(table, rule, draws.random.uniform(low, high))
    for i in range(len(table)):
        table = table.with_action(i, draws.whole(-10, 256), draws.number(0.01, 1), draws.number(0.002, 3))
    return table


def drawn_policy(draws: Draws) -> Policy:
    name = draws.of(
        f"fixed-window:{draws.whole(1, 500)}",
        f"fixed-rate:{draws.number(0.01, 5):.3g}",
        "aimd",
        "fair-rate",
        "rcp",
        "xcp",
        *FILES,
        *["table"] * 5,
    )
    policy = drawn_table(draws) if name == "table" else load(name).policy
    if draws.chance(0.4):
        chosen = draws.of(*packaged_headers())
        policy = with_header(policy, stamping(header(chosen), charged=draws.chance(0.5)))
    return policy


def network_case(case: int) -> str:
    """Run a case and return what became of it; a rule that is broken is an assertion."""
    draws = Draws(1, case)
    network, policy = drawn_network(draws), accepted(drawn_policy, draws)
    if draws.chance(0.25):
        policy = Mixture(policy, accepted(drawn_policy, draws), draws.of(0.5, draws.number(0.05, 1)))
    if network.topology.stamping < 1 and any(isinstance(each, Explicit) for each in parts_of(policy)):
        return "refused"  # hops that say nothing bound neither rate nor window
    try:
        model = Model(draws.number(0.5, 100), draws.chance(0.3), draws.of(0.0, 0.1, 1.0), draws.of(0.0, 5.0))
        seeds = [draws.whole(0, 2**62) for _ in range(draws.whole(1, 3))]
        most_us = MOST_US / network.topology.senders(network.senders) / len(seeds)
        engine = Engine(min(draws.number(5, 3000), most_us), model, jobs=draws.whole(1, 3))
        keep = {f"keep_{each}": draws.chance(0.5) for each in ("delays", "rule_hits", "links")}
        listed, zeros, compiled = NetworkList([network]), [0] * len(seeds), [engine.compile(policy)]
        record = engine.run(compiled, listed, zeros, zeros, seeds, keep_flows=True, **keep)
    except InputError:
        return "refused"
    check_record(record, network, engine.duration)
    if isinstance(policy, RuleTable) and draws.chance(0.3):
        engine.cuts(compiled[0], listed, zeros, seeds, draws.whole(0, len(policy) - 1), policy.signals)
    if draws.chance(0.2):
        again = Engine(engine.duration, model, jobs=4).run(
            compiled, listed, zeros, zeros, seeds, keep_flows=True, **keep
        )
        for name in record.columns:
            if name != "rule_hits":
                assert record[name].tobytes() == again[name].tobytes(), f"{name} depends on the threads"
    return "ran"


def parts_of(policy: Policy) -> list[Policy]:
    """The policies of a mixture, without their headers."""
    parts = policy.parts if isinstance(policy, Mixture) else (policy,)
    return [each.policy if isinstance(each, WithHeader) else each for each in parts]


def check_record(record: Record, network: Network, duration: float) -> None:
    """Check that no packet is made or lost uncounted, none is faster than light, and no queue above its buffer."""
    for part in ("sender", "flow"):
        counts = {name: record[f"{part}_{name}"] for name in ("sent", "delivered", "lost", "dropped", "acks_dropped")}
        assert all((each >= 0).all() for each in counts.values())
        assert (counts["sent"] >= counts["delivered"] + counts["lost"] + counts["dropped"]).all()
        if network.topology.plain:  # elsewhere delays are those of packets whose acknowledgements came back
            delay, least = record.floats(f"{part}_delay_sum_us"), network.rtt + 1 / network.link_rate
            assert (delay * SLACK >= counts["delivered"] * least).all()
    assert (record["trial_sent"] >= record["trial_delivered"]).all()
    assert (record.floats("trial_utilisation") <= SLACK).all()
    assert (record.floats("trial_queue_mean_packets") <= (network.buffer + 1) * SLACK).all()
    if network.topology.plain:
        if network.open_flows is None:  # which are waited for beyond the duration
            assert (record["trial_delivered"] <= duration * network.link_rate + 1).all()
        assert record["sender_sent"].sum() == record["flow_sent"].sum() == record["trial_sent"].sum()


# Fabrics


def drawn_topology(draws: Draws) -> dict[str, Any]:
    gbps, delay = draws.number(1, 400), draws.number(1, 20_000)
    other = draws.of(gbps, draws.number(1, 400))
    return draws.of(
        {"kind": "star", "hosts": draws.whole(2, 9), "gbps": gbps, "delay_ns": delay},
        {"kind": "dumbbell", "pairs": draws.whole(1, 5), "bottleneck_gbps": other, "host_gbps": gbps},
        {
            "kind": "leaf-spine",
            "tors": draws.whole(1, 4),
            "hosts_per_tor": draws.whole(1, 4),
            "spines": draws.whole(1, 3),
            "host_gbps": gbps,
            "uplink_gbps": other,
            "host_delay_ns": delay,
        },
        {"kind": "fat-tree", "k": draws.of(2, 4), "host_gbps": gbps, "fabric_gbps": other, "delay_ns": delay},
    )


def drawn_part(draws: Draws, priorities: int) -> dict[str, Any]:
    size = draws.of(1, draws.whole(1, 5000), draws.whole(1, 300_000))
    start = draws.of(0, draws.number(0.01, 20))
    sizes = draws.of("websearch", "fb-hadoop", f"uniform:{draws.whole(1, 100)}:{draws.whole(101, 90_000)}")
    part = draws.of(
        {"kind": "permutation", "bytes": size, "start_us": start},
        {"kind": "incast", "senders": draws.whole(1, 6), "bytes": size, "period_us": draws.number(5, 50)},
        {"kind": "poisson", "sizes": sizes, "load": draws.number(0.01, 0.9), "load_of": "host-links"},
        {
            "kind": "all-to-all",
            "bytes": size,
            "off_us": draws.of(0, draws.number(0.1, 20)),
            "start_us": start,
            "rounds": draws.whole(1, 4),
            "loop": draws.of("closed", "open"),
        },
        drawn_job(draws, size, start),
    )
    return part | {"priority": draws.whole(0, priorities - 1)}


def drawn_job(draws: Draws, size: int, start_us: float) -> dict[str, Any]:
    ring = {"channels": draws.whole(1, 3), "pieces": draws.whole(1, 4), "slots": draws.of(None, draws.whole(1, 3))}
    tokens = {"tokens": draws.whole(1, 40), "top": 1, "out_bytes": draws.whole(1, 2000), "back_bytes": 500}
    operations = [
        {"kind": "all-reduce", "bytes": size, **ring},
        {"kind": "all-reduce", "bytes": size, "algorithm": "double-tree", "pieces": draws.whole(1, 3)},
        {"kind": draws.of("reduce-scatter", "all-gather"), "bytes": size, **ring},
        {
            "kind": "all-to-all",
            "bytes": size,
            "order": draws.of("staggered", "triangular"),
            "window": draws.of(None, 1, 2),
        },
        {"kind": "experts", **tokens, "skew": draws.number(0.1, 2), "expert_us": draws.of(0, draws.number(0.1, 20))},
        {"kind": "pipeline", "bytes": size, "microbatches": draws.whole(1, 3), "forward_us": 1, "backward_us": 2},
    ]
    every = {"compute_us": draws.of(0, draws.number(0.1, 20)), "barrier": draws.chance(0.3)}
    return {
        "kind": "job",
        "ranks": draws.of(None, draws.whole(2, 6)),
        "placement": draws.of("packed", "stride", "random"),
        "operations": [draws.of(*operations) | every for _ in range(draws.whole(1, 2))],
        "iterations": draws.whole(1, 2),
        "stragglers": draws.of(None, {"share": draws.number(0.1, 1), "factor": draws.number(1, 5)}),
        "start_us": start_us,
    }


def drawn_scenario(draws: Draws) -> FabricScenario:
    priorities = draws.of(1, 1, draws.whole(1, 8))
    parts = [drawn_part(draws, priorities) for _ in range(draws.of(1, 1, 2, 3))]
    marker = draws.of(None, *MARKERS)
    switch = {
        "buffer_bytes": draws.number(3e3, 4e7),
        "pfc": draws.chance(0.5),
        "alpha": draws.number(0.01, 16),
        "headroom_delays": draws.of(0, 3, draws.number(0.1, 10)),
        "priorities": priorities,
        "ack_priority": draws.of(None, draws.whole(0, priorities - 1)),
        "marker": marker and {"kind": marker} | drawn_knobs(draws, MARKERS[marker].knobs),
        "mark_at": draws.of("dequeue", "dequeue", "enqueue"),
    }
    if draws.chance(0.3):
        switch = {key: switch[key] for key in ("priorities", "ack_priority", "marker", "mark_at")}
        switch |= {"queue_bdps": draws.number(0.05, 5), "trim_bytes": draws.of(64, 0, draws.whole(20, 200))}
    ways: dict[str, Any] = {}
    if draws.chance(0.3):
        ways = {"spraying": draws.of(*SPRAYING[1:]), "entropies": draws.of(1, 2, 64, 256)}
        ways |= {"adaptive": draws.chance(0.3), "sleek": draws.chance(0.3)}
        ways |= {} if ways["adaptive"] else {"ways": draws.of("hashed", *WAYS)}
    content = {
        "name": "drawn",
        "preset": draws.of("default", "default", "hpcc-ns3"),
        "topology": drawn_topology(draws),
        "workload": parts[0] if len(parts) == 1 else {"kind": "mix", "parts": parts},
        "duration_us": draws.number(1, 60),
        "drain_us": draws.of(0, 5000, draws.number(1, 20_000)),
        "payload_bytes": draws.of(1000, draws.whole(1, 1300), draws.whole(200, 1300)),
        "overhead_bytes": draws.whole(0, 100),
        "switch": switch,
        **ways,
        "queue_pairs": draws.chance(0.3),
        "feedback_per_packet": draws.chance(0.3),
    }
    if ways and draws.chance(0.4):
        content["granted"] = True
    if content["preset"] == "default" and draws.chance(0.5):
        timers = {f"{timer}_rtts": draws.number(1, 200) for timer in ("retransmit", "nack_gap") if draws.chance(0.3)}
        content["hosts"] = {"scheduling": draws.of(*SCHEDULING)} | timers
    if draws.chance(0.2):
        content["stamping"] = {"switches": draws.of("tor", "spine", "random"), "share": draws.number(0.1, 1)}
    plain = FabricScenario.model_validate(content)
    return with_events(plain, content, draws) if draws.chance(0.3) else plain


def with_events(plain: FabricScenario, content: dict[str, Any], draws: Draws) -> FabricScenario:
    """The scenario in which links fail and slow down; no link is faster than it was, and so no flow than alone."""
    fabric, duration = plain.fabric, plain.duration_us or 0.0
    events: list[dict[str, Any]] = []
    for _ in range(draws.of(1, 1, draws.whole(1, 4))):
        link = draws.whole(0, len(fabric.a) - 1)
        slow = {"gbps": float(fabric.gbps[link]) * draws.number(0.01, 1)}
        where: dict[str, Any] = {"link": [int(fabric.a[link]), int(fabric.b[link])]} | draws.of(slow, {"down": True})
        if draws.chance(0.3):
            where = {"switch": draws.whole(fabric.hosts, fabric.nodes - 1)}
        lasts = draws.of({}, {"for_us": draws.number(0.01, 2 * duration)})
        if lasts and draws.chance(0.3):
            lasts |= {"times": draws.whole(2, 5), "every_us": lasts["for_us"] * draws.number(1.01, 4)}
        events.append(where | lasts | {"at_us": duration * draws.number(0.001, 0.999)})
    more = {"events": events, "convergence_us": draws.of(0, draws.number(0.1, 100))}
    return FabricScenario.model_validate(content | more)


def drawn_knobs(draws: Draws, knobs: Any) -> dict[str, float]:
    """Some parameters, of any size that they may have."""
    return {name: _value(draws, knob) for name, knob in knobs.items() if draws.chance(0.25)}


def _value(draws: Draws, knob: Knob) -> float:
    limits = knob.limits
    value = draws.of(0.0, (knob.default or 1.0) * draws.number(0.05, 20))
    if limits is not None:
        value = min(max(value, limits.low), limits.high)
        value = round(value) if limits.whole else value
    return float(f"{value:.4g}")


def drawn_transport(draws: Draws) -> tuple[str, Policy]:
    if draws.chance(0.15):
        name = str(draws.of(*FILES))
        return name, resolve(name, "fabric").policy
    name = str(draws.of(*(name for name, kind in TRANSPORTS.items() if not kind.ideal)))
    knobs = ",".join(f"{key}={value}" for key, value in drawn_knobs(draws, TRANSPORTS[name].knobs).items())
    tuner = (
        draws.of("", "", "@default", "@expert", "@dcqcn-plus", "@paraleon:interval_us=20") if name == "dcqcn" else ""
    )
    name += (f":{knobs}" if knobs else "") + tuner
    return name, resolve(name, "fabric").policy


def drawn_law(scenario: FabricScenario, draws: Draws) -> Policy:
    """A law that looks at what the scenario's hosts know, and perhaps at hops or a header."""
    unknown = () if scenario.granted else OF_SELECTIVE_HOSTS
    names = [name for name in OF_HOSTS if name not in unknown]
    number = draws.random.uniform
    terms = {name: number(-4, 4) for name in ("first", "largest", "ahead", "pace", "loss")}
    inputs = {name: tuple(number(-2, 2, 3)) for name in draws.of(names, [*names, "queue"])}
    law = FabricLaw.of(terms, {"one": number(-1, 1), "window": -0.1, "delay": -0.5}, inputs)
    carried = draws.of(None, None, "fair-share", "int-md")
    return with_header(law, carried and stamping(header(carried)))


def drawn_path_law(scenario: FabricScenario, draws: Draws) -> Policy:
    """A law that chooses ways, perhaps with a header."""
    spraying = [name for name, kind in TRANSPORTS.items() if kind.engine == ENGINE]
    over = Transport(str(draws.of(*spraying)))
    terms = {name: float(draws.random.uniform(-8, 8)) for name in TERMS}
    carried, signal = draws.of((None, None), ("csig-compact-abw", "available_capacity"), ("fullest", "queue"))
    law = PathLaw.of(over, terms, {signal: float(draws.random.uniform(-8, 8))} if signal else {})
    return with_header(law, carried and stamping(header(carried)))


def uneven(flows: FabricFlows, horizon_ns: float, draws: Draws) -> FabricFlows:
    """Flows with silences and late starts, beyond the horizon too, and only some hosts that send.

    Scenarios can have none that begin beyond the horizon. Rounds keep their flows.
    """
    if flows.waits or not len(flows) or draws.chance(0.5):
        return flows
    one_sided = flows.src <= draws.whole(0, int(flows.src.max()))
    kept = one_sided if draws.chance(0.5) and one_sided.any() else np.ones(len(flows), dtype=bool)
    start = flows.start_ns[kept]
    for _ in range(draws.of(0, 1, 1, draws.whole(1, 3))):
        start[draws.whole(0, len(start) - 1) :] += draws.of(horizon_ns, draws.number(100, 2 * horizon_ns))
    src, dst, size, priority = (each[kept] for each in (flows.src, flows.dst, flows.size_bytes, flows.priority))
    return FabricFlows(src, dst, size, start, priority=priority)


@contextmanager
def shared(threads: int) -> Iterator[None]:
    """Meanwhile, trials of fabrics are shared by so many threads, even in windows that one would be through sooner."""
    core = lcca.remy_plus.fabric.engine._core
    alone = core.run_fabric
    core.run_fabric = lambda *given, **named: alone(*given, **named | {"threads": threads, "least_packets": 0})
    try:
        yield
    finally:
        core.run_fabric = alone


def fabric_case(case: int, threads: Sequence[int] = (1,)) -> str:
    """Run a case and return what became of it; a rule that is broken is an assertion.

    Args:
        case: its number.
        threads: that share the trial; with several numbers it is run by each, and otherwise now and then by another.
    """
    draws = Draws(2, case)
    scenario, (name, policy) = accepted(drawn_scenario, draws), accepted(drawn_transport, draws)
    if draws.chance(0.7 if scenario.granted else 0.2):
        policy = accepted(functools.partial(drawn_law, scenario), draws)
    if draws.chance(0.1):
        policy = accepted(functools.partial(drawn_path_law, scenario), draws)
    if draws.chance(0.25):
        policy = beside_another(policy, scenario, draws)
    try:
        engines = {name: engine_of(policy, scenario.settings())}
        seed = draws.whole(0, 2**50)
        flows = scenario.flows(seed)
        flows = uneven(flows, scenario.horizon_ns(flows), draws)
        if too_long(scenario, policy, flows):
            return "refused"
        vars(scenario)["flows"] = lambda _seed: flows
        with shared(threads[0]):
            (trial,) = run_fabric_trials(scenario, engines, [seed])
    except InputError:
        return "refused"
    check_trial(trial, scenario, sprays(policy))
    others = threads[1:] or [draws.of(2, 3, 8) if threads[0] == 1 else 1] * draws.chance(0.3)
    for count in others:
        with shared(count):
            (again,) = run_fabric_trials(scenario, engines, [seed])
        for key, value in trial.record.items():
            assert np.asarray(value).tobytes() == np.asarray(again.record[key]).tobytes(), (key, count)
    return "ran"


def too_long(scenario: FabricScenario, policy: Policy, flows: FabricFlows) -> bool:
    """Whether hosts may send more frames or grants, or timers of flows ring more often, than a case is to take."""
    end_us = scenario.horizon_ns(flows) / 1000
    most_bytes = 125 * end_us * scenario.fabric.host_gbps.sum()
    knobs = [each.parameters for each in parts_of(policy) if isinstance(each, Transport)]
    periods_us = [value for each in knobs for name, value in each.items() if name.endswith("_us") and value > 0]
    rings = len(flows) * end_us / min(periods_us, default=math.inf)
    quanta = [each["quantum_bytes"] for each in knobs if "quantum_bytes" in each]
    grants = min(most_bytes, flows.size_bytes.sum()) / min(quanta, default=math.inf)
    return max(most_bytes / (scenario.payload_bytes + scenario.overhead_bytes), rings, grants) > MOST_FRAMES


def beside_another(policy: Policy, scenario: FabricScenario, draws: Draws) -> Policy:
    """A mixture with another transport; the policy itself where they do not go together."""
    try:
        mixture = Mixture(policy, accepted(drawn_transport, draws)[1], draws.of(0.5, draws.number(0.05, 1)))
        engine_of(mixture, scenario.settings())
    except InputError:
        return policy
    return mixture


def sprays(policy: Policy) -> bool:
    """Whether packets of a flow take ways of their own: a short last one may overtake the others."""
    policy = policy.policy if isinstance(policy, WithHeader) else policy
    if isinstance(policy, PathLaw):
        return True
    return isinstance(policy, Transport) and TRANSPORTS[policy.name].settings.get("spraying", 0) > 0


def check_trial(trial: FabricTrial, scenario: FabricScenario, sprayed: bool = False) -> None:
    """Check that no flow is faster than it can be, none gets more than it has, and no queue is above its buffer."""
    record, size = trial.record, trial.flows.size_bytes
    fct, ideal = record["flow_fct_ns"], record["flow_ideal_ns"]
    done = np.isfinite(fct)
    assert (fct[done] > 0).all() and (ideal > 0).all()
    if sprayed or scenario.adaptive or scenario.spraying not in (None, "flow"):
        assert (fct[done] * SLACK >= size[done] * 8 / scenario.fabric.host_gbps[trial.flows.src[done]]).all()
    elif not scenario.settings().plain_ideal:
        assert (fct[done] * SLACK >= ideal[done]).all(), (fct[done] / ideal[done]).min()
    assert (record["flow_delivered_bytes"] <= size).all() and (record["flow_delivered_bytes"][done] == size[done]).all()
    switches, switch = record["port_node"] >= trial.hosts, scenario.switch
    shared = switch.queue_bdps is None
    if (
        shared and switch.pfc and switch.headroom_delays >= 3 and not scenario.events
    ):  # pauses are lost with their links
        assert record["port_drops"].sum() == 0
    queued = record["port_most_queued_bytes"][switches]
    if shared and not switch.pfc:
        assert (queued <= switch.buffer_bytes * SLACK).all(), queued.max() / switch.buffer_bytes
    assert (record["port_mean_queued_bytes"] <= record["port_most_queued_bytes"] * SLACK).all()
    assert (record["port_marked_packets"] <= record["port_data_packets"]).all()
    if scenario.events:
        check_events(trial, scenario)
    check_waiting(trial, scenario)


def check_waiting(trial: FabricTrial, scenario: FabricScenario) -> None:
    """Check that no flow begins before all that it waits for has happened, by when this is known."""
    flows, begin = trial.flows, trial.record["flow_start_ns"]
    end = begin + trial.record["flow_fct_ns"]
    at_ack = scenario.settings().fct_at_ack
    for row in np.flatnonzero((flows.after >= 0) & ~np.isnan(begin)).tolist():
        awaited = flows.sets[flows.after[row]]
        for each, moment in zip(awaited.flows.tolist(), awaited.moments(), strict=True):
            known = moment == "ended" or moment == ("acknowledged" if at_ack else "received")
            least = end[each] if known else begin[each]
            assert begin[row] >= least + flows.off_ns[row] - 1e-3, (row, each, moment)


def check_events(trial: FabricTrial, scenario: FabricScenario) -> None:
    """Check that what is lost is counted once and was sent, and that recoveries lie within the trial."""
    record = trial.record
    lost, took, end = record["event_lost_packets"], record["event_recovery_ns"], record["end_ns"]
    begins = sorted(1000 * each.at_us for each in scenario.events)
    assert np.abs(record["event_ns"] - begins).max() < 1e-3
    assert record["port_lost_packets"].sum() == lost.sum()
    sent = record["port_data_packets"][record["port_node"] < trial.hosts].sum()
    assert lost.sum() + np.ceil(record["flow_delivered_bytes"] / scenario.payload_bytes).sum() <= sent
    begun = ~np.isnan(took)
    assert (record["event_ns"][begun] <= end * SLACK).all()
    assert (took[begun] >= 0).all() and (lost[~begun] == 0).all()
    finite = np.isfinite(took)
    assert (record["event_ns"] + took)[finite].max(initial=0.0) <= end * SLACK
    if np.isfinite(record["flow_fct_ns"]).all():
        assert not np.isinf(took).any()


CASES: dict[str, Callable[[int], str]] = {"networks": network_case, "fabrics": fabric_case}

if __name__ == "__main__":
    CASES["fabrics"] = functools.partial(fabric_case, threads=OPTIONS.threads)
    for _engine in OPTIONS.engine or CASES:
        _found: Counter[str] = Counter()
        _case = OPTIONS.first
        while _found.total() - _found["refused"] < OPTIONS.cases:
            print(f"\r{_engine}: case {_case} ", end="", file=sys.stderr, flush=True)
            _found[CASES[_engine](_case)] += 1
            _case += 1
        print(f"\r{_engine}: {dict(_found)}")

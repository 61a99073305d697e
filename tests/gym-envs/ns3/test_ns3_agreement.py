"""Learnt policies score alike in ns-3 and in the fast engine, on the paper's default networks."""

from dataclasses import replace
from pathlib import Path

import pytest

from lcca.evaluation.comparison.agreement import agreements, order_flips
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.hand_designed import is_baseline
from lcca.remy_plus.topology import Topology

CONFIGS = Path(__file__).parents[3] / "configs"


def both(names, networks, topology="dumbbell"):
    """Run policies on networks of the default space in both simulators; signals cost no bytes, as in the engine."""
    space = read_config(CONFIGS / "networks" / "default.yaml", NetworkSpace)
    drawn = [replace(n, topology=Topology(topology)) for n in space.draw(77, networks)]
    where = {name: name if is_baseline(name) else CONFIGS / "policies" / f"{name}.json" for name in names}
    policies = {name: policyfile.load(found).policy for name, found in where.items()}
    simulators = Engine(space.duration, jobs=1), Ns3(space.duration, jobs=2, options=Ns3Options(header_bytes=0))
    return [run_trials(s, policies, drawn, [1], utility("default"), keep_delays=False) for s in simulators]


@pytest.mark.usefixtures("ns3")
@pytest.mark.parametrize("topology", ["dumbbell", "line"])
def test_scores_are_close_on_a_network(topology):
    fast, real = both(["link+queue"], 1, topology)
    assert (real["status"] == "ok").all()
    rows = {r.metric: r for r in agreements(fast, real, topology)}
    assert abs(rows["score_bits"].without_starved) < 0.05
    assert abs(rows["throughput_share"].difference) < 3
    assert abs(rows["delay_us"].difference) < 3


@pytest.mark.slow
@pytest.mark.usefixtures("ns3")
def test_explicit_rates_score_alike():
    names = ["rcp", "xcp", "fair-rate"]
    rows = [r for r in agreements(*both(names, 1), "dumbbell") if r.metric == "score_bits"]
    assert [r.policy for r in rows] == names
    assert max(abs(r.difference) for r in rows) < 0.05


@pytest.mark.full
@pytest.mark.usefixtures("ns3")
def test_mean_scores_agree_within_a_twentieth_of_a_bit():
    names = ["e2e", "link", "queue", "link+queue", "vegas-like"]
    fast, real = both(names, 96)
    assert max(r.starved for r in agreements(fast, real, "dumbbell")) <= 1  # of 96: the engine sends nothing again
    alike = (fast["starved"] > 0) == (real["starved"] > 0)
    found = [r for r in agreements(fast[alike], real[alike], "dumbbell") if r.metric == "score_bits"]
    assert [r.policy for r in found] == names
    assert {r.verdict for r in found} == {"agree within 0.05 bits"}
    assert not [flip for flip in order_flips(fast[alike], real[alike]) if flip.matters]

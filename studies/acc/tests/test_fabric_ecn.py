"""`lcca/FabricEcn-v0`: ports mark as told, intervals add up to the record, and runs end with their episodes."""

import gc
import multiprocessing
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")

from lcca.gym_envs.fabric.fabrics import SmallFabric
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.policies.layers import Layer
from lcca.remy_plus.tuners.registry import tuning
from lcca.studies.acc.marking.fabric_env import FabricEcnEnv, queue_worth
from lcca.studies.acc.marking.model import AccModel, content_of_layers
from lcca.studies.acc.marking.ports import LONGEST_BYTES, Agents, Interval, Ports, Templates

SMALL = SmallFabric(60, 200.0)
FEW = Templates(kmin_bytes=(5e3, 20e3), kmax_bytes=(40e3, 100e3), pmax=(0.1, 1.0))


class OneSwitch(SmallFabric):
    """All packets cross one port of a switch, so that nobody else has marked them."""

    fabric = star(8)


def play(env: FabricEcnEnv, action: Any, seed: int = 3) -> list[Any]:
    env.reset(options={"trial_seed": seed})
    steps, over = [], False
    while not over:
        steps.append(env.step(action))
        over = steps[-1][3]
    return steps


def runs() -> int:
    return sum(thread.name == "fabric run" for thread in threading.enumerate())


@pytest.mark.parametrize("template", range(8))
def test_one_template_is_the_static_marker(template: int) -> None:
    env = FabricEcnEnv(SMALL, templates=FEW)
    play(env, np.full(len(env.ports), template))
    engine = FabricEngine("dcqcn", settings=settings(marker=FEW.markers[template]))
    record = engine.run(SMALL.fabric, SMALL.flows(3), 3, SMALL.end_ns)
    assert env.record is not None and record["port_marked_packets"].sum() > 0
    for name, values in record.items():
        np.testing.assert_array_equal(values, env.record[name], err_msg=name)


@pytest.mark.parametrize("delay_us", [0.0, 15.0])
def test_the_tuner_acts_as_in_the_environment(delay_us: float) -> None:
    """A network that chooses in the environment, and the same one as the engine's tuner, give the same record."""
    draws = np.random.default_rng(5)
    layer = Layer(draws.normal(size=(8, 12)), draws.normal(size=8))
    model = AccModel(
        interval_us=20, delay_us=delay_us, history=2, heads="joint", templates=FEW, layers=content_of_layers([layer])
    )
    env = FabricEcnEnv(SMALL, interval_us=20.0, delay_us=delay_us, history=2, templates=FEW)
    env.reset(options={"trial_seed": 3})
    over, chosen = False, set()
    while not over:
        actions = model.best(env.view)
        chosen |= set(actions.tolist())
        over = env.step(actions)[3]
    record = FabricEngine("dcqcn", tuner=tuning("acc", model)).run(SMALL.fabric, SMALL.flows(3), 3, SMALL.end_ns)
    assert env.record is not None and len(chosen) > 2
    for name, values in record.items():
        np.testing.assert_array_equal(values, env.record[name], err_msg=name)


def test_a_port_of_its_own_is_set_alone() -> None:
    """Templates that never mark but at one port: its marks are the only ones."""
    templates = Templates(kmin_bytes=(0.0,), kmax_bytes=(0.0, 1e9), pmax=(0.0,))
    env = FabricEcnEnv(OneSwitch(60, 200.0), templates=templates)
    action = np.ones(len(env.ports))
    action[5] = 0
    play(env, action)
    assert env.record is not None
    marked = np.flatnonzero(env.record["port_marked_packets"])
    assert marked.tolist() == [env.ports.number[5]]
    single = FabricEcnEnv(OneSwitch(), ports=[(8, 5)])
    assert single.ports.number.tolist() == marked.tolist()


def test_intervals_add_up_to_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    env, seen = FabricEcnEnv(SMALL, interval_us=30.0, templates=FEW), list[Interval]()
    rewards = env.rewards
    monkeypatch.setattr(env, "rewards", lambda interval: seen.append(interval) or rewards(interval))
    infos = [step[4] for step in play(env, np.zeros(len(env.ports)))]
    over_ns = np.diff([0, *(1000 * info["now_us"] for info in infos)])[:, None]
    assert env.record is not None and len(infos) == 7
    own, bits = env.record, env.ports.gbps / 8
    for name, values in (("data_bytes", "rate"), ("mean_queued_bytes", "queued_bytes")):
        total = sum(getattr(each, values) * over for each, over in zip(seen, over_ns, strict=True))
        wanted = own[f"port_{name}"][env.ports.number]
        np.testing.assert_allclose(total * bits if values == "rate" else total / own["end_ns"], wanted, rtol=1e-9)
    marked = sum(each.marked * over for each, over in zip(seen, over_ns, strict=True)) * bits
    np.testing.assert_allclose(marked, 1048 * own["port_marked_packets"][env.ports.number], rtol=0.05, atol=1048)
    assert all(len(info["rewards"]) == len(env.ports) for info in infos)


def test_the_worth_of_queues() -> None:
    queues = np.array([0, 32, 32.001, 64, 64.001, 16384, 16384.001, 1e9]) * 1024
    worth = queue_worth(queues, 32 * 2**20)
    np.testing.assert_allclose(worth, [1, 1, 0.9, 0.9, 0.8, 0.1, 0, 0])


def test_the_reward_has_both_parts() -> None:
    env = FabricEcnEnv(SMALL, throughput=0.3)
    count = len(env.ports)
    interval = Interval(np.full(count, 40e3), np.full(count, 0.5), np.zeros(count))
    np.testing.assert_allclose(env.rewards(interval), 0.3 * 0.5 + 0.7 * 0.9)
    step = play(env, np.zeros(count))[0]
    assert step[1] == pytest.approx(np.mean(step[4]["rewards"]))


def test_views_are_shares_of_the_link_and_in_proportion_to_its_rate() -> None:
    """The same delay at a tenth of the rate looks the same; what came last stands first."""
    views = []
    for gbps in (10.0, 100.0):
        ports = Ports.of(star(2, gbps))
        agents = Agents(ports, FEW, 2)
        agents.choose(np.array([7, 0]))
        counts = [np.array([0, 0, gbps * 1e4 / 8, 0]), np.array([0, 0, 20, 0]), np.array([0, 0, 5, 0])]
        agents.see(ports.counted(2e4, *counts, np.array([0, 0, LONGEST_BYTES * gbps / 100, 0])))
        views.append(agents.view)
    np.testing.assert_allclose(views[0], views[1])
    np.testing.assert_allclose(views[0][0], [1, 0.5, 0.125, 1, 1, 1, 0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(views[0][1, :6], [0, 0, 0, 0.25, 0.4, 0.1])


def test_ports_are_numbered_as_in_the_record() -> None:
    topology = leaf_spine(2, 4, 2, uplink_gbps=400)
    record = FabricEngine("dcqcn").run(topology, SMALL.flows(1), horizon_ns=1000)
    ports = Ports.of(topology)
    node, peer = (record[f"port_{name}"][ports.number] for name in ("node", "peer"))
    assert (node >= 8).all() and len(ports) == 16
    np.testing.assert_array_equal(ports.gbps, np.where(peer < 8, 100, 400))
    for bad, words in ((((0, 8),), "from node 0 to 8"), (((8, 0), (8, 0)), "named twice"), (((8, 9),), "no port")):
        with pytest.raises(InputError, match=f"ports: .*{words}"):
            Ports.of(topology, bad)


def test_episodes_of_several_environments_do_not_touch() -> None:
    envs = [FabricEcnEnv(SMALL, templates=FEW) for _ in range(3)]
    action = np.zeros(len(envs[0].ports))
    alone = [play(env, action, seed) for seed, env in enumerate(envs)]
    for seed, env in enumerate(envs):
        env.reset(options={"trial_seed": seed})
    together = [[env.step(action) for env in envs] for _ in range(len(alone[0]))]
    for one, mixed in zip(alone, zip(*together, strict=True), strict=True):
        assert [step[1:] for step in one] == [step[1:] for step in mixed]


def test_no_run_outlives_its_episode() -> None:
    before = runs()
    env = FabricEcnEnv(SMALL)
    for _ in range(3):
        env.reset(seed=1)
        env.step(np.zeros(len(env.ports)))
    assert runs() == before + 1
    env.close()
    env.close()
    assert runs() == before
    with pytest.raises(InputError, match="call reset first"):
        env.step(np.zeros(len(env.ports)))
    env.reset(seed=1)
    del env
    gc.collect()
    assert runs() == before, "forgotten environments are closed"


def test_a_forked_process_begins_anew() -> None:
    """The thread of a run stays behind: a step is refused, and does not wait for it."""
    env = FabricEcnEnv(SMALL)
    action = np.zeros(len(env.ports))
    env.reset(seed=1)

    def child() -> None:
        with pytest.raises(InputError, match="another process; call reset first"):
            env.step(action)
        env.reset(seed=1)
        env.step(action)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 0
    env.step(action)


def test_errors_of_a_run_are_raised_and_the_next_reset_works() -> None:
    env = FabricEcnEnv(SMALL, FabricEngine("dcqcn", {"g": 3.0}))
    with pytest.raises(InputError, match=r"g: must be"):
        env.reset(seed=1)
    env = FabricEcnEnv(SMALL)
    whole, broken = env.scenario, replace(SMALL, flow_count=-1)
    env.scenario = broken
    with pytest.raises(ValueError, match="negative"):
        env.reset(seed=1)
    env.scenario = whole
    play(env, np.zeros(len(env.ports)))


def test_an_episode_without_flows_ends() -> None:
    (step,) = play(FabricEcnEnv(replace(SMALL, flow_count=0)), np.zeros(16))
    assert step[1] == pytest.approx(0.5) and step[3]


@pytest.mark.parametrize("wrong", [{"interval_us": 0.0}, {"delay_us": -1.0}, {"history": 0}, {"throughput": 2}])
def test_bad_use_is_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        FabricEcnEnv(SMALL, **wrong)


def test_templates_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="no kmin_bytes may be above"):
        Templates(kmin_bytes=(1e5,), kmax_bytes=(5e4, 2e5))


@pytest.mark.filterwarnings("ignore:.*render_mode")
def test_stable_baselines_makes_it_by_name() -> None:
    env_util = pytest.importorskip("stable_baselines3.common.env_util")
    vector = env_util.make_vec_env(
        "lcca.gym_envs.registration:lcca/FabricEcn-v0", n_envs=2, env_kwargs={"scenario": SMALL, "templates": FEW}
    )
    assert vector.num_envs == 2 and vector.reset().shape[0] == 2

"""Double DQN on problems whose answers are known, and that a stopped training goes on with the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'lcca[drl]'")

from lcca.inputs.errors import InputError  # noqa: E402
from lcca.studies.acc.learner.config import DqnConfig  # noqa: E402
from lcca.studies.acc.learner.double_dqn import DoubleDqn, QNetwork, next_values  # noqa: E402
from lcca.studies.acc.learner.training import CHECKPOINT, train  # noqa: E402

STATES = 5


def play_alone(env: Any, learner: DoubleDqn, seed: int) -> float:
    """Play one episode and learn from it; return its mean reward per step."""
    seen, _ = env.reset(seed=seed)
    total, count, over = 0.0, 0, False
    while not over:
        action = learner.act(seen)
        after, reward, terminated, truncated, _ = env.step(action)
        learner.observe(seen, action, float(reward), after, bool(terminated))
        seen, total, count, over = after, total + float(reward), count + 1, bool(terminated or truncated)
    return total / count


def in_turn(env: Any) -> Any:
    """Episodes whose seeds are their numbers."""
    return lambda learner, episode: play_alone(env, learner, episode)


def one_hot(state: int, states: int = STATES) -> np.ndarray:
    return np.eye(states, dtype=np.float32)[state]


class Chain:
    """States in a row; right moves on, left goes back to the first. The last step right pays 1 and ends."""

    def reset(self, *, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
        self.state, self.time = int(np.random.default_rng(seed).integers(STATES)), 0
        return one_hot(self.state), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.time += 1
        ended = action == 1 and self.state == STATES - 1
        self.state = min(self.state + 1, STATES - 1) if action == 1 else 0
        return one_hot(self.state), float(ended), ended, self.time >= 20, {}


class Noise:
    """One state, many actions, and rewards that are noise around 0: every value is 0, whatever the discount."""

    def reset(self, *, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
        self.draws, self.time = np.random.default_rng(seed), 0
        return np.ones(1, dtype=np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.time += 1
        return np.ones(1, dtype=np.float32), float(self.draws.normal()), False, self.time >= 100, {}


CHAIN = DqnConfig(
    steps=3000, hidden=(32,), discount=0.9, learning_rate=3e-3, batch=32, replay=3000, warm_up=200, learn_every=1,
    sync_every=50, explore_steps=1500, explore_last=0.1,
)  # fmt: skip


@pytest.mark.slow
def test_it_learns_the_values_of_a_chain() -> None:
    quick = {"steps": 1200, "explore_steps": 600, "sync_every": 25, "learning_rate": 5e-3}
    learner = DoubleDqn(CHAIN.model_copy(update=quick), STATES, 2, seed=1)
    train(learner, in_turn(Chain()))
    values = learner.values(np.eye(STATES, dtype=np.float32)) * learner.reward_spread + learner.reward_mean
    right = 0.9 ** np.arange(STATES - 1, -1, -1)
    np.testing.assert_allclose(values[:, 1], right, atol=0.05)
    np.testing.assert_allclose(values[:, 0], 0.9**STATES, atol=0.05)
    assert [learner.best(one_hot(state)) for state in range(STATES)] == [1] * STATES


def test_the_second_network_judges_what_the_first_chooses() -> None:
    online, target = torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([[9.0, 4.0, 5.0]])
    assert next_values(online, target, double=True).tolist() == [4.0]
    assert next_values(online, target, double=False).tolist() == [9.0]


def largest_value(double: bool, seed: int) -> float:
    """Return what the best action is believed to be worth, mean over the second half of a training; the truth is 0."""
    config = CHAIN.model_copy(
        update={
            "double": double,
            "steps": 1000,
            "hidden": (),
            "discount": 0.7,
            "learning_rate": 5e-2,
            "sync_every": 150,
            "explore_last": 1.0,
        }
    )
    learner, seen = DoubleDqn(config, 1, 20, seed), []

    def tell(learner: DoubleDqn, returns: list[float]) -> None:
        if learner.steps > 500:
            seen.append(float(learner.values(np.ones(1, dtype=np.float32)).mean()))

    noise = Noise()
    train(learner, lambda learner, episode: play_alone(noise, learner, 1000 * seed + episode), tell=tell)
    return float(np.mean(seen))


@pytest.mark.slow
def test_the_double_estimator_overestimates_less() -> None:
    single, double = (np.mean([largest_value(kind, seed) for seed in range(2)]) for kind in (False, True))
    assert single > 0.5, "one estimator takes its largest error for a value"
    assert abs(double) < 0.5 * single


def test_parts_of_actions_add_up() -> None:
    network = QNetwork(3, (4,), (2, 3, 5))
    seen = torch.randn(7, 3, generator=torch.Generator().manual_seed(1))
    parts = network.layers(seen)
    total = network(seen)
    assert total.shape == (7, 30)
    for index, (a, b, c) in enumerate(np.ndindex(2, 3, 5)):
        torch.testing.assert_close(total[:, index], parts[:, a] + parts[:, 2 + b] + parts[:, 5 + c])


def test_exploration_falls_in_a_line() -> None:
    config = CHAIN.model_copy(update={"explore_first": 0.8})
    shares = [config.exploration(step) for step in (0, 199, 200, 950, 1700, 10**6)]
    assert shares == pytest.approx([1, 1, 0.8, 0.45, 0.1, 0.1])


class Killed(Exception):
    pass


@pytest.mark.slow
def test_a_stopped_training_gives_the_same_bits(tmp_path: Any) -> None:
    config = CHAIN.model_copy(update={"steps": 900})
    whole = DoubleDqn(config, STATES, 2, seed=3)
    expected = train(whole, in_turn(Chain()))

    def kill(learner: DoubleDqn, returns: list[float]) -> None:
        if len(returns) == 45:
            raise Killed

    half = DoubleDqn(config, STATES, 2, seed=3)
    with pytest.raises(Killed):
        train(half, in_turn(Chain()), folder=tmp_path, every=10, tell=kill)
    rest = DoubleDqn(config, STATES, 2, seed=99)
    found = train(rest, in_turn(Chain()), folder=tmp_path, every=10)
    assert found == expected
    for name, weights in whole.online.state_dict().items():
        assert torch.equal(weights, rest.online.state_dict()[name]), name
    assert whole.draws.bit_generator.state == rest.draws.bit_generator.state
    done = DoubleDqn(config, STATES, 2, seed=4)
    assert train(done, in_turn(Chain()), folder=tmp_path) == expected, "nothing is left to do"


def test_other_seeds_learn_otherwise() -> None:
    config = CHAIN.model_copy(update={"steps": 300})
    weights = []
    for seed in (1, 1, 2):
        learner = DoubleDqn(config, STATES, 2, seed)
        train(learner, in_turn(Chain()))
        weights.append(next(iter(learner.online.state_dict().values())))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_checkpoints_that_do_not_fit_are_told(tmp_path: Any) -> None:
    config = CHAIN.model_copy(update={"steps": 40, "warm_up": 32})
    train(DoubleDqn(config, STATES, 2, 1), in_turn(Chain()), folder=tmp_path)
    other = config.model_copy(update={"discount": 0.5})
    with pytest.raises(InputError, match=r"checkpoint\.pt: a training with another configuration"):
        train(DoubleDqn(other, STATES, 2, 1), in_turn(Chain()), folder=tmp_path)
    whole = (tmp_path / CHECKPOINT).read_bytes()
    for bit in np.random.default_rng(1).integers(8 * len(whole), size=30):
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        (tmp_path / CHECKPOINT).write_bytes(content)
        with pytest.raises(InputError, match=r"damaged .*delete it to begin again"):
            train(DoubleDqn(config, STATES, 2, 1), in_turn(Chain()), folder=tmp_path)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"warm_up": 10}, "warm_up must be at least batch"),
        ({"replay": 10}, "replay must"),
        ({"discount": 1}, "discount"),
    ],
)
def test_configurations_that_cannot_work_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DqnConfig(**given)


@pytest.mark.full
def test_it_learns_to_balance_a_pole() -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")
    env = gymnasium.make("CartPole-v1")
    config = DqnConfig(
        steps=30_000, discount=0.99, learning_rate=1e-3, batch=64, replay=30_000, warm_up=1000, learn_every=2,
        sync_every=250, explore_steps=8000, explore_last=0.05,
    )  # fmt: skip
    learner = DoubleDqn(config, 4, 2, seed=1)
    train(learner, in_turn(env))
    lengths = []
    for seed in range(20):
        seen, _ = env.reset(seed=10_000 + seed)
        length, over = 0, False
        while not over:
            seen, _, terminated, truncated, _ = env.step(learner.best(seen))
            length, over = length + 1, terminated or truncated
        lengths.append(length)
    assert np.mean(lengths) > 150, "random actions balance it for about 22 steps"

"""Agent steps per second of the fast environments, and how fast PPO learns in them.

    python benchmarks/env.py [--json] [--steps 2000000] [--jobs 2] [--no-ppo]

An *agent step* is one decision of one flow that is really taken: an observation seen, an action acted upon. Policies
are random: actions are uniform NumPy arrays, drawn within the measured time, one array per batch; observations, rewards
and ends are read as arrays of the batch too. Networks are those of the paper's default space, with 1 to 16 senders, all
of them steered. CPU seconds are those of all threads of the process; wall seconds mean little on a shared machine.

PPO is Stable-Baselines3's with two layers of 64 in policy and value network (its default) on one thread of PyTorch.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.remy_plus.policies.agents import EVERY_ACK, Agent, Decisions, WindowSteering

AURORA = 523
"""Steps per second of Aurora's own simulator (PCC-RL), one flow."""

E2E = ("send_ewma", "receive_ewma", "rtt_ratio", "slow_receive_ewma")

DEFAULT = NetworkSpace.model_validate(
    {
        "link_rate": {"min": 2, "max": 4, "step": 0.1},
        "rtt": {"min": 20, "max": 30, "step": 1},
        "senders": {"min": 1, "max": 16, "step": 1},
        "buffer": {"min": 100, "max": 250, "step": 25},
        "mean_on": {"min": 1000, "max": 10000, "step": 500},
        "mean_off": {"min": 100, "max": 1500, "step": 100},
        "loss": 0.001,
        "duration": 10000,
    }
)


@dataclass
class Rate:
    """What was measured of one way of stepping."""

    name: str
    threads: int
    environments: int
    slots: int
    steps: int
    cpu_s: float
    wall_s: float

    @property
    def line(self) -> str:
        """For the terminal."""
        per_cpu, per_wall = self.steps / self.cpu_s, self.steps / self.wall_s
        return (
            f"{self.name:34s} {self.threads} threads, {self.environments} networks, {self.slots} slots: "
            f"{per_cpu / 1e6:.2f} M per CPU s, {per_wall / 1e6:.2f} M per wall s ({per_wall / AURORA:,.0f} x Aurora's)"
        )


def per_ack() -> Agent:
    """An agent that decides at every acknowledgement: small factors and increments of the window."""
    return Agent(E2E, 1, EVERY_ACK, WindowSteering(multiple=0.05, increment=1.0))


def per_rtt() -> Agent:
    """An agent that decides once per round trip."""
    return Agent(E2E, 1, Decisions(1.0), WindowSteering(multiple=0.5))


def step_ready(slots: AgentSlots, random: np.random.Generator) -> int:
    """One batch of compact rows: the slots that have to decide, and no others."""
    count = len(slots.ready)
    actions = random.random((count, slots.rules.agent.numbers), dtype=np.float32) * 2 - 1
    slots.step(actions)
    ready = slots.ready
    _ = slots.observation[ready], slots.reward[ready], slots.ended[ready]
    return count


def step_all(slots: AgentSlots, random: np.random.Generator) -> int:
    """One batch of whole rows, as a VecEnv steps; counts the slots that acted."""
    acting = int(slots.acting.sum())
    actions = random.random((slots.num_slots, slots.rules.agent.numbers), dtype=np.float32) * 2 - 1
    slots.step(actions)
    _ = slots.observation.copy(), slots.reward.copy(), slots.ended != 0
    return acting


def measure(
    name: str,
    rules: Rules,
    step: Callable[[AgentSlots, np.random.Generator], int],
    environments: int,
    jobs: int,
    steps: int,
) -> Rate:
    """Step until so many agent steps were taken, after a tenth of them unmeasured."""
    slots = AgentSlots(rules, DEFAULT.draw, environments=environments, whole_rows=step is step_all, jobs=jobs, seed=1)
    slots.reset(1)
    random = np.random.default_rng(1)
    taken = 0
    while taken < steps / 10:
        taken += step(slots, random)
    taken, wall, cpu = 0, time.perf_counter(), time.process_time()
    while taken < steps:
        taken += step(slots, random)
    return Rate(name, jobs, environments, slots.num_slots, taken, time.process_time() - cpu, time.perf_counter() - wall)


def rates(steps: int, jobs: int, environments: int) -> list[Rate]:
    """Measure every way of stepping."""
    acks, rounds = Rules(per_ack()), Rules(per_rtt(), patience=8.0)
    found = [measure("per ACK", acks, step_ready, environments, 1, steps)]
    if jobs > 1:
        found.append(measure("per ACK", acks, step_ready, environments, jobs, steps))
    together = Rules(per_ack(), patience=8.0)
    found.append(measure("per ACK, flows together (VecEnv)", together, step_all, environments, 1, steps))
    found.append(measure("per RTT, flows together (VecEnv)", rounds, step_all, environments, 1, steps // 4))
    return found


class Clock:
    """CPU seconds by the part that spent them."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what is done inside."""
        began = time.process_time()
        try:
            yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - began

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, counted."""

        def counted(*arguments: Any, **more: Any) -> Any:
            with self.part(name):
                return function(*arguments, **more)

        return counted


def learn(environments: int, rollouts: int) -> dict[str, float]:
    """Run PPO; return time steps per second, how many of them were decisions, and who spent the CPU."""
    import torch
    from stable_baselines3 import PPO

    from lcca.gym_envs.batch.vec_env import AgentSlotsVecEnv

    torch.set_num_threads(1)
    env = AgentSlotsVecEnv(
        AgentSlots(Rules(per_rtt(), patience=8.0), DEFAULT.draw, environments=environments, whole_rows=True, jobs=1)
    )
    length = 64
    model = PPO(
        "MlpPolicy", env, n_steps=length, batch_size=length * env.num_envs // 8, n_epochs=4, device="cpu", seed=1
    )
    clock, acting = Clock(), []
    step = env.step_wait

    def counted() -> Any:
        acting.append(env.acting.mean())
        return step()

    env.step_wait = clock.timed("environment", counted)  # type: ignore[method-assign]
    model.train = clock.timed("update", model.train)  # type: ignore[method-assign]
    model.policy.forward = clock.timed("policy", model.policy.forward)  # type: ignore[method-assign]
    wall = time.perf_counter()
    with clock.part("all"):
        model.learn(rollouts * length * env.num_envs)
    wall = time.perf_counter() - wall
    total = clock.spent.pop("all")
    shares = {f"share_{name}": spent / total for name, spent in clock.spent.items()}
    return {
        "slots": env.num_envs,
        "steps": model.num_timesteps,
        "steps_per_cpu_s": model.num_timesteps / total,
        "steps_per_wall_s": model.num_timesteps / wall,
        "decisions_per_step": float(np.mean(acting)),
        **shares,
        "share_rest": 1 - sum(shares.values()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2_000_000, help="agent steps per way of stepping")
    parser.add_argument("--jobs", type=int, default=2, help="threads of the second measurement")
    parser.add_argument("--environments", type=int, default=256, help="networks at once")
    parser.add_argument("--rollouts", type=int, default=8, help="of PPO")
    parser.add_argument("--no-ppo", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    stepped = rates(options.steps, options.jobs, options.environments)
    learnt = {} if options.no_ppo else learn(64, options.rollouts)
    if options.json:
        print(json.dumps({"aurora": AURORA, "rates": [asdict(rate) for rate in stepped], "ppo": learnt}, indent=1))
        return
    for rate in stepped:
        print(rate.line)
    if learnt:
        print("PPO 64-64:", ", ".join(f"{name} {value:,.3g}" for name, value in learnt.items()))


if __name__ == "__main__":
    main()

"""What a round of training learns on: fresh networks, from easy ones to all of them."""

from __future__ import annotations

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.agents import Agent
from lcca.trainers.base import Task, first_network
from lcca.trainers.drl.config import DrlConfig

POOL = 1024
"""Networks that are drawn for a round; an environment has in turn those with as many senders as its first."""


def space_at(space: NetworkSpace, config: DrlConfig, share: float) -> NetworkSpace:
    """Return the networks to learn on when this share of all steps is done.

    Raises:
        InputError: a stage names a parameter that networks do not have, or impossible values.
    """
    changes = next((stage.networks for stage in config.curriculum if share < stage.until), {})
    alone = {"senders": 1} if config.flows == "one" else {}
    if not changes and not alone:
        return space
    try:
        return NetworkSpace.model_validate({**space.model_dump(), **changes, **alone})
    except ValueError as error:
        raise InputError(f"curriculum: {error}") from error


def slots_of(task: Task, config: DrlConfig, agent: Agent, engine: Engine, round_: int, seed: int) -> AgentSlots:
    """Return the agent slots of a round, reset; the number of threads changes nothing."""
    wanted = task.utility
    if not isinstance(wanted, ThroughputDelay):
        raise InputError(f"utility {wanted.name}: agents learn throughput and delay alone; use trainer.kind rplus")
    rules = Rules(
        agent,
        config.reward.build(wanted.throughput_weight, wanted.delay_weight),
        duration=engine.duration,
        model=engine.model,
        patience=config.patience,
    )
    space = space_at(task.networks, config, round_ / config.rounds)
    networks = space.draw(task.seed, POOL, first_id=first_network(space, round_))
    slots = AgentSlots(rules, networks, environments=config.environments, seed=seed, jobs=engine.jobs)
    slots.reset()
    return slots

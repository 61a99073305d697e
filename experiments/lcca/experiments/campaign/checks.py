"""What of a campaign cannot be at its place: policies to test beside what is learnt, and what a fabric has not."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import product
from typing import TYPE_CHECKING

from pydantic import ValidationError

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import require_all_scored, require_rounds, require_runs
from lcca.evaluation.scenarios.spaces import has_spaces
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.campaign.trials import OWN
from lcca.inputs.errors import InputError, about, require
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.simple import Simple
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve

if TYPE_CHECKING:
    from lcca.experiments.campaign.contract import Campaign
    from lcca.experiments.campaign.trials import GeneralisationConfig


def check_designed(name: str, simulator: str) -> None:
    """Check that a hand-designed policy can be tested beside what is learnt.

    Raises:
        ValueError: on networks the engine does not run it, or on a fabric it is no transport.
    """
    if simulator == "engine" and not isinstance(baseline(name), Simple):
        raise ValueError(f"{name} runs in ns-3 alone: name it in validation.ns3.baselines")
    if simulator == "fabric" and not isinstance(resolve(name, "fabric").policy, Transport):
        raise InputError(f"{name}: on a fabric name transports; `lcca show transports` lists them")


def check_place(config: Campaign) -> None:
    """Check that a campaign asks for nothing that its place has not.

    Raises:
        InputError: it does; names the key.
    """
    own = config.networks
    if isinstance(own, FabricSpace):
        _check_fabric(config, own)
        return
    if mixed := [each.name for each in config.generalisation if isinstance(each.networks, FabricSpace)]:
        raise InputError(f"generalisation: {mixed[0]}: a fabric is no condition of a campaign on networks")
    for trainer in config.named_trainers.values():
        text = f"trainer.kind: {trainer.kind} learns on fabrics alone; name scenarios in networks.fabric, or use law"
        require(not trainer.fabrics_alone, text)
        if trainer.hard_networks is not None:
            try:
                trainer.hard_networks.beside(own)
            except ValidationError as error:
                raise InputError(f"trainer.hard_networks: {error.errors()[0]['msg']}") from None
    if config.validation.ns3 is not None and has_spaces(own) and config.validation.ns3.topologies != (OWN,):
        raise InputError(f"validation.ns3.topologies: the parts of networks have topologies of their own: [{OWN}]")


def _check_fabric(config: Campaign, own: FabricSpace) -> None:
    absent = {
        "validation.ns3": config.validation.ns3 is not None,
        "per_network": config.per_network is not None,
        "model": config.model != type(config.model)(),
    }
    for key, wanted in absent.items():
        require(not wanted, f"{key}: not on a fabric; leave it out")
    for name, trainer in config.named_trainers.items():
        with about(f"trainers.{name}") if name else nullcontext():
            require(trainer.hard_networks is None, "trainer.hard_networks: not on a fabric; leave it out")
            trainer.require_fabric([signal for each in config.candidates for signal in each.signals.signals])
    conditions = ((f"generalisation: {each.name}", _condition(each, own)) for each in config.generalisation)
    for where, space in (("networks", own), *conditions):
        for each in config.utilities:
            with about("utilities"):
                utility = fabric_utility(each.name)
                require_rounds(space.scenarios, utility)
                if space is own:
                    require_all_scored(space.scenarios, utility)
            for name, scenario in product(config.hand_designed, space.scenarios):
                with about("hand_designed" if space is own else where):
                    engine = engine_of(resolve(name, "fabric").policy, scenario.settings())
                    require_runs(scenario, name, engine, utility)
        for candidate, trainer in product(config.candidates, config.named_trainers.values()):
            policy = candidate.equip(trainer.example(candidate.signals.signals), charged=True)
            for scenario in space.scenarios:
                with about(f"{where}: {candidate.name}"):  # it gets its signals, and its packets fit the MTU
                    scenario.require_fits(engine_of(policy, scenario.settings()), candidate.name)


def _condition(condition: GeneralisationConfig, own: FabricSpace) -> FabricSpace:
    """Return the fabric of a generalisation test.

    Raises:
        InputError: it is none, or its packets are of another size.
    """
    space = condition.networks
    with about(f"generalisation: {condition.name}"):
        if condition.topology is not None or not isinstance(space, type(own)):
            raise InputError("give networks.fabric, with other scenarios; a fabric has no topology from outside")
        if space.packet_of(PACKET_BYTES) != own.packet_of(PACKET_BYTES):
            raise InputError("payload_bytes and overhead_bytes must be those of the campaign's scenarios")
    return space

"""What a campaign is on a fabric, and what of a campaign a fabric has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import require_rounds
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.inputs.errors import InputError, about
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.policies import engine_of
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve

if TYPE_CHECKING:
    from lcca.experiments.campaign.candidates import Candidate
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.trials import GeneralisationConfig


def packet_bytes(space: FabricSpace, said: int) -> int:
    """Return the bytes of a full data packet without a header.

    Raises:
        ValueError: the campaign says something else.
    """
    scenario = space.scenarios[0]
    found = scenario.payload_bytes + scenario.overhead_bytes + _core.FABRIC_SENT_TIME_BYTES
    if said not in (found, PACKET_BYTES):
        raise ValueError(f"packets of the fabric have {found}: leave it out, or change the scenario's payload_bytes")
    return found


def require_transports(names: tuple[str, ...]) -> tuple[str, ...]:
    """Check that hand-designed policies are transports, each named once.

    Raises:
        InputError: one is not.
    """
    for i, name in enumerate(names):
        if not isinstance(resolve(name, "fabric").policy, Transport):
            raise InputError(f"{name}: on a fabric name transports; `lcca show transports` lists them")
        if name in names[:i]:
            raise InputError(f"{name!r} is listed twice")
    return names


def require_on_fabric(config: CampaignConfig, space: FabricSpace) -> None:
    """Check that a campaign asks for nothing that a fabric has not.

    Raises:
        InputError: it does; names the key.
    """
    absent = {
        "validation.ns3": config.validation.ns3 is not None,
        "per_network": config.per_network is not None,
        "model": config.model != type(config.model)(),
    }
    for key, given in absent.items():
        if given:
            raise InputError(f"{key}: not on a fabric; leave it out")
    config.trainer.require_fabric()
    elsewhere = ((f"generalisation: {each.name}", _condition(each, space)) for each in config.generalisation)
    for where, met in (("networks", space), *elsewhere):
        for utility in config.utilities:
            with about("utilities"):
                require_rounds(met.scenarios, fabric_utility(utility.name))
        for candidate in config.candidates:
            with about(f"{where}: {candidate.name}"):
                _require_told(candidate, met)


def _condition(condition: GeneralisationConfig, own: FabricSpace) -> FabricSpace:
    """Return the fabric of a generalisation test.

    Raises:
        InputError: it is none, or its packets are of another size.
    """
    found = condition.networks
    with about(f"generalisation: {condition.name}"):
        if condition.topology is not None or not isinstance(found, FabricSpace):
            raise InputError("give networks.fabric, with other scenarios; a fabric has no topology from outside")
        if packet_bytes(found, PACKET_BYTES) != packet_bytes(own, PACKET_BYTES):
            raise InputError("payload_bytes and overhead_bytes must be those of the campaign's scenarios")
    return found


def _require_told(candidate: Candidate, space: FabricSpace) -> None:
    """Check that a candidate's policies are told their signals, and that their packets fit the MTU."""
    policy = candidate.equip(one_rule(candidate.signals.signals), charged=True)
    for scenario in space.scenarios:
        scenario.require_telemetry(engine_of(policy, scenario.settings()).telemetry_bytes, candidate.name)

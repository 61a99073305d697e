"""Configuration of a search for the best parameters of a transport on a fabric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, field_validator

from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.inputs.model import keyed_numbers
from lcca.remy_plus.switches.knobs import REFERENCE_GBPS
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve
from lcca.trainers.tune.config import TuneConfig
from lcca.trainers.tune.space import Axis, Space, ranges_of


class TransportTuneConfig(TuneConfig):
    """What to tune of a transport; without a space in the usual ranges of its parameters.

    Attributes:
        host_gbps: rate of the fabric's hosts, which defaults and ranges go with.
    """

    host_gbps: float = REFERENCE_GBPS
    space: Annotated[Literal["table-5", "usual"] | dict[str, Axis], BeforeValidator(keyed_numbers)] = "usual"

    @field_validator("policy")
    @classmethod
    def _can_be_tuned(cls, name: str) -> str:
        if tuner := _transport(name).tuner:
            raise ValueError(f"{name[:60]!r}: {tuner.kind} sets parameters itself; tune the transport without it")
        return name

    def build_space(self) -> Space:
        """Return the search space.

        Raises:
            InputError: it does not fit the transport.
        """
        transport = _transport(self.policy)
        axes = self._axes(transport.name)
        usual = transport.kind.parameters(self.host_gbps, transport.parameters)
        known = usual | transport.named_parameters
        with about("space"):
            for name in axes:
                if name not in known:
                    raise InputError(f"no parameter {name[:60]!r}{did_you_mean(name, known)}")
        own = {name: usual[name] for name in (*transport.parameters, *axes) if name in usual}
        return Space(replace(transport, parameters=own), axes)

    def _axes(self, name: str) -> Mapping[str, Axis]:
        if self.space != "usual":
            return super()._axes(name)
        found = _transport(self.policy).searches(self.host_gbps)
        if not found:
            raise InputError(f"space: {name} has no usual ranges; write the space out")
        return ranges_of(found)


def _transport(name: str) -> Transport:
    found = resolve(name, "fabric").policy
    if not isinstance(found, Transport):
        raise InputError(f"{name[:60]!r}: only transports can be tuned on a fabric")
    return found

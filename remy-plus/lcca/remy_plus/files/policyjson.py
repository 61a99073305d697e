"""What a ``policy.json`` holds, by kind: checked with all problems at once, and made into policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from lcca.inputs.errors import InputError, about, did_you_mean, require, shown
from lcca.inputs.json_values import parsed
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.inputs.validation import validate_json
from lcca.remy_plus.policies.agents import MlpPolicy, agent_from_json
from lcca.remy_plus.policies.explicit import SIMPLE
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.hand_designed import HandDesigned
from lcca.remy_plus.policies.law import Coefficients, Law
from lcca.remy_plus.policies.mlpjson import LayerContent, MemoryContent
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.rules import MOST_RULES, RuleTable, Windows, pacing_unit
from lcca.remy_plus.policies.simple import Simple
from lcca.remy_plus.policies.tiling import tiling
from lcca.remy_plus.switches.markers import Marking, marking
from lcca.remy_plus.switches.transports import Transport
from lcca.remy_plus.tuners.registry import TUNERS, tuning

FORMAT = 1


def _known_format(value: Any) -> Any:
    if isinstance(value, bool) or value != FORMAT:
        raise ValueError(f"{shown(value)} is not known to this version; it must be {FORMAT}")
    return value


def _known_pacing(value: Any) -> Any:
    try:
        pacing_unit(value)
    except InputError as error:
        raise ValueError(str(error).removeprefix("pacing: ")) from error
    return value


class Content(Model):
    """What every policy file has.

    Attributes:
        format: of the file.
        kind: of the policy.
        signals: that the policy looks at.
        signal_set: name of the set that it was learnt with.
        header: that carried its signals: a name or a description.
        provenance: where it comes from.
    """

    format: Annotated[int, BeforeValidator(_known_format)]
    kind: str
    signals: tuple[str, ...] = ()
    signal_set: str | None = None
    header: str | dict[str, Any] | None = None
    provenance: dict[str, Any] = Field(default={})

    @property
    def rule_hits(self) -> tuple[int, ...] | None:
        """Look-ups per rule of a rule table, if all are known."""
        return None


class Rule(Model):
    """One rule of a table; bounds are in the order of the signals."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    increment: float
    multiple: float
    pacing: float
    rule_hits: int | None = Field(default=None, ge=0)


class TableContent(Content):
    """A rule table."""

    kind: Literal["rule-table"]
    signals: Annotated[tuple[str, ...], Field(min_length=1)]
    pacing: Annotated[str, BeforeValidator(_known_pacing)]
    windows: Windows = "whole"
    rules: Annotated[tuple[Rule, ...], Field(min_length=1, max_length=MOST_RULES)]

    @model_validator(mode="after")
    def _a_bound_for_each_signal(self) -> TableContent:
        k = len(self.signals)
        raise_problems(
            "rules",
            [
                problem_at(("rules", i, key), f"must be a list of {k} numbers, one for each signal")
                for i, rule in enumerate(self.rules)
                for key in ("lower", "upper")
                if len(getattr(rule, key)) != k
            ],
        )
        return self

    @property
    def rule_hits(self) -> tuple[int, ...] | None:
        """See `Content.rule_hits`."""
        found = tuple(rule.rule_hits for rule in self.rules if rule.rule_hits is not None)
        return found if len(found) == len(self.rules) else None

    def build(self) -> RuleTable:
        """Return the policy."""
        columns = {
            name: np.array([getattr(rule, name) for rule in self.rules]).reshape(len(self.rules), *shape)
            for name, shape in (("lower", (-1,)), ("upper", (-1,)), ("increment", ()), ("multiple", ()), ("pacing", ()))
        }
        table = RuleTable(self.signals, **columns, pacing_kind=self.pacing, windows=self.windows)
        tiling(table)
        return table


class AgentContent(Model):
    """How a network sees and steers; the agent itself checks the rest."""

    history: int = 1
    decisions: dict[str, Any] = Field(default={})
    steering: dict[str, Any] = Field(default={})

    def content(self) -> dict[str, Any]:
        """Return it for `agent_from_json`."""
        steering = dict(self.steering)
        if steering.get("kind") == "law" and "law" in steering:
            with about("steering"), about("law"):
                steering["law"] = validate_json(steering["law"], LawContent).law()
        return self.model_dump() | {"steering": steering}


class MlpContent(Content):
    """A trained network."""

    kind: Literal["mlp"]
    signals: Annotated[tuple[str, ...], Field(min_length=1)]
    agent: AgentContent
    layers: tuple[LayerContent, ...]
    memory: MemoryContent | None = None

    def build(self) -> MlpPolicy:
        """Return the policy."""
        with about("agent"):
            agent = agent_from_json(self.agent.content() | {"signals": list(self.signals)})
        layers = tuple(layer.build(f"layers.{i}") for i, layer in enumerate(self.layers))
        return MlpPolicy(agent, layers, None if self.memory is None else self.memory.build())


class LawContent(Model):
    """A control law: its numbers by name."""

    terms: dict[str, float]
    features: dict[str, Coefficients] = Field(default={})
    inputs: tuple[str, ...] = ()
    rate: str | None = None
    bound: float = 2.0
    largest_window: float = 2000.0
    refresh: float = 0.5

    def law(self) -> Law:
        """Return the law."""
        others = {name: getattr(self, name) for name in ("inputs", "rate", "bound", "largest_window", "refresh")}
        return Law.of(self.terms, self.features, **others)


L = TypeVar("L", Law, FabricLaw, PathLaw)


def _looking_at(signals: Sequence[str], law: L) -> L:
    """Return a law whose numbers look at the signals that its file lists; one that lists none says nothing of them."""
    same = not signals or set(signals) == set(law.signals)
    require(same, f"signals: the numbers look at {', '.join(law.signals) or 'none'}; list these, or none at all")
    return law


class LawFile(Content, LawContent):
    """A control law. `signals` follow from its numbers."""

    kind: Literal["law"]

    def build(self) -> Law:
        """Return the policy."""
        return _looking_at(self.signals, self.law())


class FabricLawFile(Content):
    """A control law for fabrics: its numbers by name. `signals` follow from them."""

    kind: Literal["fabric-law"]
    terms: dict[str, float]
    features: dict[str, float] = Field(default={})
    inputs: dict[str, Coefficients] = Field(default={})

    def build(self) -> FabricLaw:
        """Return the policy."""
        return _looking_at(self.signals, FabricLaw.of(self.terms, self.features, self.inputs))


class PathLawFile(Content):
    """A law that chooses ways: its numbers by name, and the transport beside it. `signals` follow from them."""

    kind: Literal["path-law"]
    transport: str
    parameters: dict[str, Any] = Field(default={})
    terms: dict[str, float]
    inputs: dict[str, float] = Field(default={})

    def build(self) -> PathLaw:
        """Return the policy."""
        with about("parameters"):
            over = Transport(self.transport, self.parameters)
        return _looking_at(self.signals, PathLaw.of(over, self.terms, self.inputs))


class ParametersContent(Content):
    """A policy that is a few parameters and looks at no signals."""

    signals: Annotated[tuple[str, ...], Field(max_length=0)] = ()
    parameters: dict[str, Any] = Field(default={})


if TYPE_CHECKING:
    SimpleKind: TypeAlias = str
else:
    SimpleKind = Literal[tuple(SIMPLE)]


class SimpleContent(ParametersContent):
    """A congestion control that the engine has."""

    kind: SimpleKind

    def build(self) -> Simple:
        """Return the policy."""
        made = SIMPLE[self.kind]
        known = [f.name for f in fields(made)]
        for key in self.parameters:
            if key not in known:
                raise InputError(f"parameters: unknown key {key[:60]!r}{did_you_mean(key, known)}")
        try:
            with about("parameters"):
                return made(**self.parameters)
        except TypeError as error:
            raise InputError(f"parameters: {', '.join(known)} needed") from error


class PartContent(Model):
    """A marker of a fabric's switches or a tuner, with its parameters."""

    kind: str
    parameters: dict[str, float]


def _marker(given: PartContent | None) -> Marking | None:
    with about("marker"):
        return None if given is None else marking(given.kind, **given.parameters)


class HandDesignedContent(ParametersContent):
    """A hand-designed congestion control; perhaps over a marker."""

    kind: Literal["classical"]
    name: str
    marker: PartContent | None = None

    def build(self) -> HandDesigned:
        """Return the policy."""
        marker = _marker(self.marker)
        with about("parameters"):
            return HandDesigned(self.name, self.parameters, marker)


class TunerContent(PartContent):
    """A tuner, with what it has learnt if it is learnt."""

    model: dict[str, Any] | None = None

    def learnt(self) -> Any:
        """Return what it has learnt, as its kind has it.

        Raises:
            InputError: with every key that is unknown, missing or wrong.
        """
        model = TUNERS[self.kind].model if self.kind in TUNERS else None
        if self.model is None or model is None:
            return self.model
        with about("model"):
            return validate_json(self.model, model)


class TransportContent(ParametersContent):
    """A transport of a fabric, with the parameters that differ from its defaults; perhaps a marker and a tuner."""

    kind: Literal["transport"]
    name: str
    marker: PartContent | None = None
    tuner: TunerContent | None = None

    def build(self) -> Transport:
        """Return the policy."""
        marker = _marker(self.marker)
        with about("tuner"):
            given = self.tuner
            tuner = None if given is None else tuning(given.kind, given.learnt(), **given.parameters)
        with about("parameters"):
            return Transport(self.name, self.parameters, marker, tuner)


KindContent: TypeAlias = (
    TableContent
    | MlpContent
    | LawFile
    | FabricLawFile
    | PathLawFile
    | SimpleContent
    | HandDesignedContent
    | TransportContent
)
AnyContent: TypeAlias = Annotated[KindContent, Field(discriminator="kind")]

KINDS: dict[type[Any], str] = {
    RuleTable: "rule-table",
    MlpPolicy: "mlp",
    Law: Law.kind,
    FabricLaw: FabricLaw.kind,
    PathLaw: PathLaw.kind,
    **{each: kind for kind, each in SIMPLE.items()},
    HandDesigned: "classical",
    Transport: "transport",
}


def content_of(text: str) -> KindContent:
    """Return what the text of a ``policy.json`` holds.

    Raises:
        InputError: no JSON, a key twice in one object, NaN or Infinity, nested too deep, or with every key that is
            unknown, missing or wrong.
    """
    document = parsed(text)
    if not isinstance(document, dict):
        raise InputError("not a policy: an object with 'format' and 'kind' is needed")
    return validate_json(document, AnyContent)  # type: ignore[arg-type]

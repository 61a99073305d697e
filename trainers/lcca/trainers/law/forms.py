"""What a search of laws searches: the numbers of a law for networks, or of one for fabrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.fabric.space import FabricSpace
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import CARRIED, OF_HOSTS
from lcca.remy_plus.policies.fabric_law import OF_SIGNAL, OF_SIZE, FabricLaw
from lcca.remy_plus.policies.law import FEATURES, OUTPUTS, SHARE, Law
from lcca.remy_plus.policies.path_law import USUAL as PATH_USUAL
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import pacing_unit
from lcca.trainers.base import Task
from lcca.trainers.law.config import (
    AT_RATE,
    AT_SHARE,
    FABRIC_FEATURES,
    FABRIC_TERMS,
    GRANTED,
    PLAIN,
    RICH,
    STEEP,
    TOWARDS,
    UNUSED,
    LawConfig,
    Search,
    StageConfig,
    StagedConfig,
    fabric_signal,
)
from lcca.trainers.law.paths import PATH_TERMS, SIGNAL_WIDTH, PathsConfig

Floats = NDArray[np.float64]
Terms = dict[str, float]
Features = dict[str, list[float]]

ROW = 3
"""Coefficients that a feature has at most: one for each of `OUTPUTS` or of `OF_SIGNAL`."""


@dataclass(frozen=True)
class Numbers:
    """Which n numbers of a law a stage searches: terms by name, then coefficients.

    Attributes:
        terms: by name, with where they begin.
        coefficients: (feature, place in its row) of each.
        widths: (n,) standard deviations of the first perturbations.
    """

    terms: dict[str, Search]
    coefficients: tuple[tuple[str, int], ...]
    widths: Floats

    def point(self, terms: Terms, features: Features) -> Floats:
        """Return where a law lies, (n,)."""
        rows = [features[name][at] if name in features else 0.0 for name, at in self.coefficients]
        return np.array([terms[name] for name in self.terms] + rows)

    def at(self, point: Floats, terms: Terms, features: Features) -> tuple[Terms, Features]:
        """Return terms and features of the law that lies there; those that are not searched stay."""
        values = point.tolist()
        rows = {name: list(features.get(name, [0.0] * ROW)) for name, _ in self.coefficients}
        for (name, at), value in zip(self.coefficients, values[len(self.terms) :], strict=True):
            rows[name][at] = value
        return terms | dict(zip(self.terms, values, strict=False)), features | rows


class Form(Protocol):
    """The laws of a task."""

    @property
    def start(self) -> tuple[Terms, Features]:
        """Where a search begins."""

    def started(self, terms: Terms, stage: StageConfig) -> Terms:
        """Return terms with those that no stage before has searched where they begin."""

    def numbers(self, terms: Terms, stage: StageConfig) -> Numbers:
        """Return what a stage searches, from these terms on."""

    def law(self, terms: Terms, features: Features) -> Policy:
        """Return the law of these numbers."""

    def other(self, terms: Terms) -> Terms | None:
        """Return another beginning, without features, for the first stage of all signals; None for none."""

    def numbers_of(self, policy: Policy) -> tuple[Terms, Features]:
        """Return the numbers of a law to go on from.

        Raises:
            InputError: it is of another form, or looks at signals that the task lacks.
        """


def forms_of(task: Task, config: StagedConfig) -> tuple[Form, ...]:
    """Return the forms that a task's laws may have: several where hops grant several rates, one for each.

    Where a training goes on from a law that uses a rate, the first is of that one.
    """
    if isinstance(config, PathsConfig):
        return (PathForm(task, config),)
    assert isinstance(config, LawConfig)
    if isinstance(task.space, FabricSpace):
        return (FabricForm(task, config),)
    before = task.warm_start.policy if task.warm_start else None
    terms = before.named_terms if isinstance(before, Law) else {}
    used = [before.rate] if isinstance(before, Law) and (terms["pull"] or terms["pace_target"]) else []
    rates = dict.fromkeys((*used, *config.rates_of(task.signals)))
    return tuple(WindowForm(task, config, rate) for rate in rates or (None,))


class WindowForm:
    """Laws for networks: windows in packets that ACKs move."""

    def __init__(self, task: Task, config: LawConfig, rate: str | None) -> None:
        self.config, self.rate, self.signals = config, rate, task.signals
        self.inputs = config.inputs_of(task.signals)

    @property
    def start(self) -> tuple[Terms, Features]:
        """See `Form`: a plain law."""
        return UNUSED | {name: search.start for name, search in PLAIN.items()}, {}

    def started(self, terms: Terms, stage: StageConfig) -> Terms:
        """See `Form`."""
        searched = self.numbers(terms, stage).terms
        new = {name: search.start for name, search in searched.items() if terms[name] == UNUSED[name]}
        return terms | {name: value for name, value in new.items() if name in RICH}

    def numbers(self, terms: Terms, stage: StageConfig) -> Numbers:
        """See `Form`."""
        granted = terms["pull"] == AT_RATE["pull"] and terms["pace_target"] == AT_RATE["pace_target"]
        towards = TOWARDS if self.rate else {}
        new = stage.features == "new" and bool(self.inputs or self.rate)
        by_window = towards if new else PLAIN | RICH | towards
        searched = PLAIN if stage.terms == "plain" and not new else GRANTED if granted else by_window
        known = {"none": (), "own": tuple(FEATURES), "all": (*FEATURES, *self.inputs)}
        features = self.inputs if new else known.get(stage.features, tuple(FEATURES))
        gap_alone = STEEP if self.config.hops == "several" else ()
        coefficients = tuple(
            (name, at)
            for name in features
            for at, output in enumerate(OUTPUTS)
            if output == "gap" or not (granted or name in gap_alone)
        )
        widths = [stage.width * search.width for search in searched.values()]
        return Numbers(searched, coefficients, np.array(widths + [stage.feature_width] * len(coefficients)))

    def law(self, terms: Terms, features: Features) -> Law:
        """See `Form`."""
        bounds: dict[str, Any] = {"bound": self.config.bound, "refresh": self.config.refresh}
        return Law.of(terms, features, inputs=self.inputs if features else (), rate=self.rate, **bounds)

    def other(self, terms: Terms) -> Terms | None:
        """See `Form`: where hops grant a rate, a law that sends at it."""
        if self.rate is None:
            return None
        return terms | (AT_SHARE if self.rate == SHARE else AT_RATE)

    def numbers_of(self, policy: Policy) -> tuple[Terms, Features]:
        """See `Form`."""
        if not isinstance(policy, Law):
            raise InputError(f"warm start: a search of laws goes on from a law, not from {type(policy).__name__}")
        _require_inputs(policy.inputs, self.inputs)
        granted = [part for part in pacing_unit(self.rate) if part != "1"] if self.rate else []
        _require_inputs(granted, self.signals)
        return policy.named_terms, {name: list(row) for name, row in policy.named_features.items()}


class FabricForm:
    """Laws for fabrics: windows in BDP that move once per RTT."""

    def __init__(self, task: Task, config: LawConfig) -> None:
        self.sizes = config.bytes_left
        self.inputs = tuple(name for name in config.inputs_of(task.signals) if name in CARRIED or name in OF_HOSTS)

    @property
    def start(self) -> tuple[Terms, Features]:
        """See `Form`: a delay law from one BDP at line rate."""
        rows = {name: [search.start, 0.0, 0.0] for name, search in FABRIC_FEATURES.items()}
        return {name: search.start for name, search in FABRIC_TERMS.items()}, rows

    def started(self, terms: Terms, stage: StageConfig) -> Terms:
        """See `Form`: all begin with the search."""
        return terms

    def numbers(self, terms: Terms, stage: StageConfig) -> Numbers:
        """See `Form`."""
        inputs = self.inputs if stage.features in ("new", "all") else ()
        new = stage.features == "new" and bool(inputs)
        searched = {} if new else self._known(FABRIC_TERMS)
        own = {} if new or stage.features == "none" else self._known(FABRIC_FEATURES)
        of_signals = {(name, at): width for name in inputs for at, width in enumerate(fabric_signal(name)) if width}
        if not self.sizes:
            of_signals = {place: width for place, width in of_signals.items() if OF_SIGNAL[place[1]] != "× size"}
        widths = [stage.width * each.width for each in (*searched.values(), *own.values())]
        widths += [stage.feature_width * width for width in of_signals.values()]
        return Numbers(searched, (*((name, 0) for name in own), *of_signals), np.array(widths))

    def law(self, terms: Terms, features: Features) -> FabricLaw:
        """See `Form`."""
        own = {name: features[name][0] for name in FABRIC_FEATURES if name in features}
        return FabricLaw.of(terms, own, {name: features[name] for name in self.inputs if name in features})

    def other(self, terms: Terms) -> Terms | None:
        """See `Form`."""
        return None

    def numbers_of(self, policy: Policy) -> tuple[Terms, Features]:
        """See `Form`."""
        if not isinstance(policy, FabricLaw):
            name = type(policy).__name__
            raise InputError(f"warm start: on a fabric a search goes on from a law for fabrics, not from {name}")
        _require_inputs(policy.inputs, self.inputs)
        own = {name: [value, 0.0, 0.0] for name, value in policy.named_features.items()}
        return policy.named_terms, own | {name: list(row) for name, row in policy.named_inputs.items()}

    def _known(self, searches: Mapping[str, Search]) -> dict[str, Search]:
        return {name: each for name, each in searches.items() if self.sizes or name not in OF_SIZE}


class PathForm:
    """Laws that choose ways, beside a transport."""

    def __init__(self, task: Task, config: PathsConfig) -> None:
        self.over = config.over
        self.inputs = tuple(name for name in task.signals if name in CARRIED)
        if self.inputs and task.header is None:
            text = "a law of ways has signals of the network by a header: name headers, not signal sets"
            raise InputError(f"trainer.kind: paths: {', '.join(self.inputs)}: {text}")

    @property
    def start(self) -> tuple[Terms, Features]:
        """See `Form`: a law by hand."""
        return dict(PATH_USUAL), {}

    def started(self, terms: Terms, stage: StageConfig) -> Terms:
        """See `Form`: all begin with the search."""
        return terms

    def numbers(self, terms: Terms, stage: StageConfig) -> Numbers:
        """See `Form`."""
        inputs = self.inputs if stage.features in ("new", "all") else ()
        searched = {} if stage.features == "new" and inputs else PATH_TERMS
        widths = [stage.width * each.width for each in searched.values()] + [stage.width * SIGNAL_WIDTH] * len(inputs)
        return Numbers(searched, tuple((name, 0) for name in inputs), np.array(widths))

    def law(self, terms: Terms, features: Features) -> PathLaw:
        """See `Form`."""
        return PathLaw.of(self.over, terms, {name: features[name][0] for name in self.inputs if name in features})

    def other(self, terms: Terms) -> Terms | None:
        """See `Form`."""
        return None

    def numbers_of(self, policy: Policy) -> tuple[Terms, Features]:
        """See `Form`."""
        if not isinstance(policy, PathLaw):
            raise InputError(f"warm start: a search of ways goes on from a path-law, not from {type(policy).__name__}")
        _require_inputs(policy.signals, self.inputs)
        return policy.named_terms, {name: [value, 0.0, 0.0] for name, value in policy.inputs.items()}


def _require_inputs(names: Sequence[str], inputs: Sequence[str]) -> None:
    if missing := [name for name in names if name not in inputs]:
        raise InputError(f"warm start: the law looks at {', '.join(missing)}, which this set lacks")

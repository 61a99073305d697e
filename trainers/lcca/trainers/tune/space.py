"""Search spaces: the parameters of a policy that are searched, and the values that each may take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Annotated, Any, TypeAlias

from pydantic import Field, model_validator

from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.inputs.model import Model
from lcca.remy_plus.fabric.engine import require_transport
from lcca.remy_plus.policies.hand_designed import HandDesigned
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.policies.tunables import Value
from lcca.remy_plus.switches.knobs import Search
from lcca.remy_plus.switches.transports import Transport

Params: TypeAlias = dict[str, Value]
"""Values by parameter, for all parameters of a space."""

TOLERANCE = 1e-9
"""Of a step: how far a value may lie from a level and still be one."""


class Range(Model):
    """Numbers of a parameter.

    Attributes:
        min: smallest.
        max: largest, included if a whole number of steps above.
        step: between levels; null for any number (1 where the parameter is a whole number).
        log: whether small numbers are drawn as often as large ones; without steps only.
    """

    min: float
    max: float
    step: Annotated[float, Field(gt=0)] | None = None
    log: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> Range:
        if self.min > self.max:
            raise ValueError(f"min ({self.min:g}) must not be above max ({self.max:g})")
        if self.log and (self.step is not None or self.min <= 0):
            raise ValueError("log needs min > 0 and no step")
        return self


Choices = Annotated[tuple[bool | int | float | str, ...], Field(min_length=1)]
"""Values of a parameter that are written out, such as words and flags."""

Axis: TypeAlias = Range | Choices


def ranges_of(searches: Mapping[str, Search]) -> dict[str, Axis]:
    """Return the usual ranges of parameters, by name, as axes."""
    return {key: Range(min=each.low, max=each.high, step=each.step, log=each.log) for key, each in searches.items()}


def parameters_of(policy: Policy) -> Params:
    """Return what can be tuned about a policy, by name.

    Raises:
        InputError: nothing; it is a rule table or a learnt policy.
    """
    if isinstance(policy, HandDesigned | Transport):
        return dict(policy.named_parameters)
    values = {} if isinstance(policy, RuleTable) else asdict(policy)
    if not values or not all(isinstance(value, bool | int | float | str) for value in values.values()):
        raise InputError("policy: only policies with named parameters can be tuned, such as vegas or fixed-window:20")
    return values


def with_parameters(policy: Policy, params: Mapping[str, Value]) -> Policy:
    """Return the policy with some parameters changed.

    Raises:
        InputError: a value that the policy does not take, or values that do not go together.
    """
    if isinstance(policy, HandDesigned | Transport):
        changed = policy.with_parameters(params)
        if isinstance(changed, Transport):
            require_transport(changed)
        return changed
    return replace(policy, **params)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Space:
    """The values of each searched parameter of a policy.

    Attributes:
        policy: from which the other parameters come; its own values are where a search begins.
        axes: by parameter.

    Raises:
        InputError: a parameter that the policy has not, or a value that it does not take.
    """

    policy: Policy
    axes: Mapping[str, Axis]

    def __post_init__(self) -> None:
        """Check every axis against the policy."""
        known = parameters_of(self.policy)
        if not self.axes:
            raise InputError("space: must name at least one parameter")
        for name, axis in self.axes.items():
            if name not in known:
                raise InputError(f"space: no parameter {name[:60]!r}{did_you_mean(name, known)}")
            with about(f"space: {name}"):
                for value in _ends(axis):
                    self._check_alone(name, self.canonical(name, value))

    def _check_alone(self, name: str, value: Value) -> None:
        """Check a value by itself, or with an end of one other axis, such as a threshold that must be below it."""
        if isinstance(self.policy, HandDesigned) and name in self.policy.parameters:
            self.policy.family.parameter(name).checked(value)
            return
        others = [{other: end} for other, axis in self.axes.items() if other != name for end in _ends(axis)]
        if not any(self.fits({**self.start, name: value, **other}) for other in others):
            with_parameters(self.policy, {name: value})

    @property
    def start(self) -> Params:
        """The policy's own values, which need not be levels."""
        values = parameters_of(self.policy)
        return {name: values[name] for name in self.axes}

    def is_whole(self, name: str) -> bool:
        """Tell whether a parameter is a whole number."""
        value = parameters_of(self.policy)[name]
        return isinstance(value, int) and not isinstance(value, bool)

    def step(self, name: str) -> float | None:
        """Return the distance of a range's levels; None where any number will do."""
        axis = self.axes[name]
        assert isinstance(axis, Range)
        return 1.0 if axis.step is None and self.is_whole(name) and not axis.log else axis.step

    def levels(self, name: str) -> list[Value] | None:
        """Return the values that a parameter may take, in order; None for any number of a range."""
        axis = self.axes[name]
        if not isinstance(axis, Range):
            return list(axis)
        step = self.step(name)
        if step is None:
            return [self.canonical(name, axis.min)] if axis.min == axis.max else None
        count = math.floor((axis.max - axis.min) / step + TOLERANCE) + 1
        return [self.canonical(name, axis.min + i * step) for i in range(count)]

    def canonical(self, name: str, value: Value) -> Value:
        """Return a value in its one form: whole where the parameter is, else without the noise of sums of steps."""
        if isinstance(value, bool | str):
            return value
        if self.is_whole(name) and abs(value - round(value)) <= TOLERANCE * max(1.0, abs(value)):
            return round(value)
        return value if self.is_whole(name) else float(f"{value:.12g}")

    def point(self, params: Mapping[str, Value]) -> Params:
        """Return values in their one form, in the order of the axes."""
        return {name: self.canonical(name, params[name]) for name in self.axes}

    def build(self, params: Mapping[str, Value]) -> Policy:
        """Return the policy at a point.

        Raises:
            InputError: the values do not go together, such as an alpha above beta for Vegas.
        """
        return with_parameters(self.policy, self.point(params))

    def fits(self, params: Mapping[str, Value]) -> bool:
        """Tell whether the values go together."""
        try:
            self.build(params)
        except InputError:
            return False
        return True

    def grid(self) -> Iterator[Params]:
        """Yield every point whose values go together, the last parameter changing first.

        Raises:
            InputError: a range without steps.
        """
        for values in product(*(self._stepped(name) for name in self.axes)):
            params = dict(zip(self.axes, values, strict=True))
            if self.fits(params):
                yield params

    def neighbours(self, params: Mapping[str, Value], reach: int) -> list[Params]:
        """Return the points that differ from one in one parameter, by at most `reach` levels (or any other choice).

        The point itself need not be on a level; then its neighbours are the levels around it.
        """
        near = [(name, value) for name in self.axes for value in self._near(name, params[name], reach)]
        points = [self.point({**params, name: value}) for name, value in near]
        return [point for point in points if self.fits(point)]

    def _near(self, name: str, value: Value, reach: int) -> list[Value]:
        levels = self._stepped(name)
        if not isinstance(self.axes[name], Range):
            return [level for level in levels if level != value]
        below = [level for level in levels if _less(level, value)]
        above = [level for level in levels if _less(value, level)]
        return below[-reach:] + above[:reach]

    def _stepped(self, name: str) -> list[Value]:
        levels = self.levels(name)
        if levels is None:
            raise InputError(f"space: {name}: needs a step to be searched level by level")
        return levels


def _ends(axis: Axis) -> tuple[Value, ...]:
    return (axis.min, axis.max) if isinstance(axis, Range) else axis


def key(params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return what equal points have in common."""
    return tuple(sorted(params.items()))


def _less(a: Value, b: Value) -> bool:
    return not isinstance(a, str) and not isinstance(b, str) and a < b

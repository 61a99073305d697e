"""The utilities that are here, by name and as a campaign's file gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from lcca.evaluation.trials.layout import CONFIG
from lcca.evaluation.trials.ratio import (
    Completion,
    CompletionAndSlowdown,
    CompletionTime,
    Queue,
    Ratio,
    Recovery,
    RoundTime,
    Slowdown,
    Throughput,
)
from lcca.evaluation.trials.throughput_delay import FLOOR_THROUGHPUT, REFERENCE_DELAY_US, OfSenders, ThroughputDelay
from lcca.evaluation.trials.utility import Floats, Utility
from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.model import Model
from lcca.inputs.names import ClassName, FileOrName
from lcca.inputs.yaml_text import parse
from lcca.remy_plus.policies.python_control import PythonFunction
from lcca.remy_plus.policies.watched_code import Forbidden
from lcca.remy_plus.rehearsal import require_alike

SHORT_BYTES, LONG_BYTES = 100_000, 1_000_000
"""Short flows are smaller, long ones at least as large, as datacenter papers tell them apart."""

SMALL_BYTES, LARGE_BYTES = 10_000, 10_000_000
"""Small and large flows, as CCEval tells them apart (§2.2.2)."""

UTILITIES: Mapping[str, Utility] = MappingProxyType(
    {
        each.name: each
        for each in (
            ThroughputDelay("default", 1, 1),
            ThroughputDelay("2t", 2, 1),
            ThroughputDelay("2d", 1, 2),
            ThroughputDelay("100t", 100, 1),
            ThroughputDelay("100d", 1, 100),
            Slowdown("slowdown"),
            Slowdown("slowdown-p99", 0.99),
            Slowdown("slowdown-p999", 0.999),
            Slowdown("slowdown-short", below_bytes=SHORT_BYTES),
            Slowdown("slowdown-short-p99", 0.99, below_bytes=SHORT_BYTES),
            Slowdown("slowdown-medium", from_bytes=SHORT_BYTES, below_bytes=LONG_BYTES),
            Slowdown("slowdown-medium-p99", 0.99, from_bytes=SHORT_BYTES, below_bytes=LONG_BYTES),
            Slowdown("slowdown-long", from_bytes=LONG_BYTES),
            Slowdown("slowdown-long-p99", 0.99, from_bytes=LONG_BYTES),
            CompletionTime("fct"),
            CompletionTime("fct-p99", 0.99),
            CompletionTime("fct-short", below_bytes=SHORT_BYTES),
            CompletionTime("fct-short-p99", 0.99, below_bytes=SHORT_BYTES),
            CompletionTime("fct-long", from_bytes=LONG_BYTES),
            CompletionTime("fct-small-p99", 0.99, below_bytes=SMALL_BYTES),
            CompletionTime("fct-small-p999", 0.999, below_bytes=SMALL_BYTES),
            CompletionTime("fct-large-p50", 0.5, from_bytes=LARGE_BYTES),
            Queue("queue"),
            Queue("queue-p95", 0.95),
            Queue("queue-p99", 0.99),
            RoundTime("rounds"),
            Completion("completion"),
            CompletionAndSlowdown("completion-and-slowdown"),
            Throughput("throughput"),
            Recovery("recovery"),
        )
    }
)
"""The utilities that files and options name: the five of the paper; slowdowns and completion times of all flows and by
their size; and what a fabric alone tells."""

DEFAULT = UTILITIES["default"]
"""Throughput and delay with equal weights."""


def utility(name: str) -> Utility:
    """Return a utility by its name, or of a function in Python that it names, as in ``my.py:fair``.

    Raises:
        InputError: if there is none of that name, with a suggestion, or the function cannot be one.
    """
    if name in UTILITIES:
        return UTILITIES[name]
    if ClassName.of(name):
        return OwnUtility.named(name)
    raise InputError(f"unknown utility '{name}'{did_you_mean(name, UTILITIES)}")


def fabric_utility(name: str) -> Ratio:
    """Return a utility that scores trials on a fabric.

    Raises:
        InputError: there is none of that name, or it scores networks alone; names those that there are.
    """
    found = utility(name)
    if not isinstance(found, Ratio):
        known = ", ".join(name for name, each in UTILITIES.items() if isinstance(each, Ratio))
        raise InputError(f"{found.name}: scores networks, not a fabric; one of {known}")
    return found


TRIED = ((1.0, 100.0), (0.25, 400.0), (8.0, 30.0))
"""Throughputs (packets/µs) and delays (µs) with which a function is tried."""


@dataclass(frozen=True)
class OwnUtility(OfSenders):
    """What a sender wants by a function of its throughput and delay, named as in ``my.py:fair``.

    It has two arrays of one shape, throughputs in packets per µs of fair share, `FLOOR_THROUGHPUT` at least, and mean
    delays in µs, and returns the utility of each sender in bits.

    Attributes:
        source: the function, which travels to other processes as its text.

    Raises:
        InputError: there is no such function, it fails, or does not return as many finite numbers; names the line.
    """

    source: PythonFunction

    def __post_init__(self) -> None:
        """Try the function."""
        if self._doubling <= 0:
            raise InputError(f"{self.source.path}: {self.name}: must be larger for twice the throughput")
        together, alone = self.of(*np.transpose(TRIED)), [float(self.of(*each)) for each in TRIED]
        if not np.allclose(together, alone, rtol=1e-12, atol=1e-12):
            raise InputError(
                f"{self.source.path}: {self.name}: a sender's utility must not depend on the others in the arrays, nor "
                "on when it is asked for"
            )

    @classmethod
    def named(cls, text: str) -> OwnUtility:
        """Return the utility that a text such as ``my.py:fair`` names."""
        found = ClassName.of(text)
        if found is None or found.parameters:
            raise InputError(f"{text[:60]!r}: name a function as in my.py:fair")
        own = cls(PythonFunction.named(found))
        require_alike(own.source, _returned, own.source)
        return own

    @property
    def name(self) -> str:
        """The function's."""
        return self.source.name

    def of(self, throughput_share: ArrayLike, delay_us: ArrayLike) -> Floats:
        """Return the utility of each sender in bits, with the throughput floored (packets/µs and µs)."""
        floored = np.maximum(throughput_share, FLOOR_THROUGHPUT)
        throughput, delay = np.broadcast_arrays(floored, np.asarray(delay_us, dtype=np.float64))
        function = self._function
        try:
            bits = np.asarray(function(throughput.copy(), delay.copy()), dtype=np.float64)
        except (KeyboardInterrupt, Forbidden):
            raise
        except Exception as error:
            raise InputError(f"{self.source.at(error.__traceback__)}: {type(error).__name__}: {error}") from error
        self.source.require_allowed()
        if bits.shape != throughput.shape or not np.isfinite(bits).all():
            raise InputError(f"{self.source.path}: {self.name}: must return a finite number for each sender")
        return bits

    @cached_property
    def _function(self) -> Any:
        return self.source.fresh()

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was made of the source."""
        return OwnUtility, (self.source,)

    def margin(self, percent: float) -> float:
        """Return what a change of throughput, in per cent, is worth in bits."""
        return self.difference(percent)

    def content(self) -> dict[str, Any]:
        """Return the hash of the function's text."""
        return {"python": self.source.digest, "function": self.name}

    @cached_property
    def _doubling(self) -> float:
        """Bits per doubling of the throughput, at 1 packet/µs and 100 µs."""
        half, whole = (float(self.of(share, REFERENCE_DELAY_US)) for share in (1.0, 2.0))
        return whole - half


def _returned(source: PythonFunction, times: int) -> list[bytes]:
    """Return what a function, made anew so many times, returns for a grid of throughputs and delays."""
    throughput, delay = np.meshgrid(*np.linspace(np.min(TRIED, axis=0), np.max(TRIED, axis=0), 25).T)
    return [OwnUtility(source).of(throughput.ravel(), delay.ravel()).tobytes() for _ in range(times)]


class UtilityModel(Model):
    """A utility as a campaign's file gives it: one of `UTILITIES` by name, a new name with two weights, or ``my.py:f``.

    Attributes:
        name: of the utility.
        throughput_weight: of log2 of the throughput.
        delay_weight: of log2 of the delay, which is subtracted.
        python: a function of throughput and delay, as in ``my.py:fair`` (`OwnUtility`).
    """

    name: str = Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")
    throughput_weight: float | None = Field(default=None, ge=0)
    delay_weight: float | None = Field(default=None, ge=0)
    python: FileOrName | None = None

    @model_serializer(mode="wrap")
    def _written(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the function where there is none."""
        return {key: value for key, value in content(self).items() if key != "python" or value is not None}

    @model_validator(mode="before")
    @classmethod
    def _fill_in_by_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            own = ClassName.of(value)
            value = {"name": own.name, "python": value} if own else {"name": value}
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            return value
        if value.get("python") is not None:
            return value
        given = {key for key in ("throughput_weight", "delay_weight") if value.get(key) is not None}
        known = None if given else utility(value["name"])
        if isinstance(known, ThroughputDelay):
            return {**value, "throughput_weight": known.throughput_weight, "delay_weight": known.delay_weight}
        if len(given) == 1:
            raise ValueError("throughput_weight and delay_weight are needed, both")
        return value

    @model_validator(mode="after")
    def _weights_make_sense(self) -> UtilityModel:
        if self.throughput_weight == 0 and self.delay_weight == 0:
            raise ValueError("throughput_weight and delay_weight must not both be 0")
        if self.name in UTILITIES and self.build() != UTILITIES[self.name]:
            raise ValueError(f"'{self.name}' is another utility; choose another name")
        return self

    def build(self) -> Utility:
        """Return the utility itself."""
        if self.python is not None:
            return OwnUtility.named(self.python)
        if self.throughput_weight is None or self.delay_weight is None:
            return utility(self.name)
        return ThroughputDelay(self.name, self.throughput_weight, self.delay_weight)


def utilities_of(config: str, names: Iterable[str], files: Mapping[str, str] | None = None) -> dict[str, Utility]:
    """Return utilities by name, of a configuration's text or the paper's, but functions with none of these digests."""
    found = dict(UTILITIES)
    try:
        own = [UtilityModel.model_validate(each).build() for each in parse(config, CONFIG)[0]["utilities"]]
        known = [each for each in own if files is None or each.content().get("python") in (None, *files.values())]
        found |= {each.name: each for each in known}
    except (KeyError, TypeError, ValueError):  # a configuration of another kind
        pass
    return {name: found[name] for name in names if name in found}

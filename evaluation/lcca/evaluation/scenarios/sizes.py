"""Distributions of flow sizes: packaged tables, tables of the user in YAML or CSV, lognormal and uniform ones."""

from __future__ import annotations

import math
import os
from functools import cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field, ValidationError, model_validator
from scipy import special

from lcca.inputs.errors import InputError, did_you_mean, require
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.inputs.names import FileOrName
from lcca.inputs.numbers import real
from lcca.inputs.problems import problem_texts
from lcca.inputs.tables import number, read_table
from lcca.inputs.units import PACKET_BYTES
from lcca.inputs.validation import config_of, read_config
from lcca.remy_plus.core.elementary import exp
from lcca.remy_plus.workload import FlowSizes

LOGNORMAL_POINTS = 4000
LARGEST_BYTES = 1e12
"""Of a flow."""


class SizeTable(Model):
    """A cumulative distribution of flow sizes as a YAML file gives it.

    Attributes:
        name: how it is called.
        source: where it was measured.
        points: [bytes, per cent], from 0 to 100 per cent, neither falling.
    """

    name: str
    source: str
    points: Annotated[tuple[tuple[float, float], ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _rises(self) -> SizeTable:
        falls = [at for at, (a, b) in enumerate(pairwise(self.points), 1) if b[0] < a[0] or b[1] < a[1]]
        problems = {at: "sizes and per cents must not fall" for at in falls}
        (smallest, first), (largest, last) = self.points[0], self.points[-1]
        if first != 0:
            problems[0] = (
                f"points must begin at 0 per cent, not at {first:g}: put one at 0 before the first, of its "
                f"{smallest:g} bytes if so many flows have exactly this size, or of 0 if they have any below it"
            )
        if last != 100 or smallest < 0:
            problems[len(self.points) - 1] = "points must end at 100 per cent, with sizes >= 0"
        if largest > LARGEST_BYTES:
            problems[len(self.points) - 1] = f"sizes are at most {LARGEST_BYTES:g} bytes"
        raise_problems("sizes", [problem_at(("points", at), text) for at, text in problems.items()])
        return self

    def build(self, packet_bytes: float = PACKET_BYTES) -> FlowSizes:
        """Return the distribution in packets."""
        sizes, shares = (np.array(column) for column in zip(*self.points, strict=True))
        return FlowSizes(self.name, tuple(sizes / packet_bytes), tuple(shares / 100))


def flow_sizes(name_or_path: str | os.PathLike[str], packet_bytes: float = PACKET_BYTES) -> FlowSizes:
    """Return a packaged distribution, one from a YAML or CSV file, ``lognormal:MU:SIGMA`` or ``uniform:LOW:HIGH``.

    A CSV file has the columns bytes and cumulative (or cdf), the share of flows up to that size, from 0 to 1 or 100 per
    cent; sizes may have units. MU and SIGMA are those of the natural logarithm of bytes, LOW and HIGH bytes.

    Raises:
        InputError: an unknown name, or a file or parameters that cannot be used.
    """
    name = os.fspath(name_or_path)
    if name.startswith("lognormal:"):
        return _lognormal_by_name(name, packet_bytes)
    if name.startswith("uniform:"):
        return _uniform_by_name(name, packet_bytes)
    if name.endswith((".yaml", ".yml")):
        return read_config(name, SizeTable).build(packet_bytes)
    if name.endswith(".csv"):
        return _from_csv(name).build(packet_bytes)
    return _packaged(name, packet_bytes)


_COLUMNS = dict.fromkeys(("bytes", "cumulative"), number(">= 0 and finite", lambda value: value >= 0))


def _from_csv(path: str) -> SizeTable:
    table = read_table(path, _COLUMNS, aliases={"cdf": "cumulative"}, limit=1 << 20)
    sizes, shares = table.columns["bytes"], table.columns["cumulative"]
    require(bool(shares), f"{path}: has no rows; give two or more")
    whole = shares[-1]
    if whole not in (1, 100):
        table.require([(len(shares) - 1, "cumulative", f"must end at 1, or at 100 per cent, not at {whole:g}")])
    points = tuple((size, share * 100 / whole) for size, share in zip(sizes, shares, strict=True))
    try:
        return SizeTable(name=Path(path).stem, source=path, points=points)
    except ValidationError as error:
        texts = problem_texts(error.errors(include_url=False), SizeTable, {"points": list(points)})
        table.require((int(keys[1]) if len(keys) > 1 else 0, "", text) for keys, text in texts.items())
        raise


def _usable(name: str) -> str:
    flow_sizes(name)
    return name


NamedSizes = Annotated[FileOrName, AfterValidator(_usable)]
"""A key that names sizes of flows, as `flow_sizes` takes them."""


@cache
def _packaged(name: str, packet_bytes: float) -> FlowSizes:
    """Return a packaged distribution: read once, since every trial asks for it."""
    folder = resources.files("lcca.evaluation.scenarios") / "flow_sizes"
    known = sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml"))
    if name not in known:
        raise InputError(f"unknown flow sizes {name[:60]!r}{did_you_mean(name, known)}")
    file = folder / f"{name}.yaml"
    return config_of(file.read_bytes(), file.name, SizeTable).build(packet_bytes)


def lognormal(mu: float, sigma: float, packet_bytes: float = PACKET_BYTES) -> FlowSizes:
    """Return a lognormal distribution of bytes as a fine table, cut at its quantiles 1e-6 and 1 − 1e-9."""
    bulk = np.linspace(1e-6, 0.99, LOGNORMAL_POINTS // 2)
    tail = 1 - exp(np.linspace(math.log(0.01), math.log(1e-9), LOGNORMAL_POINTS // 2))
    shares = np.unique(np.concatenate([bulk, tail]))
    sizes = exp(mu + sigma * special.ndtri(shares)) / packet_bytes
    return FlowSizes(
        f"lognormal:{mu:g}:{sigma:g}", (0.0, *sizes.tolist(), float(sizes[-1])), (0.0, *shares.tolist(), 1.0)
    )


def _lognormal_by_name(name: str, packet_bytes: float) -> FlowSizes:
    try:
        mu, sigma = (real(part) for part in name.split(":")[1:])
    except ValueError:
        raise InputError(f"{name[:60]!r}: write lognormal:MU:SIGMA, as in lognormal:11:2") from None
    if not (math.isfinite(mu) and 0 < sigma < 10 and abs(mu) < 30):
        raise InputError(f"{name[:60]!r}: MU must be within ±30 and SIGMA between 0 and 10")
    return lognormal(mu, sigma, packet_bytes)


def _uniform_by_name(name: str, packet_bytes: float) -> FlowSizes:
    try:
        low, high = (real(part) for part in name.split(":")[1:])
    except ValueError:
        raise InputError(f"{name[:60]!r}: write uniform:LOW:HIGH in bytes, as in uniform:3000:6000") from None
    if not 0 <= low < high <= LARGEST_BYTES:
        raise InputError(f"{name[:60]!r}: LOW must be from 0 to below HIGH, and HIGH at most {LARGEST_BYTES:g} bytes")
    return FlowSizes(f"uniform:{low:g}:{high:g}", (low / packet_bytes, high / packet_bytes), (0.0, 1.0))

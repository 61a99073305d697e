"""Distributions of flow sizes: packaged tables, tables of the user, lognormal and uniform ones."""

from __future__ import annotations

import math
import os
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator
from scipy import special

from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES
from lcca.inputs.validation import config_of, read_config
from lcca.remy_plus.elementary import exp
from lcca.remy_plus.workload import FlowSizes

LOGNORMAL_POINTS = 4000


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
        sizes, shares = zip(*self.points, strict=True)
        if any(b < a for column in (sizes, shares) for a, b in pairwise(column)):
            raise ValueError("sizes and per cents must not fall")
        if shares[0] != 0 or shares[-1] != 100 or sizes[0] < 0:
            raise ValueError("points must go from 0 to 100 per cent, with sizes >= 0")
        return self

    def build(self, packet_bytes: float = PACKET_BYTES) -> FlowSizes:
        """Return the distribution in packets."""
        sizes, shares = (np.array(column) for column in zip(*self.points, strict=True))
        return FlowSizes(self.name, tuple(sizes / packet_bytes), tuple(shares / 100))


def flow_sizes(name_or_path: str | os.PathLike[str], packet_bytes: float = PACKET_BYTES) -> FlowSizes:
    """Return a packaged distribution by name, one from a YAML file, ``lognormal:MU:SIGMA`` or ``uniform:LOW:HIGH``.

    MU and SIGMA are those of the natural logarithm of bytes, LOW and HIGH bytes.

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
    return _packaged(name, packet_bytes)


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
        mu, sigma = (float(part) for part in name.split(":")[1:])
    except ValueError:
        raise InputError(f"{name[:60]!r}: write lognormal:MU:SIGMA, as in lognormal:11:2") from None
    if not (math.isfinite(mu) and 0 < sigma < 10 and abs(mu) < 30):
        raise InputError(f"{name[:60]!r}: MU must be within ±30 and SIGMA between 0 and 10")
    return lognormal(mu, sigma, packet_bytes)


def _uniform_by_name(name: str, packet_bytes: float) -> FlowSizes:
    try:
        low, high = (float(part) for part in name.split(":")[1:])
    except ValueError:
        raise InputError(f"{name[:60]!r}: write uniform:LOW:HIGH in bytes, as in uniform:3000:6000") from None
    if not 0 <= low < high <= 1e12:
        raise InputError(f"{name[:60]!r}: LOW must be from 0 to below HIGH, and HIGH at most 1e12 bytes")
    return FlowSizes(f"uniform:{low:g}:{high:g}", (low / packet_bytes, high / packet_bytes), (0.0, 1.0))

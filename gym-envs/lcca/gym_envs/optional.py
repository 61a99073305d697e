"""What of the parts that only some users need is installed: the extras of ``lcca``, and ns-3."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata

from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.errors import InputError
from lcca.inputs.studies import added

EXTRAS: dict[str, tuple[str, ...]] = {
    "runs": ("pyarrow", "matplotlib", "jinja2"),
    "dna": ("protobuf",),
    "drl": ("gymnasium", "stable-baselines3", "torch", "tensorboard"),
    "pettingzoo": ("gymnasium", "pettingzoo"),
    "tune": ("optuna",),
    "ray": ("ray",),
    "completion": ("shtab",),
    "serve": ("flask",),
    "mlflow": ("mlflow-skinny", "alembic"),
    **{name: needed for name, (_, needed) in added("extras").items()},
}
"""Distributions of each extra, as in ``pyproject.toml``."""


@dataclass(frozen=True)
class Part:
    """A part that may be missing.

    Attributes:
        name: of the extra, or ``ns-3``.
        usable: whether all of it is installed.
        detail: its versions, or what is missing.
        fix: how to install it; empty where it is usable.
    """

    name: str
    usable: bool
    detail: str
    fix: str = ""


def optional_parts() -> list[Part]:
    """Return every extra and ns-3, usable or not; nothing of an extra is imported."""
    return [*(_extra(name) for name in EXTRAS), _ns3()]


def _extra(name: str) -> Part:
    versions: dict[str, str | None] = {}
    for package in EXTRAS[name]:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    absent = [package for package, version in versions.items() if version is None]
    if absent:
        return Part(name, False, f"not installed: {', '.join(absent)}", f"pip install 'lcca[{name}]'")
    return Part(name, True, ", ".join(f"{package} {version}" for package, version in versions.items()))


def _ns3() -> Part:
    try:
        return Part("ns-3", True, installed())
    except InputError as error:
        detail, _, fix = str(error).partition(": ")
        return Part("ns-3", False, detail, fix)

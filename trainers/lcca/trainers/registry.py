"""Which trainers there are: those of this package, and those that other installed packages add.

Another package adds one by an entry point in its ``pyproject.toml``::

    [project.entry-points."lcca.trainers"]
    my-search = "my_package.my_search:MySearchConfig"
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from pkgutil import resolve_name

from lcca.trainers.base import Trainer, TrainerConfig

TRAINERS = {
    "rplus": "lcca.trainers.rplus.config:RplusConfig",
    "law": "lcca.trainers.law.config:LawConfig",
    "paths": "lcca.trainers.law.paths:PathsConfig",
    "ppo": "lcca.trainers.drl.config:PpoConfig",
}
"""Configurations by `kind`. Each names its trainer."""

GROUP = "lcca.trainers"
"""Entry points of other packages: as above, a kind and its configuration."""


@cache
def configurations() -> dict[str, type[TrainerConfig]]:
    """Return the configuration of every trainer by its kind; the R+ search, which is the default, first."""
    others = {each.name: each.value for each in entry_points(group=GROUP)}
    return {kind: resolve_name(name) for kind, name in (TRAINERS | others | TRAINERS).items()}


def trainer_class(config: TrainerConfig) -> type[Trainer]:
    """Return the trainer that a configuration is for; imports it."""
    found: type[Trainer] = resolve_name(config.trainer)
    return found

"""Environments to learn in, over the fast engine and ns-3; and ns-3 as a simulator of trials.

``import lcca.gym_envs`` registers the environments' ids with Gymnasium, now or as soon as that is imported: worker
processes and commands that need no environment do without it and start quickly.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class WithGymnasium:
    """Finds Gymnasium as Python does, and registers the environments once it is loaded."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return where Gymnasium is; None of all else."""
        spec = PathFinder.find_spec(name, path, target) if name == "gymnasium" else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_register(module: ModuleType) -> None:
            load(module)
            import_module(f"{__name__}.registration")

        spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec


if sys.modules.get("gymnasium") is not None:
    import_module(f"{__name__}.registration")
else:
    sys.meta_path.insert(0, WithGymnasium)

"""The callbacks of Stable-Baselines3 that a configuration names, and when a training calls them.

Each round is one call of ``learn`` for them: they are made anew and begin with the plain attributes (numbers, texts,
tensors, and lists and dictionaries of these) that they had at the end of the round before. So a training that was
stopped goes on with the same bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

import numpy as np

from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.inputs.names import ClassName
from lcca.remy_plus.policies.python_control import PythonClass, parameters_of, said
from lcca.trainers.drl.collector import Experience

try:
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError as error:
    raise missing("stable-baselines3", "callbacks") from error

NOT_KEPT = ("model", "parent", "locals", "globals")
"""Attributes of every callback that a training sets."""

EPISODES = 100
"""Of flows, that `ep_info_buffer` holds at most."""


class Callbacks:
    """Callbacks as SB3's `learn` calls them, with ``actions``, ``rewards`` and ``dones`` of a step in their `locals`.

    A step is as many decisions as there are environments. What they change in `model` has effect from the next rollout
    on. `num_timesteps` counts decisions with an outcome. `model` is SB3's PPO without an environment; its networks see
    inputs brought to mean 0 and deviation 1.

    Args:
        names: as in ``my.py:EarlyStop`` or ``package.module:EarlyStop:patience=5``.
        model: SB3's.
        kept: their attributes at the end of the round before.

    Raises:
        InputError: there is no such class, it is no callback, or it fails; names the line.
    """

    def __init__(self, names: Sequence[str], model: Any = None, kept: Sequence[dict[str, Any]] = ()) -> None:
        self.model = model
        self._own = [_made(name) for name in names]
        for (_, callback), attributes in zip(self._own, kept, strict=False):
            vars(callback).update(attributes)

    def begin(self) -> None:
        """Begin a round."""
        self.model.ep_info_buffer = deque(maxlen=EPISODES)
        self._each(lambda callback: callback.init_callback(self.model))
        self._each(lambda callback: callback.on_training_start({"self": self.model}, {}))

    def rollout_begins(self) -> None:
        """Begin a rollout."""
        self._each(lambda callback: callback.on_rollout_start())

    def step(self, part: Experience) -> bool:
        """Count decisions that have their outcomes now; return whether the training is to go on."""
        self.model.num_timesteps += len(part)
        told = {"actions": part.action, "rewards": part.reward, "dones": part.ended != 0}
        self._each(lambda callback: callback.update_locals(told))
        return not len(part) or all(self._each(lambda callback: callback.on_step() is not False))

    def rollout_ends(self, episodes: Sequence[tuple[float, int, float]]) -> None:
        """End a rollout, in which these flows ended: return, decisions, seconds."""
        self.model.ep_info_buffer.extend(dict(zip("rlt", each, strict=True)) for each in episodes)
        self._each(lambda callback: callback.on_rollout_end())

    def end(self) -> list[dict[str, Any]]:
        """End a round, and return what is kept for the next."""
        self._each(lambda callback: callback.on_training_end())
        return [_plain_ones(vars(callback)) for _, callback in self._own]

    def _each(self, call: Callable[[BaseCallback], Any]) -> list[Any]:
        answers = []
        for source, callback in self._own:
            with _blamed(source):
                answers.append(call(callback))
        return answers


def _made(name: str) -> tuple[PythonClass, BaseCallback]:
    found = ClassName.of(name)
    if found is None:
        raise InputError(f"callbacks: {name[:60]!r}: name a class as in my.py:EarlyStop")
    source = PythonClass.named(found)
    with _blamed(source):
        # it may read what it wrote, and have lcca read files
        made_from: Any = source.fresh(watched=False) if found.is_file else resolve_name(f"{found.where}:{found.name}")
        made = made_from(**dict(parameters_of(found.parameters)))
        if not isinstance(made, BaseCallback):
            base = f"{BaseCallback.__module__}.{BaseCallback.__name__}"
            raise InputError(f"{source.line_of()}: {found.name} is no callback; derive it from {base}")
        return source, made


@contextmanager
def _blamed(source: PythonClass) -> Iterator[None]:
    """Turn what a callback raises into an error that names its line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{source.at(error.__traceback__)}: {source.name}: {said(error)}") from error


def _plain_ones(attributes: dict[str, Any]) -> dict[str, Any]:
    plain = ((name, _plain(value)) for name, value in attributes.items() if name not in NOT_KEPT)
    return {name: value for name, value in plain if value is not _OTHER}


_OTHER = object()


def _plain(value: Any) -> Any:
    """Return a value of plain parts, NumPy's numbers as Python's; `_OTHER` if a part is something else."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        parts = [_plain(each) for each in value]
        return _OTHER if any(part is _OTHER for part in parts) else type(value)(parts)
    if type(value) is dict:
        keys, values = _plain(list(value)), _plain(list(value.values()))
        return _OTHER if keys is _OTHER or values is _OTHER else dict(zip(keys, values, strict=True))
    return value if value is None or type(value) in (bool, int, float, str) else _OTHER

"""What every environment takes as an action, and how it refuses what is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError


def action_array(space: Any, action: Any) -> NDArray[Any]:
    """Return an action in the type and shape of its space; numbers of a box may lie beyond its bounds.

    Args:
        space: a Box, Discrete or MultiDiscrete of Gymnasium.
        action: what the agent chose.

    Raises:
        InputError: it is text or a dict, has another size, is NaN or infinite, or is no index of a discrete space. The
            episode goes on.
    """
    discrete = np.dtype(space.dtype).kind in "iu"
    try:
        array = np.asarray(action)
    except ValueError:  # ragged
        array = np.asarray(None)
    if array.dtype.kind in "iuf" and array.size == math.prod(space.shape):
        with np.errstate(over="ignore", invalid="ignore"):
            cast = array.reshape(space.shape).astype(space.dtype)
        if space.contains(cast) and (cast == array.reshape(space.shape)).all() if discrete else np.isfinite(cast).all():
            return cast
    raise InputError(f"step: expected an action in {space}, got {action!r:.60}")

"""Trained networks as JSON values, for ``policy.json``: single-precision numbers in their shortest exact form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.remy_plus.policies.agents import agent_from_json
from lcca.remy_plus.policies.mlp import Floats, Layer, Lstm, MlpPolicy

T = TypeVar("T")

_LAYER = ("weights", "biases", "activation")
_MEMORY = ("from_input", "from_hidden", "biases")
_AGENT = ("history", "decisions", "steering")


def mlp_to_json(policy: MlpPolicy) -> dict[str, Any]:
    """Return the keys of a policy file that are its own; the signals stand beside them."""
    agent = policy.agent.as_json()
    del agent["signals"]
    content = {"agent": agent, "layers": [_layer_to_json(layer) for layer in policy.layers]}
    memory = policy.memory
    if memory is not None:
        content["memory"] = {name: shortest(getattr(memory, name)) for name in _MEMORY}
    return content


def mlp_from_json(document: Mapping[str, Any]) -> MlpPolicy:
    """Return the policy of a parsed file.

    Raises:
        InputError: whatever is wrong with it, by key.
    """
    signals = document.get("signals")
    if not isinstance(signals, list):
        raise InputError("signals: must be a list of names")
    given = _object(document, "agent")
    _check_keys(given, _AGENT, "agent")
    with about("agent"):
        agent = agent_from_json({**given, "signals": signals})
    layers = document.get("layers")
    if not isinstance(layers, list):
        raise InputError("layers: must be a list")
    made = tuple(_layer(layer, f"layers[{i}]") for i, layer in enumerate(layers))
    memory = None if document.get("memory") is None else _memory(_object(document, "memory"))
    return MlpPolicy(agent, made, memory)


def shortest(array: Floats) -> list[Any]:
    """Return nested lists of the doubles that have the fewest digits among those that round to these floats."""
    texts = array.astype(str)  # NumPy writes the fewest digits that tell a float32 from its neighbours
    doubles = texts.astype(np.float64)
    exact = array.astype(np.float64)
    listed: list[Any] = np.where(doubles.astype(np.float32) == array, doubles, exact).tolist()
    return listed


def _layer_to_json(layer: Layer) -> dict[str, Any]:
    return {
        "weights": shortest(layer.weights),
        "biases": shortest(layer.biases),
        "activation": layer.activation,
    }


def _layer(value: Any, where: str) -> Layer:
    if not isinstance(value, dict):
        raise InputError(f"{where}: must be an object")
    _check_keys(value, _LAYER, where)
    return _made(Layer, value, _LAYER, where)


def _memory(value: Mapping[str, Any]) -> Lstm:
    _check_keys(value, _MEMORY, "memory")
    return _made(Lstm, value, _MEMORY, "memory")


def _made(kind: Callable[..., T], value: Mapping[str, Any], keys: tuple[str, ...], where: str) -> T:
    missing = [key for key in keys if key not in value]
    if missing:
        raise InputError(f"{where}.{missing[0]}: missing")
    with about(where):
        return kind(**{key: _numbers(value[key], key) if key != "activation" else value[key] for key in keys})


def _numbers(value: Any, key: str) -> Floats:
    """Return an array of what must be numbers, nested in lists; not text, true or false that NumPy would take."""
    try:
        array = np.array(value)
    except ValueError as error:
        raise InputError(f"{key}: rows must be equally long") from error
    if array.dtype.kind not in "iuf":
        raise InputError(f"{key}: must be lists of numbers")
    with np.errstate(over="ignore"):  # too large a number is told as one that is not finite
        return array.astype(np.float32)


def _object(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = document.get(key)
    if not isinstance(value, Mapping):
        raise InputError(f"{key}: must be an object")
    return value


def _check_keys(value: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in value:
        if key not in known:
            raise InputError(f"{where}: unknown key {key[:60]!r}{did_you_mean(key, known)}")

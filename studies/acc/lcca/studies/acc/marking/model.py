"""The network by which ACC's ports choose their marking, and its file (Yan et al., SIGCOMM 2021)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from lcca.inputs.errors import InputError, about
from lcca.inputs.files import read_perhaps_with_digest
from lcca.inputs.json_values import parsed
from lcca.inputs.model import Model
from lcca.inputs.validation import validate_json
from lcca.remy_plus.policies.layers import Layer
from lcca.remy_plus.policies.mlpjson import LayerContent, layer_to_json
from lcca.studies.acc.marking.ports import NUMBERS, Indices, Single, Templates

Heads = Literal["parts", "joint"]


class AccModel(Model):
    """A network that gives the value of every template to a port, and what it was trained for.

    Attributes:
        format: of the file.
        kind: tells it from other files.
        interval_us: from look to look in its training.
        delay_us: from a look to when what was set held.
        history: intervals that it sees.
        heads: ``parts``: the value of a template is the sum of those of its parts; ``joint``: each has its own.
        templates: that it chooses from.
        layers: from (6 · history) inputs to the values; ReLU between them.
        provenance: where it comes from; no times, so that equal trainings give equal bytes.
    """

    format: Literal[1] = 1
    kind: Literal["acc"] = "acc"
    interval_us: Annotated[float, Field(ge=1, le=1e9)]
    delay_us: Annotated[float, Field(ge=0, le=1e9)]
    history: Annotated[int, Field(ge=1, le=100)]
    heads: Heads
    templates: Templates
    layers: Annotated[tuple[LayerContent, ...], Field(min_length=1)]
    provenance: dict[str, Any] = Field(default={})

    @model_validator(mode="after")
    def _fits(self) -> AccModel:
        width = NUMBERS * self.history
        for i, layer in enumerate(self.network):
            if layer.weights.shape[1] != width:
                raise ValueError(f"layers.{i}: takes {layer.weights.shape[1]} numbers, but there are {width}")
            width = len(layer.biases)
        if width != sum(self._factors):
            raise ValueError(f"layers: the last one gives {width} values, but {self.heads} needs {sum(self._factors)}")
        return self

    @cached_property
    def network(self) -> tuple[Layer, ...]:
        """The layers as arrays."""
        return tuple(layer.build(f"layers.{i}") for i, layer in enumerate(self.layers))

    @property
    def _factors(self) -> tuple[int, ...]:
        return self.templates.shape if self.heads == "parts" else (int(np.prod(self.templates.shape)),)

    def best(self, view: Single) -> Indices:
        """Return (ports,) the template that is worth most to each of (ports, 6 · history) views."""
        values = view.astype(np.float64)
        for layer in self.network:
            # Not by BLAS, whose sums differ between machines and numbers of threads.
            values = np.einsum("pi,oi->po", values, layer.weights.astype(np.float64)) + layer.biases
            if layer.activation == "relu":
                values = np.maximum(values, 0)
        parts = np.split(values, np.cumsum(self._factors)[:-1], axis=1)
        best = np.ravel_multi_index(tuple(each.argmax(axis=1) for each in parts), self._factors)
        return np.asarray(best, dtype=np.int64)

    def dumps(self) -> bytes:
        """Return the content of its file."""
        return (json.dumps(self.model_dump(mode="json"), sort_keys=True, allow_nan=False) + "\n").encode()


def content_of_layers(layers: Sequence[Layer]) -> tuple[LayerContent, ...]:
    """Return layers as a file has them."""
    return tuple(LayerContent.model_validate(layer_to_json(layer)) for layer in layers)


def read_acc_model(path: str | os.PathLike[str]) -> AccModel:
    """Read the file of a model; where its digest lies beside it, as in a run's folder, it is checked.

    Raises:
        InputError: it cannot be read, is no such model or is damaged; begins with the file's name.
    """
    data = read_perhaps_with_digest(path, "take it from its run again")
    with about(path):
        content = parsed(data)
        if not isinstance(content, dict) or content.get("kind") != "acc":
            raise InputError("not the model of ACC; `lcca acc` writes one for a configuration with fabric:")
        return validate_json(content, AccModel)

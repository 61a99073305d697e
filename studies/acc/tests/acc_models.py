"""Models of ACC that nobody has trained."""

from typing import Any

import numpy as np

from lcca.remy_plus.policies.layers import Layer
from lcca.studies.acc.marking.model import AccModel, content_of_layers
from lcca.studies.acc.marking.ports import NUMBERS, Templates

FEW = Templates(kmin_bytes=(5e3, 20e3), kmax_bytes=(40e3, 100e3), pmax=(0.1, 1.0))


def small_model(seed: int = 1, history: int = 2, heads: str = "parts", **changes: Any) -> AccModel:
    """Return random layers over eight templates."""
    draws = np.random.default_rng(seed)
    widths = [NUMBERS * history, 8, 6 if heads == "parts" else 8]
    layers = [
        Layer(draws.normal(size=(b, a)), draws.normal(size=b), kind)
        for a, b, kind in zip(widths, widths[1:], ("relu", "linear"), strict=False)
    ]
    given = {"interval_us": 10.0, "delay_us": 2.0, "templates": FEW, "layers": content_of_layers(layers)}
    return AccModel(history=history, heads=heads, **(given | changes))


def always(template: int) -> AccModel:
    """Return a model that is of one mind."""
    values = Layer(np.zeros((8, NUMBERS)), np.arange(8) == template)
    return small_model(history=1, heads="joint", layers=content_of_layers([values]))

"""Set-ups of the literature, as values for what a configuration does not name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

AURORA: Mapping[str, Any] = MappingProxyType(
    {
        "flows": "one",
        "history": 10,
        "decisions": {"rtts": 0.5, "round_trip": "latest"},
        "steering": {"kind": "rate", "multiple": 0.025},
        "reward": {"kind": "aurora"},
        "hidden": (32, 16),
        "activation": "tanh",
        "discount": 0.99,
        "discount_per": "decision",
        "learning_rate": 1e-3,
        "anneal": True,
        "rollout": 8192,
        "batch": 2048,
        "epochs": 4,
        "clip": 0.2,
        "gae": 0.95,
        "entropy": 0.01,
        "noise": 1.0,
        "normalise": "batch",
        "steps": 3_936_000,
    }
)
"""Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion Control", ICML 2019, and its code.

One flow alone on its network, monitor intervals of half a round trip, a change of the rate by at most 2.5 %, ten
intervals of history, layers of 32 and 16, the reward 10 · throughput − 1000 · latency − 2000 · loss. Its signals are
those of the signal set in `configs/drl/aurora.yaml`; its networks are the campaign's.
"""

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType({"aurora": AURORA})


def with_preset(given: Mapping[str, Any], preset: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, with the preset's values where nothing was."""
    merged: dict[str, Any] = dict(preset)
    for key, value in given.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = {**merged[key], **value} if both and same_kind(value, merged[key]) else value
    return merged


def same_kind(value: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two mappings of a union may be merged: they name the same kind, or one names none."""
    return "kind" not in value or value.get("kind") == other.get("kind", value.get("kind"))

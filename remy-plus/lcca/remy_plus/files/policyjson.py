"""The values inside a ``policy.json``, from parsed JSON to policies; every error names its key."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from lcca.inputs.errors import LONGEST_NUMBER, InputError, about, did_you_mean
from lcca.remy_plus.files.mlpjson import mlp_from_json
from lcca.remy_plus.policies.hand_designed import Classical
from lcca.remy_plus.policies.mlp import MlpPolicy
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy
from lcca.remy_plus.policies.rules import MOST_RULES, Array, RuleTable, check_signals
from lcca.remy_plus.policies.tiling import tiling

KINDS: dict[type[Any], str] = {
    RuleTable: "rule-table",
    MlpPolicy: "mlp",
    FixedWindow: "fixed-window",
    FixedRate: "fixed-rate",
    Aimd: "aimd",
    Classical: "classical",
}
_RULE_KEYS = ("lower", "upper", "increment", "multiple", "pacing", "uses")


def parse(text: str) -> dict[str, Any]:
    """Return the JSON object in the text.

    Raises:
        InputError: no JSON, not an object, a key twice in one object, NaN or Infinity, or nested too deep.
    """
    try:
        document = json.loads(text, parse_int=_whole, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        nested = isinstance(error, RecursionError)
        raise InputError("not a policy: nested too deep" if nested else f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise InputError("not a policy: an object with 'format' and 'kind' is needed")
    return document


def kind_of(document: Mapping[str, Any]) -> type[Any]:
    """Return the class of the policy that a parsed ``policy.json`` holds.

    Raises:
        InputError: no kind, or an unknown one (with a suggestion).
    """
    kind = document.get("kind")
    for policy_type, name in KINDS.items():
        if kind == name:
            return policy_type
    if not isinstance(kind, str):
        raise InputError(f"kind: must be one of {', '.join(KINDS.values())}")
    raise InputError(f"kind: unknown kind {kind[:60]!r}{did_you_mean(kind, KINDS.values())}")


def policy_of(document: Mapping[str, Any]) -> Policy:
    """Return the policy of a parsed ``policy.json``.

    Raises:
        InputError: whatever is wrong with it, by key.
    """
    policy_type = kind_of(document)
    if policy_type is RuleTable:
        return _table(document)
    if policy_type is MlpPolicy:
        return mlp_from_json(document)
    return _classical(document) if policy_type is Classical else _simple(policy_type, document)


def text_or_null(document: Mapping[str, Any], key: str) -> str | None:
    """Return a text, or None where the key is missing or null."""
    value = document.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{key}: must be text or null, got {value!r:.60}")
    return value


def uses_of(document: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the look-ups per rule, or None if some rule does not tell."""
    uses = [rule.get("uses") for rule in document["rules"]]
    if any(use is None for use in uses):
        return None
    for i, use in enumerate(uses):
        if isinstance(use, bool) or not isinstance(use, int):
            raise InputError(f"rules[{i}].uses: must be a whole number, got {use!r:.60}")
    return tuple(uses)


def _parameters(document: Mapping[str, Any]) -> dict[str, Any]:
    if document.get("signals", []) != []:
        raise InputError(f"signals: a {document['kind']} policy has none; write []")
    parameters = document.get("parameters", {})
    if not isinstance(parameters, dict):
        raise InputError("parameters: must be an object")
    return parameters


def _classical(document: Mapping[str, Any]) -> Classical:
    name = document.get("name")
    if not isinstance(name, str):
        raise InputError("name: must name a congestion control")
    with about("parameters"):
        return Classical(name, _parameters(document))


def _simple(policy_type: type[Any], document: Mapping[str, Any]) -> Policy:
    parameters = _parameters(document)
    known = [f.name for f in fields(policy_type)]
    for key in parameters:
        if key not in known:
            raise InputError(f"parameters: unknown key {key[:60]!r}{did_you_mean(key, known)}")
    try:
        with about("parameters"):
            policy: Policy = policy_type(**parameters)
    except TypeError as error:
        raise InputError(f"parameters: {', '.join(known)} needed") from error
    return policy


def _table(document: Mapping[str, Any]) -> RuleTable:
    signals = document.get("signals")
    if not isinstance(signals, list):
        raise InputError("signals: must be a list of names")
    check_signals(signals)
    rules = _rules(document)
    table = RuleTable(
        tuple(signals),
        _boxes(rules, "lower", len(signals)),
        _boxes(rules, "upper", len(signals)),
        _column(rules, "increment"),
        _column(rules, "multiple"),
        _column(rules, "pacing"),
        document.get("pacing", "missing"),
    )
    tiling(table)
    return table


def _rules(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    rules = document.get("rules")
    if not isinstance(rules, list) or not 1 <= len(rules) <= MOST_RULES:
        raise InputError(f"rules: must be a list of 1 to {MOST_RULES:,} rules")
    for i, rule in enumerate(rules):
        if not isinstance(rule, dict):
            raise InputError(f"rules[{i}]: must be an object")
        for key in rule:
            if key not in _RULE_KEYS:
                raise InputError(f"rules[{i}]: unknown key {key[:60]!r}{did_you_mean(key, _RULE_KEYS)}")
    return rules


def _boxes(rules: list[dict[str, Any]], key: str, k: int) -> Array:
    return np.array([_bounds(rule, key, i, k) for i, rule in enumerate(rules)])


def _column(rules: list[dict[str, Any]], key: str) -> Array:
    return np.array([_number(rule.get(key), f"rules[{i}].{key}") for i, rule in enumerate(rules)])


def _bounds(rule: Mapping[str, Any], key: str, index: int, k: int) -> list[float]:
    values = rule.get(key)
    if not isinstance(values, list) or len(values) != k:
        raise InputError(f"rules[{index}].{key}: must be a list of {k} numbers, one for each signal")
    return [_number(value, f"rules[{index}].{key}[{j}]") for j, value in enumerate(values)]


def _number(value: object, key: str) -> float:
    if value is None:
        raise InputError(f"{key}: missing")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{key}: must be a number, got {value!r:.60}")
    if not math.isfinite(value):
        raise InputError(f"{key}: must be a finite number")
    return float(value)


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise InputError(f"a number of {len(digits):,} digits is too large")
    return int(digits)


def _refuse_constant(token: str) -> float:
    raise InputError(f"{token} is no number of JSON; every number must be finite")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise InputError(f"{key[:60]!r}: this key stands twice in one object")
        made[key] = value
    return made

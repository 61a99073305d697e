"""Policy files: ``policy.json`` (format 1), and one way to load a policy whatever its form.

The bytes of a file follow from its content alone (sorted keys, shortest exact floats).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from lcca.inputs.errors import InputError, about, did_you_mean, require
from lcca.inputs.files import read_perhaps_with_digest, write_atomically, write_with_digest
from lcca.inputs.names import YAML_ENDINGS, ClassName
from lcca.remy_plus.files.policyjson import FORMAT, KINDS, content_of
from lcca.remy_plus.policies.agents import MlpPolicy
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.hand_designed import BASELINES, HandDesigned, baseline, is_baseline
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.mlpjson import mlp_to_json
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.policy import Policy, WithHeader
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.remy_plus.policies.rules import Pacing, RuleTable
from lcca.remy_plus.rehearsal import rehearse
from lcca.remy_plus.switches.transports import Transport

_ADVICE = "take it from its run again, or delete {digest} if you changed it"


@dataclass(frozen=True)
class PolicyFile:
    """A policy and where it comes from.

    Attributes:
        policy: what drives a sender.
        signal_set: name of the signal set that it was learnt with.
        header: that carried its in-network signals: the name of one in the catalogue, or the whole description as
            JSON values; None for plain values.
        provenance: JSON values: config hash, seeds, versions, notes. No times, so that equal runs give
            equal bytes.
        rule_hits: look-ups per rule of a rule table in its last evaluation, if known.

    Raises:
        InputError: rule_hits that do not fit the policy, or provenance that is no JSON.
    """

    policy: Policy
    signal_set: str | None = None
    header: str | Mapping[str, Any] | None = field(default=None, hash=False)
    provenance: Mapping[str, Any] = field(default_factory=dict, hash=False)
    rule_hits: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Check what the types leave open."""
        if isinstance(self.policy, WithHeader):
            raise InputError("a policy file has its header apart from its policy")
        if isinstance(self.header, str) and (os.sep in self.header or self.header.endswith(YAML_ENDINGS)):
            raise InputError("header: name one of `lcca show headers`, or write all of it here, as a dict")
        hits = self.rule_hits
        if hits is None:
            return
        if not isinstance(self.policy, RuleTable) or len(hits) != len(self.policy):
            raise InputError(f"rule_hits: {len(hits)} counts, but one for each rule of a rule table is needed")
        if min(hits) < 0:
            raise InputError(f"rules.{hits.index(min(hits))}.rule_hits: must not be negative, got {min(hits)}")

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that the policy looks at: none unless it is a rule table, a trained network or a law."""
        return self.policy.signals if isinstance(self.policy, RuleTable | MlpPolicy | Law | FabricLaw | PathLaw) else ()


def dumps(file: PolicyFile) -> str:
    """Return the text of ``policy.json``.

    Raises:
        InputError: the provenance holds something that JSON has no form for (NaN, a date, a set …), or the policy is a
            class in Python.
    """
    if isinstance(file.policy, PythonControl):
        raise InputError(f"{file.policy.source.path}: a class in Python has no policy file; keep the Python file")
    document = {
        "format": FORMAT,
        "kind": KINDS[type(file.policy)],
        "signals": list(file.signals),
        "signal_set": file.signal_set,
        "header": dict(file.header) if isinstance(file.header, Mapping) else file.header,
        "provenance": dict(file.provenance),
        **_content(file),
    }
    try:
        return json.dumps(document, sort_keys=True, indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"provenance or header: cannot be written as JSON: {error}") from error


def loads(text: str) -> PolicyFile:
    """Return the policy in the text of a ``policy.json``.

    Raises:
        InputError: no JSON, an unknown format, kind, key or signal, wrong types, numbers that are not
            finite, or boxes that overlap or leave gaps; the message names the key.
    """
    content = content_of(text)
    return PolicyFile(content.build(), content.signal_set, content.header, content.provenance, content.rule_hits)


def read(path: str | os.PathLike[str]) -> PolicyFile:
    """Read a ``policy.json``; see `loads`.

    Raises:
        InputError: as `loads`, or the file cannot be read; the message begins with its name.
    """
    data = read_perhaps_with_digest(path, _ADVICE)
    with about(path):
        return _from_json(data)


def write(path: str | os.PathLike[str], file: PolicyFile, digest: bool = False) -> None:
    """Write a ``policy.json`` atomically; with its digest beside it, damage is noticed when it is read.

    Raises:
        InputError: as `dumps`, or the file cannot be written.
    """
    (write_with_digest if digest else write_atomically)(path, dumps(file).encode())


def load(
    path_or_name: str | os.PathLike[str],
    pacing: Pacing | None = None,
    int_signals: Literal["smoothed", "raw"] = "smoothed",
) -> PolicyFile:
    """Load a policy from a ``policy.json``, a ``.dna`` file, or the name of a baseline or of a class in Python.

    Files are told apart by their suffix, others by their first byte (R+ writes files without a suffix).

    Args:
        path_or_name: a path, or a name such as ``aimd``, ``fixed-window:20``, ``bbr`` or ``my_cca.py:Mine``.
        pacing: what pacing means in a ``.dna`` file; a ``policy.json`` knows, and may not contradict.
        int_signals: which queue and link signals the axes of a ``.dna`` file are.

    Raises:
        InputError: no such file or name, or a bad one; a class that fails in a short trial, or is not the same twice.
    """
    name = os.fspath(path_or_name)
    if is_baseline(name) and not Path(name).is_file():
        return PolicyFile(baseline(name), provenance={"baseline": name})
    if ClassName.of(name) and not Path(name).is_file():
        return _from_class(name)
    _check_form(name)
    data = read_perhaps_with_digest(name, _ADVICE)
    with about(name):
        if Path(name).suffix == ".json" or (Path(name).suffix != ".dna" and data.startswith(b"{")):
            file = _from_json(data)
            own = file.policy.pacing_kind if isinstance(file.policy, RuleTable) else pacing
            require(pacing in (None, own), f"its pacing is {own}; leave the pacing option out")
            return file
        from lcca.remy_plus.files import dna  # protobuf is an extra

        imported = dna.loads(data, pacing, int_signals)
        source = {"imported_from": Path(name).name, "sha256": hashlib.sha256(data).hexdigest()}
        return PolicyFile(imported.table, provenance={**source, "notes": list(imported.notes)})


def _content(file: PolicyFile) -> dict[str, Any]:
    policy = file.policy
    if isinstance(policy, HandDesigned | Transport):
        parts = {name: getattr(policy, name, None) for name in ("marker", "tuner")}
        given = {name: part.content() for name, part in parts.items() if part is not None}
        return {"name": policy.name, "parameters": dict(policy.parameters), **given}
    if isinstance(policy, MlpPolicy):
        return mlp_to_json(policy)
    if isinstance(policy, Law | FabricLaw | PathLaw):
        return policy.content()
    if not isinstance(policy, RuleTable):
        return {"parameters": asdict(policy)}
    whole = policy.windows == "whole"
    rules = [
        {
            "lower": policy.lower[i].tolist(),
            "upper": policy.upper[i].tolist(),
            "increment": int(policy.increment[i]) if whole else float(policy.increment[i]),
            "multiple": float(policy.multiple[i]),
            "pacing": float(policy.pacing[i]),
        }
        | ({} if file.rule_hits is None else {"rule_hits": file.rule_hits[i]})
        for i in range(len(policy))
    ]
    return {"pacing": policy.pacing_kind, "rules": rules} | ({} if whole else {"windows": policy.windows})


def _from_json(data: bytes) -> PolicyFile:
    try:
        return loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start})") from error


def _from_class(name: str) -> PolicyFile:
    control = PythonControl.named(name)
    rehearse(control)
    header = getattr(control.source.declared, "header", None)
    with about(control.source.line_of("header")):
        return PolicyFile(control, header=header, provenance={"python": name, "sha256": control.source.digest})


def _check_form(name: str) -> None:
    if Path(name).is_file():
        if name.endswith(".py"):
            raise InputError(f"{name}: name the class in it, as in {name}:Mine")
        if name.endswith(YAML_ENDINGS):
            raise InputError(f"{name}: a YAML file, and no policy; `lcca schema` lists what is written in YAML")
        return
    if os.path.lexists(name) or os.sep in name or Path(name).suffix in (".json", ".dna"):
        return
    hint = did_you_mean(name, BASELINES)
    raise InputError(f"{name[:200]}: no such file, and no baseline of that name{hint}")

"""From the name of a policy to what runs: the one way for all commands and configurations.

`resolve` takes every name that a user can give and returns a `Runnable`, which is a contender of any comparison:

    >>> resolve("dctcp@pred", "fabric").policy.marker.kind
    'pred'

| name | runs |
|---|---|
| `aimd`, `fixed-window:20` | in the engine, in ns-3, on a fabric |
| `vegas:alpha=2`, `dctcp@red`, `ns3::TcpBic` | in ns-3; `cubic` and other names of the kernel's on Linux too |
| `linux:htcp` | on Linux: a congestion control of the kernel |
| `dcqcn:increase_us=55`, `dctcp@pred`, `dcqcn@acc:model.json` | on a fabric, where `dctcp` is the fabric's |
| `policy.json` with its header, `x.dna` | everywhere, if it is no transport |
| `my_cca.py:Mine:gain=0.5`, `package.module:Mine` | everywhere |
| `mix:0.25(a.json|dctcp)`: a quarter of the senders has the first | where both do |

`each_of` spells out several at once, as in ``{dctcp,dcqcn}@{red,step:k_bytes=90000}``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

from lcca.inputs.digests.files import files_named
from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.inputs.names import MIXTURE, ClassName
from lcca.remy_plus.engine import Model
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.families import OF_KERNEL
from lcca.remy_plus.policies.hand_designed import HandDesigned, is_baseline, kind_of, runs_elsewhere
from lcca.remy_plus.policies.policy import Mixture, Policy, seen, with_header
from lcca.remy_plus.switches.transports import MARKED, TRANSPORTS, is_transport
from lcca.remy_plus.tuners.tuned import named_transport
from lcca.signal_sets.headers.header import Header, header_of
from lcca.signal_sets.headers.simulated import stamping

Place: TypeAlias = Literal["engine", "ns3", "linux", "fabric"]
"""What runs it: the one-bottleneck engine, ns-3, this machine or the engine of fabrics; all but that run networks."""


@dataclass(frozen=True)
class Runnable:
    """A policy that is ready to run at a place.

    Attributes:
        name: as the user wrote it.
        place: where it runs.
        policy: what a simulator takes: with its header, if it has one.
        file: what the name stands for: the policy without a header, and where that comes from.
        header: that its packets carry.
        parts: of a mixture, what its senders run.
        digests: SHA-256 of every file that it depends on, by the file's path: its own, the model of a tuner; of a class
            in Python also of what the file imports.
    """

    name: str
    place: Place
    policy: Policy = field(hash=False)
    file: PolicyFile
    header: Header | None = field(default=None, hash=False)
    parts: tuple[Runnable, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def alone(self) -> tuple[Runnable, ...]:
        """Itself, or the parts of a mixture."""
        return self.parts or (self,)

    @property
    def path(self) -> Path | None:
        """Its file, or that of its tuner's model; None for what is named without one."""
        return Path(next(iter(self.digests))) if self.digests else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed in reading a ``.dna`` file, a sentence each."""
        own = [
            () if each.path and each.path.suffix == ".json" else each.file.provenance.get("notes", ())
            for each in self.alone
        ]
        return tuple(dict.fromkeys(note for notes in own for note in notes))


_BRACES = re.compile(r"\{([^{}]*)\}")


def each_of(names: Iterable[str]) -> list[str]:
    """Return names with every combination of what is in braces spelt out, as shells do.

    A part ``key=value`` behind a comma belongs to the one before it where that has parameters, as in
    ``dctcp@{red:pmax=0.1,kmin_bytes=9000,step}``; one part may be empty, as in ``dcqcn{,@expert}``.

    Raises:
        InputError: braces that do not match, or transports that do not look at the marks that they are combined with.
    """
    found = [[name] if os.path.isfile(name) else _spelt_out(name) for name in names]
    made = [each for own in found if len(own) > 1 for each in own]
    if deaf := [each for each in made if "@" in each and _ignores_marks(each)]:
        raise InputError(f"{', '.join(deaf)[:400]}: do not look at marks; markers are for {', '.join(MARKED)}")
    return [each for own in found for each in own]


def _spelt_out(name: str) -> list[str]:
    """Return the combinations of a name; braces in the path of a class's file are the path's own."""
    path, ending, _ = name.partition(".py:")
    own = path + ending if ending and os.path.isfile(f"{path}.py") else ""
    return [own + each for each in _combinations(name.removeprefix(own))]


def _combinations(name: str) -> list[str]:
    parts = _BRACES.split(name)
    if any(set("{}") & set(text) for text in parts[::2]):
        raise InputError(f"{name[:60]}: braces must match, none inside of others, as in dctcp@{{red,step}}")
    return ["".join(each) for each in product(*(_listed(p) if i % 2 else [p] for i, p in enumerate(parts)))]


def _listed(text: str) -> list[str]:
    found: list[str] = []
    for part in text.split(","):
        goes_on = found and ":" in found[-1] and "=" in part and ":" not in part.partition("=")[0]
        found[-1:] = [f"{found[-1]},{part}"] if goes_on else [*found[-1:], part]
    return found


def _ignores_marks(name: str) -> bool:
    known = is_transport(name) and kind_of(name.partition("@")[0]) not in MARKED
    return known and named_transport(name).marker is not None


def resolve(name: str, place: Place = "engine", *, charged: bool = True) -> Runnable:
    """Return what a name means at a place; see the module for the names.

    Args:
        name: of a hand-designed policy or a transport with parameters, a file, or a class in Python.
        place: where it is to run.
        charged: whether the bytes of its header are on the wire; else they are free.

    Raises:
        InputError: no such name or file, a bad one, one that runs elsewhere only, or a header that is unknown or does
            not carry what the policy uses.
    """
    if mixed := MIXTURE.fullmatch(name):
        return _mixture(name, place, mixed, charged)
    file = _read(name, place)
    header, policy = None, file.policy
    if file.header is not None:
        with about(name):
            header = header_of(file.header)
            policy = with_header(policy, stamping(header, charged=charged))
    if place == "fabric":
        engine_of(policy, FabricSettings())  # or say so before any trial
    elif place == "engine" and isinstance(policy, HandDesigned):
        elsewhere = ", or a fabric scenario" if is_transport(name) else ""
        raise InputError(f"{policy.name} {runs_elsewhere(policy.name)}{elsewhere}")
    return Runnable(name, place, policy, file, header, (), files_named(name))


def _mixture(name: str, place: Place, said: re.Match[str], charged: bool) -> Runnable:
    if not re.fullmatch(r"\d*\.?\d+", said["share"], re.ASCII):
        raise InputError(f"{name[:60]}: name a share from 0 to 1, as in mix:0.25(a.json|dctcp)")
    parts = [resolve(said[each], place, charged=charged) for each in ("adopted", "other")]
    policy = Mixture(parts[0].policy, parts[1].policy, float(said["share"]))
    if place == "fabric":
        engine_of(policy, FabricSettings())
    return Runnable(name, place, policy, PolicyFile(policy), None, tuple(parts), files_named(name))


def shared_model(runnables: Iterable[Runnable]) -> Model:
    """Return the network model that policies run in side by side, as their files ask for it in their provenance.

    `link_interval_us` is what the link signal is collected over; `link_window` is "rplus", R+'s way to divide it, or
    "covered". What comes from a ``.dna`` file has R+'s unless it says otherwise.

    Raises:
        InputError: one of them cannot be, or two policies see links over different intervals.
    """
    window, intervals = False, dict[float, str]()
    for each in (part for runnable in runnables for part in runnable.alone):
        asked = each.file.provenance
        window |= asked.get("link_window", "rplus" if "imported_from" in asked else "covered") == "rplus"
        if each.header is None and {"link", "link_ewma"}.intersection(seen(each.file.policy)):
            intervals.setdefault(_interval(each.name, asked.get("link_interval_us", Model().link_interval)), each.name)
    if len(intervals) > 1:
        said = " and ".join(f"{name} {us:g} µs" for us, name in intervals.items())
        raise InputError(f"links are collected over one interval for all policies that see them, but {said}")
    return Model(next(iter(intervals), Model().link_interval), window)


def _interval(name: str, value: Any) -> float:
    if not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InputError(f"{name}: provenance.link_interval_us: must be a number of µs > 0, got {value!r:.60}")
    return float(value)


def _read(name: str, place: Place) -> PolicyFile:
    fabric, file = place == "fabric", Path(name)
    if place == "linux" and re.fullmatch(r"\w+", name) and not is_baseline(name):
        name = OF_KERNEL + name  # `reno`, or what else this kernel has
    if is_transport(name) and (fabric or not (is_baseline(name) or file.is_file())):
        if not fabric:
            raise InputError(f"{name[:60]}: a transport of fabrics, which networks have not: name a fabric scenario")
        return PolicyFile(named_transport(name))
    known = is_baseline(name) or file.is_file() or file.suffix in (".json", ".dna") or ClassName.of(name)
    if fabric and not known:
        hint = did_you_mean(kind_of(name), TRANSPORTS)
        raise InputError(f"{name[:60]!r}: neither a transport{hint} nor the file of a policy")
    return policyfile.load(name)

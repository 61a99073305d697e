"""Verbs that have policies meet at a place, and the options that they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from lcca.experiments.verbs.options import File, Kept, kept_in, set_keys
from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.inputs.assignments import assignments
from lcca.inputs.errors import InputError, did_you_mean, require
from lcca.inputs.files import packaged_files
from lcca.inputs.names import one_name
from lcca.inputs.numbers import real
from lcca.inputs.options import MOST, Count, Limits, Seed, argument, frozen, option, whole
from lcca.inputs.studies import PACKAGE, added
from lcca.remy_plus.fabric.settings import FLUID
from lcca.remy_plus.policies.explicit import SIMPLE
from lcca.remy_plus.policies.families import HAND_DESIGNED
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.remy_plus.switches.transports import TRANSPORTS
from lcca.remy_plus.topology import KINDS

if TYPE_CHECKING:
    from lcca.evaluation.fabric.scenario import FabricScenario
    from lcca.evaluation.fabric.space import FabricSpace
    from lcca.evaluation.scenarios.networks import DrawnNetworks, ListedNetworks

    On: TypeAlias = File | DrawnNetworks | ListedNetworks | FabricSpace | FabricScenario
else:  # lest they be imported
    On = Any

COMPARED = {"engine": 5000, "ns3": 512, "linux": 192, "fabric": 256}
"""Pairs at most, by simulator. A trial in ns-3 costs 300 times as much; fewer miss rare events:
`benchmarks/settling/null.py --pairs 512`."""

RANKED = {"engine": 512, "ns3": 512, "linux": 192, "fabric": 256}
"""Trials of each policy at most, by simulator."""

IN_BOTH = 96
"""Networks in both simulators."""

SEEDS = 10
"""Trials on each network, networks of a space, or trials on a fabric."""

BOUNDED = 200
"""Networks of a bound without policies."""

TRIAL_CACHE = Path("results") / "trial-cache"

POLICIES = {
    "everywhere": f"policy.json, a .dna file, or a class in Python as in {PythonControl.example}",
    "hand-designed": ", ".join(each.example for each in SIMPLE.values()),
    "in ns-3 alone": f"{', '.join(HAND_DESIGNED)}, with parameters as in vegas:alpha=2 and markers as in dctcp@red; "
    "or a class of ns-3 as in ns3::TcpBic:Beta=0.7",
    "transports of a fabric": f"{', '.join(TRANSPORTS)}, with parameters as in dcqcn:increase_us=55,fast_recovery=5 "
    "and perhaps a marker or a tuner as in dctcp@pred, dctcp@red:pmax=0.1 or dcqcn@expert",
    "several at once": "in quoted braces, as in '{dctcp,dcqcn}@{red,step}'",
}
"""What a policy can be, by its kind."""


def simulators(*more: str) -> Any:
    """Return what names the simulator, one of the usual ones or of these."""
    names = ", ".join((f"{FLUID}, an approximation of a fabric", *more))
    own = ", ".join(each.name for each in fields(Ns3Options)[:-1])
    here = ", ".join(each.name for each in fields(LinuxOptions))
    words = (
        f"engine (default), ns3 (default of studies' places), linux (this machine), {names}; ns3 with options as in "
        f"ns3:header_bytes=0: {own}, and attributes of the queue; linux with {here}"
    )
    return option(words, metavar="NAME")


@frozen
class AtPlace(Kept):
    """A verb that has policies meet at a place: all that is left out is the place's own.

    Attributes:
        listed: at the end of its help, by title.
    """

    listed: ClassVar[Mapping[str, Mapping[str, str]]] = {"policies": POLICIES}

    _: KW_ONLY
    overrides: Sequence[str] = set_keys(
        f"of the place's file, as in duration=2000, workload.load=0.7, or topology=NAME: {', '.join(KINDS)}, "
        "as in line:hosts_per_router=4; of a list of networks in each"
    )
    utility: str | None = option("what trials are scored by, one of `lcca show utilities` (default: the place's)")
    seed: Seed = option("of all that is random; others give other trials (default: 1)", 1)
    simulator: str | None = simulators()
    seeds: Count | None = option("trials on each network", in_python=True)
    trial_cache: File | None = option(
        "of a place that a study adds: folder of trials that were run before", in_python=True
    )


_NAMED = {what: packaged_files(f"{PACKAGE}.{study}", each.folder) for what, (study, each) in added("places").items()}
_ADDED = [f"a {what} or the name of one: {', '.join(names)}" for what, names in _NAMED.items()]
PLACES = ", ".join(("YAML file of a network space", "a list of networks", "a fabric scenario", *_ADDED))
POLICY = "a file or a name; policies are listed at the end"


def rule_over(over: str) -> Any:
    """Return what names the rule, whose error rate is `over` something."""
    words = (
        "group-sequential: fixed maximum (default of rank); t-mixture: any-time valid (default of compare and of "
        f"studies' places); with options as in t-mixture:alpha=0.01,step=32 or alpha=0.01: alpha, error rate {over} "
        "(default: 0.05), and step, trials between two looks in whole blocks (default: four blocks, in ns-3 one)"
    )
    return option(words, metavar="NAME")


@frozen
class Settling:
    """When verdicts are reached, and when to stop."""

    _: KW_ONLY
    stop: Literal["accurate", "settled"] = option(
        "stop when the half-width of every interval is at most an eighth of the margin (default), or as soon as all is "
        "settled, before rare events may have been met",
        "accurate",
    )
    margin_percent: float = option("throughput-equivalent % that does not matter (default: 3)", 3.0)
    rule: str | None = rule_over("over all looks")
    alpha: float = option("error rate of all verdicts together", 0.05, in_python=True)
    step: Count | None = option("trials between two looks", in_python=True)

    def __post_init__(self) -> None:
        """Take options of the rule from its text; raise `InputError` if it has not the form of one."""
        for name, value in _rule(self.rule or "").items():
            object.__setattr__(self, name, value)


_OF_RULES: dict[str, Callable[[str], float]] = {
    "alpha": real,
    "step": lambda text: whole(text, Limits(ge=1, le=MOST)),
}
"""Options of a rule, and how they are read."""


def _rule(text: str) -> dict[str, Any]:
    """Return the rule of a text such as ``t-mixture:alpha=0.01``, and its options."""
    name, colon, options = text.partition(":")
    if "=" in name:
        name, options = "", name + colon + options
    found: dict[str, Any] = {"rule": name or None}
    for _, key, value in assignments(options):
        known = ", ".join(_OF_RULES)
        require(key in _OF_RULES, f"--rule: no option {key[:60]!r}{did_you_mean(key, _OF_RULES)}; it has {known}")
        try:
            found[key] = _OF_RULES[key](value or "")
        except ValueError as error:
            raise InputError(f"--rule: {key}: {error}") from None
    return found


@frozen
class Evaluate(AtPlace):
    """`lcca evaluate`."""

    policies: Sequence[str] = argument(POLICY, name="policy", usual=(), read=one_name)
    on: On = argument(PLACES, name="--on", metavar="PLACE")
    _: KW_ONLY
    simulator: str | None = simulators(
        "or both: do engine and ns3 agree on the same networks? as do any two, in ns3+linux"
    )
    trials: Count | None = option(
        f"networks (default: all of a list, {SEEDS} of a space, {IN_BOTH} with both simulators, {BOUNDED} with --bound "
        f"alone), or trials on a fabric (default: {SEEDS})"
    )
    seeds: Count | None = option(f"trials on each network (default: {SEEDS})")
    bound: bool = option(
        "say what is possible on these networks, and where policies lose bits to it; alone without policies", False
    )


@frozen
class Agree(AtPlace):
    """`lcca evaluate --simulator both`."""

    policies: Sequence[str] = argument("that both can run")
    on: On = argument("a network space")
    _: KW_ONLY
    trials: Count | None = option(f"networks, rounded up to whole blocks (default: {IN_BOTH})")
    margin_bits: float | None = option("within which mean scores agree")


@frozen
class Compare(Settling, AtPlace):
    """`lcca compare`."""

    a: str = argument(f"the baseline: {POLICY}", read=one_name)
    b: str = argument("the candidate, likewise", read=one_name)
    on: On = argument(PLACES, name="--on", metavar="PLACE")
    _: KW_ONLY
    shares: Sequence[float] = option(
        "of senders that adopt `b` beside `a`: what they gain and others pay", (), counts=False, in_python=True
    )
    trials: Count | None = option(
        f"pairs at most (default: {COMPARED['engine']}, in ns-3 {COMPARED['ns3']}, on Linux {COMPARED['linux']}, on "
        f"a fabric {COMPARED['fabric']})"
    )
    bound: bool = option("say what is possible on these networks, and where policies lose bits to it", False)


def seconds(text: str) -> float:
    """Parse a time such as 90s, 30m or 2h."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smh])", text, re.ASCII)
    if not found or not float(found[1]):
        raise InputError(f"{text[:40]}: must be a time such as 90s, 30m or 2h")
    return float(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]


@frozen
class Rank(Settling, AtPlace):
    """`lcca rank`."""

    policies: Sequence[str] = argument(f"the first is what you have: {POLICY}", read=one_name)
    on: On = argument(PLACES, name="--on", metavar="PLACE")
    _: KW_ONLY
    trials: Count | None = option(
        f"trials of each at most (default: {RANKED['engine']}, on Linux {RANKED['linux']}, on a fabric "
        f"{RANKED['fabric']}, elsewhere each scenario once)"
    )
    seeds: Count | None = option("trials on each network (default: 1)")
    rule: str | None = rule_over("of all ranks together")
    budget_s: float | None = option(
        "stop after this time, as in 30m, settled or not: with --rule t-mixture alone",
        name="--budget",
        read=seconds,
        counts=False,
    )
    trial_cache: File | None = option(
        f"of a study's place: trials that were run before, added to (default: {TRIAL_CACHE}; none with --out)",
        metavar="FOLDER",
    )
    out: File | None = kept_in("of a study's place results/<name>/<hash>; else nothing is kept")

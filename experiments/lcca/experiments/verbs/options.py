"""Options that several verbs share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.inputs.assignments import assignments
from lcca.inputs.errors import InputError, did_you_mean, require
from lcca.inputs.files import packaged_files
from lcca.inputs.numbers import real
from lcca.inputs.options import MOST, Count, Limits, Seed, argument, frozen, option, whole
from lcca.inputs.studies import PACKAGE, added
from lcca.remy_plus.fabric.settings import FLUID
from lcca.remy_plus.policies.explicit import SIMPLE
from lcca.remy_plus.policies.families import HAND_DESIGNED
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.remy_plus.switches.transports import TRANSPORTS
from lcca.remy_plus.topology import KINDS
from lcca.workers import EXECUTORS

if TYPE_CHECKING:
    from lcca.evaluation.fabric.scenario import FabricScenario
    from lcca.evaluation.fabric.space import FabricSpace
    from lcca.evaluation.scenarios.networks import DrawnNetworks, ListedNetworks
    from lcca.experiments.runs.config import RunConfig

File: TypeAlias = str | os.PathLike[str]
if TYPE_CHECKING:
    On: TypeAlias = File | DrawnNetworks | ListedNetworks | FabricSpace | FabricScenario
    Config: TypeAlias = File | RunConfig
else:  # lest they be imported
    On = Config = Any


def kept_in(when: str = "none, nothing is kept") -> Any:
    """Return where a run is kept; `when` says when one is kept unasked."""
    return option(f"folder that keeps every trial; the same command goes on from there (default: {when})")


@frozen
class Kept:
    """A verb that runs trials, which a folder may keep.

    Attributes:
        always_kept: whether a folder keeps them where none is named.
    """

    always_kept: ClassVar[bool] = False

    _: KW_ONLY
    jobs: Count = option("threads (default: all cores); never changes a result", 1, usual=len(os.sched_getaffinity(0)))
    executor: str = option(
        "where trials run: here (default), in worker processes, or on a Ray cluster; never changes a result",
        "local",
        choices=EXECUTORS,
    )
    out: File | None = kept_in()
    resume: bool = option("whether to go on with the run that is there", False, in_python=True)
    quiet: bool = option("whether to leave progress out", True, in_python=True)


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


def set_keys(of: str) -> Any:
    """Return what overrides keys `of` something."""
    words = f"override a key {of}; may be repeated"
    return option(words, (), name="--set", metavar="KEY=VALUE", repeated=True)


@frozen
class Written(Kept):
    """A verb that runs what a file describes."""

    always_kept: ClassVar[bool] = True

    _: KW_ONLY
    overrides: Sequence[str] = set_keys("of the configuration, as in seed=2 or trainer.rounds=2")
    out: File | None = option(
        "the run's folder (default: results/<name>/<config hash>); the same command goes on with what is there"
    )


@frozen
class WrittenAlone(Written):
    """The same, of a single run."""

    config: Config = argument("the YAML file that describes it", read=Path)


def simulators(*more: str) -> Any:
    """Return what names the simulator, one of the usual ones or of these."""
    names = ", ".join((f"{FLUID}, an approximation of a fabric", *more))
    own = ", ".join(each.name for each in fields(Ns3Options)[:-1])
    words = (
        f"engine (default), ns3 (default of studies' places), {names}; ns3 with options as in ns3:header_bytes=0: {own}"
    )
    return option(f"{words}, and attributes of the queue", metavar="NAME")


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

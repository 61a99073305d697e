"""Places as a command line or a Python call names them, and the contenders that meet there.

A place is a network space or several, a list of networks, a fabric scenario or what a study adds: a YAML file with one,
a name that a study knows, or what such a file holds. `meet` reads it and the contenders and returns numbered trials and
policies that are ready to run: all that an `Experiment` needs, whatever simulates it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.fabric.formats.reading import is_foreign, read
from lcca.evaluation.fabric.formats.written import scenario
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.scenarios.networks import DrawnNetworks, ListedNetwork, ListedNetworks, NetworkSpace
from lcca.evaluation.scenarios.seeds import seed_of
from lcca.evaluation.scenarios.spaces import NetworkSpaces
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.trials.executors import executor
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.source import TrialSource
from lcca.evaluation.trials.utilities import OwnUtility
from lcca.experiments.experiment import Costs
from lcca.experiments.runs.seeds import derive
from lcca.experiments.schemas.kinds import KINDS
from lcca.experiments.verbs.meeting import AtPlace, On
from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.inputs.documents import Document
from lcca.inputs.errors import InputError, Place, about, did_you_mean, require
from lcca.inputs.model import Model
from lcca.inputs.names import one_name
from lcca.inputs.studies import added, attribute
from lcca.inputs.validation import (
    apply_overrides,
    read_document,
    read_with_files,
    validate,
    validate_list,
    with_overrides,
)
from lcca.remy_plus.fabric.settings import FABRIC
from lcca.remy_plus.policies.policy import Policy, pieces
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.remy_plus.workload import FlowSizes
from lcca.signal_sets.load import resolve, shared_model
from lcca.workers.pool import Pool
from lcca.workers.processes import Processes

Space: TypeAlias = DrawnNetworks | ListedNetworks | FabricSpace

FIRST_LOOK: int = Rule.model_fields["first_look"].default
_PLACES: dict[str, type[Model]] = {
    "networks": NetworkSpace,
    "spaces": NetworkSpaces,
    "network-list": ListedNetworks,
    "scenario": FabricScenario,
}


@dataclass(frozen=True)
class PlaceKind:
    """A kind of place that a study adds, where scores depend on all contenders: `rank` alone takes it.

    Attributes:
        model: of its files.
        packaged: returns those that need no file, by name.
        meet: as `meet` does at such a place.
        measure: what a score is there.
        whole: what a margin in per cent is of.
    """

    model: type[Model]
    packaged: Callable[[], Mapping[str, Any]]
    meet: Callable[..., Meeting]
    measure: str
    whole: str


def kinds_of_studies() -> dict[str, PlaceKind]:
    """Return the kinds of place that studies add, by the kind of their files."""
    return {what: attribute(study, each.kind) for what, (study, each) in added("places").items()}


def kind_of(space: object) -> PlaceKind | None:
    """Return the kind of a place that a study adds; None of all others."""
    return next((kind for kind in kinds_of_studies().values() if isinstance(space, kind.model)), None)


@dataclass(frozen=True, eq=False)
class Meeting:
    """Contenders and the place where they meet.

    Attributes:
        place: numbers the trials.
        contenders: that are ready to run there, by their names.
        space: that trials are drawn from, with everything filled in.
        simulator: of the space's, that runs them.
        options: that results depend on, besides, as JSON values.
        seeds: trials of each contender with a number.
        first_look: blocks before anything is said.
        step: trials between two looks.
        ideals: returns what is possible in the first so many trials; None where nothing is known of that.
        costs: returns what so many trials cost, where that is known better than from a few trials.
        notes: what was assumed of files of contenders, and of the place's.
        utility: a function in Python that scores trials, by its name as in ``my.py:f``; empty if it is no such one.
    """

    place: TrialSource[Any]
    contenders: Mapping[str, Policy]
    space: Space
    simulator: str
    options: Mapping[str, Any]
    seeds: int = 1
    first_look: int = FIRST_LOOK
    step: int | None = None
    ideals: Callable[[int], pd.DataFrame] | None = None
    costs: Callable[[Sequence[int]], Costs] | None = field(default=None, repr=False)
    notes: Sequence[str] = ()
    utility: str = ""

    def most(self, wanted: int | None, usual: Mapping[str, int]) -> int:
        """Return how many trials there are at most: those wanted, all that there are, or what a simulator usually has.

        Args:
            wanted: as many; None for what is usual.
            usual: by the names of simulators; others have what the place's usual one has.
        """
        return wanted or self.space.length or usual.get(self.simulator, usual[self.space.simulators[0]])


def meet(names: Sequence[str], on: On, verb: AtPlace, word: str | None) -> Meeting:
    """Return contenders by these names and the place where they meet.

    Args:
        names: of the contenders: hand-designed ones, files of policies, classes in Python; transports on a fabric.
        on: the place.
        verb: how trials are run.
        word: what they are for, which their seeds follow from; None for those of `seed` itself (`seed_of`).

    Raises:
        InputError: something cannot be read, is named twice, or is not to be had at this place.
    """
    require(len(set(names)) == len(names), "a policy is named twice; give each once")
    space = space_of(on, verb.overrides)
    if (kind := kind_of(space)) is not None:
        return kind.meet(names, space, verb)
    if isinstance(space, FabricSpace):
        return _on_fabric(names, space, verb, word)
    return _on_networks(names, space, verb, word)


def space_of(on: On, overrides: Sequence[str] = ()) -> Space:
    """Return what trials are drawn from.

    Raises:
        InputError: it cannot be read, or holds something else than networks, a fabric scenario or a place of a study.
    """
    if not isinstance(on, str | os.PathLike):
        return _as_space(on)
    for what, each in kinds_of_studies().items():
        if str(on) in each.packaged() and not Path(on).exists():
            require(not overrides, f"--set: not with a {what}")
            found: Space = each.packaged()[str(on)]
            return found
    if is_foreign(on):
        return _converted(on, overrides)
    document = read_document(on, root="either")
    if isinstance(document.data, list):
        require(bool(document.data), f"{on}: must be a list with at least one network")
        return _listed(document, overrides)
    keys = set(document.data)
    kind = next((name for name, each in KINDS.items() if each.has(keys) and each.needs() <= keys), None)
    places = _PLACES | {what: each.model for what, each in kinds_of_studies().items()}
    if kind is not None and kind not in places:
        text = f"this is {KINDS[kind].what}, and no place where policies meet; what takes it: {KINDS[kind].use}"
        raise InputError(f"{on}: {text}")
    # the place that most of the keys are of: its model says what is wrong with the others
    kinds = ("networks", "scenario", *kinds_of_studies())
    model = places[kind or max(kinds, key=lambda name: len(keys & set(places[name].model_fields)))]
    return _as_space(validate(read_with_files(on, model, overrides), model))


def _converted(on: str | os.PathLike[str], overrides: Sequence[str]) -> FabricSpace:
    """Return a scenario with the flows or the topology of another program's file."""
    found = read(on)
    text = f"{os.fspath(on)}: is sizes of flows; lcca import writes a scenario with them"
    require(not isinstance(found.what, FlowSizes), text)
    content, assumed = scenario([found], flows=Path(on).name, links=Path(on).name)
    document = Document(Path(on), content, {(): Place(os.fspath(on))})
    space = FabricSpace(fabric=validate(with_overrides(document, FabricScenario, overrides), FabricScenario))
    return space.assuming([f"{os.fspath(on)}: assumed: {each}" for each in (*found.assumed, *assumed)])


def _as_space(place: Any) -> Space:
    space: Space = FabricSpace(fabric=place) if isinstance(place, FabricScenario) else place
    return space


def _listed(document: Document, overrides: Sequence[str]) -> ListedNetworks:
    """Return the networks of a list: an override is of each, or the duration of their trials."""
    of_all = [text for text in overrides if text.partition("=")[0].strip() == "duration"]
    of_each = [f"{i}.{text}" for text in overrides if text not in of_all for i in range(len(document.data))]
    networks = validate_list(apply_overrides(document, of_each), ListedNetwork)
    whole = Document(document.path, {"networks": networks}, {(): document.place(())})
    return validate(apply_overrides(whole, of_all), ListedNetworks)


def _on_networks(
    names: Sequence[str], space: DrawnNetworks | ListedNetworks, verb: AtPlace, word: str | None
) -> Meeting:
    """Return contenders on networks, with the headers that their files name."""
    require(verb.trial_cache is None, "--trial-cache: is of places that studies add; leave it out here")
    name, settings = simulator_of(verb, space.simulators)
    require(
        name != "linux" or verb.executor == "local", "--executor: trials on Linux run here, one at a time: leave it out"
    )
    where: Any = name  # a word of `resolve` too
    found = [resolve(each, where) for each in names]
    contenders = dict(zip(short_names(names), (each.policy for each in found), strict=True))
    jobs, in_python = verb.jobs, any(isinstance(each, PythonControl) for own in found for each in pieces(own.policy))
    pool = pool_of(verb) or (Processes(jobs) if in_python and jobs > 1 and name == "engine" else None)
    options: Any = {"ns3": Ns3Options, "linux": LinuxOptions}
    own = {name: options[name].of(settings)} if name in options else {}
    execution = Execution(name, jobs, pool, shared_model(found), **own)
    simulator = execution.of_networks(space.duration)
    for policy in contenders.values():
        simulator.compile(policy)  # or say so before any trial
    scored, count = space.utility(verb.utility or space.usual_utility), verb.seeds or 1
    seed = first = verb.seed
    if word is None:
        seeds = [seed_of(first, k) for k in range(count)]
    else:
        seed = derive(first, word)
        seeds = [derive(seed, "run", k) for k in range(count)] if word == "rank" else [seed]
    place = space.trials(seed, scored, execution, seeds)

    def ideals(networks: int) -> pd.DataFrame:
        return ideal_scores(space.draw(seed, networks), seeds, scored, space.duration)

    depends = {"simulator": simulator.name, "utility": scored.name, "duration_us": space.duration, "seeds": count}
    depends |= {each: asdict(value) for each, value in own.items()}
    step = place.block if own else None  # trials that take long are few
    notes = [f"{each.name}: {note}" for each in found for note in each.notes]
    by = one_name(verb.utility or "") if isinstance(scored, OwnUtility) else ""
    return Meeting(place, contenders, space, name, depends, count, step=step, ideals=ideals, notes=notes, utility=by)


def simulator_of(verb: AtPlace, simulators: Sequence[str]) -> tuple[str, str]:
    """Return the simulator of a place, and the text of its options."""
    name, _, settings = (verb.simulator or simulators[0]).partition(":")
    name = "engine" if name == FABRIC else name
    known = ["engine" if each == FABRIC else each for each in simulators]
    require(name in known, f"--simulator {name}: not here{did_you_mean(name, known)}")
    require(name in ("ns3", "linux") or not settings, f"--simulator {name}: only ns3 and linux have options")
    return name, settings


def pool_of(verb: AtPlace) -> Pool | None:
    """Return the workers that are asked for; None for what is usual here."""
    return None if verb.executor == "local" else executor(verb.executor, verb.jobs)


def _on_fabric(names: Sequence[str], space: FabricSpace, verb: AtPlace, word: str | None) -> Meeting:
    """Return contenders on the flows of a fabric scenario."""
    require(verb.trial_cache is None, "--trial-cache: is of places that studies add; leave it out here")
    require(verb.seeds is None, "--seeds: needs networks; on a fabric --trials says how many")
    contenders = {name: resolve(name, "fabric").policy for name in names}
    with about("--utility"):
        scored = space.utility(verb.utility or space.usual_utility)
    first, (name, _) = verb.seed, simulator_of(verb, space.simulators)
    seed, name = first if word is None else derive(first, word), FABRIC if name == "engine" else name
    place = space.trials(seed, scored, Execution(name, verb.jobs, pool_of(verb)))
    return Meeting(place, contenders, space, name, {"simulator": name, "utility": scored.name}, notes=space.assumed)


def short_names(names: Sequence[str]) -> list[str]:
    """Return what tables call each policy: a file's name without folder and ending, where that is unique."""
    stems = [Path(name).stem if Path(name).is_file() else name for name in names]
    return [stem if stems.count(stem) == 1 else name for name, stem in zip(names, stems, strict=True)]

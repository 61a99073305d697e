"""Where congestion controls meet on a benchmark; `lcca rank` alone takes it, since who wins depends on all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lcca.evaluation.trials.place import Execution
from lcca.experiments.experiment import Costs
from lcca.experiments.places import Meeting, PlaceKind, pool_of, short_names, simulator_of
from lcca.experiments.runs.seeds import derive
from lcca.experiments.verbs.meeting import AtPlace
from lcca.inputs.errors import require
from lcca.signal_sets.load import resolve
from lcca.studies.ccbench.benchmark import Benchmark, packaged_benchmarks
from lcca.studies.ccbench.cache import CachedTrials
from lcca.studies.ccbench.forecast import cost, cpu_s_per_megabit

BENCH_CODE: Mapping[str, tuple[str, ...]] = {
    "ns3": ("lcca.studies.ccbench.ns3", "lcca.ns3"),
    "engine": ("lcca.studies.ccbench.engine", "lcca.remy_plus._core"),
}
"""The code that a trial's result on a benchmark depends on, with all that it reaches, by simulator."""


def meet(names: Sequence[str], space: Benchmark, verb: AtPlace) -> Meeting:
    """Return congestion controls on the scenarios of a benchmark."""
    for name in ("utility", "seeds"):
        require(getattr(verb, name) is None, f"--{name}: not with a benchmark")
    (simulator, settings), jobs = simulator_of(verb, space.simulators), verb.jobs
    require(not settings, "--simulator: ns-3 has no options in a benchmark")
    found = [resolve(name, "ns3" if simulator == "ns3" else "engine").policy for name in names]
    contenders = dict(zip(short_names(names), found, strict=True))
    seed, scored = derive(verb.seed, "bench", space.name), space.utility(space.usual_utility)
    place = space.trials(seed, scored, Execution(simulator, jobs, pool_of(verb)))
    runner = place.runner
    for policy in contenders.values():
        runner.check(space, policy)
    if verb.trial_cache is not None:
        place = replace(place, runner=CachedTrials(runner, Path(verb.trial_cache), BENCH_CODE[simulator]))

    def costs(counts: Sequence[int]) -> Costs:
        paces = cpu_s_per_megabit(space, place.seed, runner, contenders)
        ends = [cost(space, place.seed, paces, count, jobs) for count in counts]
        words = ("first look", "at most")[-len(counts) :]
        return Costs(dict(zip(words, ends, strict=True)), paces={name: 1000 * pace for name, pace in paces.items()})

    depends = {"simulator": simulator}
    return Meeting(place, contenders, cast("Any", space), simulator, depends, first_look=place.first_look, costs=costs)


KIND = PlaceKind(Benchmark, packaged_benchmarks, meet, "winning rate", "all intervals")

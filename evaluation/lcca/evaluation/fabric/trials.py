"""Trials on a fabric: every transport meets the same flows, seed by seed."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.trials.layout import JOBS, RECORD
from lcca.evaluation.trials.metrics import FLOWS, OF_JOBS, PORTS, of_fabric_trial
from lcca.evaluation.trials.outcome import FlowTimes
from lcca.evaluation.trials.ratio import Completion, Ratio, RoundTime
from lcca.evaluation.trials.utility import unfinished_columns
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.fluid import require_fluid, run_fluid
from lcca.remy_plus.fabric.observation import Observation
from lcca.remy_plus.fabric.settings import FABRIC
from lcca.remy_plus.policies.policy import pieces
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.workers.pool import Pool, Threads
from lcca.workers.processes import Processes

if TYPE_CHECKING:
    from lcca.evaluation.fabric.scenario import FabricScenario
    from lcca.evaluation.fabric.workload.collectives.job import JobLook

WATCH_EVERY_NS = 10_000.0
LARGEST = 2**53
"""The engine takes seeds as floating-point numbers."""


@dataclass(frozen=True, eq=False)
class FabricTrial:
    """One simulation.

    Attributes:
        policy: how reports call the transport.
        seed: of the flows, of their paths and of the marks.
        hosts: of the fabric; nodes from there on are switches.
        flows: that were given; those that waited for a round until the end did not start and are not counted.
        record: what the engine found.
        watched: flows by their id whose rates were sampled.
        warmup_ns: flows that start before do not count.
        hosts_of: (hosts,) whose flows count; all if left out.
        jobs: of training.
    """

    policy: str
    seed: int
    hosts: int
    flows: FabricFlows
    record: FabricRecord
    watched: Sequence[int] = ()
    warmup_ns: float = 0.0
    hosts_of: NDArray[np.bool_] | None = None
    jobs: Sequence[JobLook] = ()

    @property
    def watched_at(self) -> list[int]:
        """Positions of the flows that were watched."""
        return positions(self.flows, self.watched)

    @property
    def has_ports(self) -> bool:
        """Whether its record tells of ports, which fluids have not."""
        return "port_node" in self.record

    @property
    def packets(self) -> int:
        """Data packets that hosts received."""
        return int(self.record["port_data_packets"][self.record["port_peer"] < self.hosts].sum())

    @cached_property
    def started(self) -> NDArray[np.int64]:
        """Positions of the flows that started, after the warm-up."""
        start = self.record["flow_start_ns"]
        count = (start >= self.warmup_ns) & (start <= self.record["end_ns"])
        return np.flatnonzero(count if self.hosts_of is None else count & self.hosts_of[self.flows.src])

    @property
    def start_ns(self) -> NDArray[np.float64]:
        """When the flows that started did so."""
        found: NDArray[np.float64] = self.record["flow_start_ns"][self.started]
        return found

    @cached_property
    def times(self) -> FlowTimes:
        """What became of the flows that started, in ns."""
        found, at = self.record, self.started
        taken, ideal = found["flow_fct_ns"][at], found["flow_ideal_ns"][at]
        so_far, trial = found["end_ns"] - self.start_ns, np.zeros(len(at), dtype=np.int64)
        return FlowTimes(self.flows.size_bytes[at].astype(np.float64), taken, ideal, so_far, trial, per_us=1000.0)

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """A row per round, in their order: took_us, from its start to the end of its last flow, and finished.

        Of one that did not finish the time is a lower bound; NaN where it is below the ideal time of its longest flow.
        """
        number = self.flows.round[self.started]  # −1 is none
        if (number < 0).all():
            return pd.DataFrame({"took_us": np.empty(0), "finished": np.empty(0, dtype=bool)})
        times, start = self.times, self.start_ns
        end = start + np.where(times.finished, times.taken, times.so_far)
        table = pd.DataFrame({"start": start, "end": end, "finished": times.finished, "ideal": times.ideal})
        how = {"start": "min", "end": "max", "finished": "all", "ideal": "max"}
        found = table[number >= 0].groupby(number[number >= 0]).agg(how)
        took = found["end"] - found["start"]
        telling = found["finished"] | (took >= found["ideal"])
        return found.assign(took_us=took.where(telling) / 1000)[["took_us", "finished"]]

    @cached_property
    def job_times(self) -> pd.DataFrame:
        """A row per job: took_us, from its start to its last message, finished, and what jobs are measured by.

        Of one that did not end the time is that of the trial.
        """
        end = self.record["flow_start_ns"] + self.record["flow_fct_ns"]  # NaN: did not end
        rows = []
        for look in self.jobs:
            own = end[self.flows.job == look.number]
            finished = not np.isnan(own).any()
            last = float(own.max()) if finished else float(self.record["end_ns"])
            rows.append(look.row((last + look.rest_ns - look.start_ns) / 1000, finished))
        return pd.DataFrame(rows, columns=["job", "finished", "took_us", *OF_JOBS])

    def score(self, utility: Ratio) -> float:
        """Return its score in bits; NaN where nothing counts."""
        return utility.score_fabric(self)

    def row(self, utility: Ratio) -> dict[str, Any]:
        """Return its score, what of that is unfinished, and metrics; of training jobs a record for each."""
        named: dict[str, Any] = {"policy": self.policy, "seed": self.seed}
        jobs = {JOBS: self.job_times.to_dict("records")} if self.jobs else {}
        return named | self.scored(utility, "score_bits") | of_fabric_trial(self) | jobs

    def scored(self, utility: Ratio, column: str) -> dict[str, float | int]:
        """Return its score as a column, and beside it how much of what is scored is unfinished."""
        beside = zip(unfinished_columns(column), utility.unfinished(self), strict=True)
        return {column: self.score(utility)} | dict(beside)

    def flow_rows(self) -> pd.DataFrame:
        """Return a row per flow that started; the slowdown of one that did not finish is a bound (`FlowTimes`)."""
        at = self.started
        columns = {name: getattr(self.flows, name)[at] for name in ("id", "src", "dst", "size_bytes")}
        times = {name: self.record[f"flow_{name}"][at] for name in ("start_ns", "fct_ns", "ideal_ns")}
        delivered = self.record["flow_delivered_bytes"][at].astype(np.int64)
        measured = {each.name: each.compute(self.times) for each in FLOWS.values()}
        return self._named(columns | times | measured | {"delivered_bytes": delivered})

    def port_rows(self) -> pd.DataFrame:
        """Return a row per directed port, of hosts too."""
        return self._named({each.name: each.compute(self) for each in PORTS.values()})

    def _named(self, columns: Mapping[str, object]) -> pd.DataFrame:
        table = pd.DataFrame(columns)
        table.insert(0, "policy", self.policy)
        table.insert(1, "seed", self.seed)
        return table


def run_fabric_trials(
    scenario: FabricScenario,
    engines: Mapping[str, FabricEngine],
    seeds: Sequence[int],
    pool: Pool | None = None,
    watched: Sequence[int] = (),
    observed: Mapping[str, Observation] = MappingProxyType({}),
    simulator: str = FABRIC,
) -> list[FabricTrial]:
    """Run every transport on the flows of every seed.

    Args:
        scenario: where.
        engines: by the names of the policies.
        seeds: of the trials.
        pool: runs them, but in processes where Python's lock would make its threads wait; one by one if left out. Where
            it has more threads than there are trials, they share each.
        watched: flows of the first seed, by their id, whose bytes delivered are sampled every 10 µs; not of ideals.
        observed: keeps the looks of the first seed, by the names of the policies; changes no result.
        simulator: `FABRIC` or `FLUID`, which cannot watch or observe.

    Returns:
        The trials, seed by seed in the order of the engines.

    Raises:
        InputError: flows or a parameter that cannot be, packets longer than the MTU with a transport's telemetry,
            buffers too small for its classes of traffic, or a watched flow that there is not.
    """
    for name, engine in engines.items():
        scenario.require_fits(engine, name)
    flows = {seed: scenario.flows(seed) for seed in seeds}
    watch = Watch(WATCH_EVERY_NS, positions(flows[seeds[0]], watched)) if watched else None

    def call(name: str, seed: int) -> Callable[[], FabricTrial]:
        engine, first = engines[name], seed == seeds[0]
        if simulator != FABRIC:
            return partial(run_fluid_trial, scenario, name, engine, seed, flows[seed])
        engine = replace(engine, tuner=observed[name]) if first and name in observed else engine
        sampled = (watch, watched) if first and not engine.ideal else (None, ())
        return partial(run_fabric_trial, scenario, name, engine, seed, flows[seed], *sampled, threads=threads)

    workers, parts = pool or Threads(1), (each for engine in engines.values() for each in pieces(engine.transport))
    python = any(isinstance(each, PythonControl) for each in parts)  # its lock would make threads of trials wait
    threads = max(workers.count // max(len(seeds) * len(engines), 1), 1) if workers.here else 1
    calls = [call(name, seed) for seed in seeds for name in engines]
    if observed:  # who observes is in this process
        workers = Threads(1 if python else workers.count)
    if python and workers.here and workers.count > 1:
        with Processes(workers.count) as processes:
            return processes.calls(calls)
    return workers.calls(calls)


def run_fabric_trial(
    scenario: FabricScenario,
    policy: str,
    engine: FabricEngine,
    seed: int,
    flows: FabricFlows,
    watch: Watch | None = None,
    watched: Sequence[int] = (),
    threads: int = 1,
) -> FabricTrial:
    """Run one transport, which reports call `policy`, on the flows of one seed."""
    ends = scenario.horizon_ns(flows), watch, scenario.last_start_ns
    record = engine.run(scenario.fabric, flows, seed % LARGEST, *ends, threads=threads)
    found = (policy, seed, scenario.fabric.hosts, flows, record, watched, 1000 * scenario.warmup_us)
    return FabricTrial(*found, jobs=scenario.jobs(seed))


def run_fluid_trial(
    scenario: FabricScenario, policy: str, engine: FabricEngine, seed: int, flows: FabricFlows
) -> FabricTrial:
    """Run one transport on the flows of one seed as fluids, which tell of flows only.

    Raises:
        InputError: it cannot, or as `run_fabric_trials`.
    """
    record = run_fluid(engine, scenario.fabric, flows, seed % LARGEST, scenario.horizon_ns(flows))
    warmup, jobs = 1000 * scenario.warmup_us, scenario.jobs(seed)
    return FabricTrial(policy, seed, scenario.fabric.hosts, flows, record, warmup_ns=warmup, jobs=jobs)


def rows_of(trials: Iterable[FabricTrial], utility: Ratio) -> pd.DataFrame:
    """Return a row per trial: score, metrics and the record, so that nothing has to be run again; no number."""
    rows = pd.DataFrame([each.row(utility) | {RECORD: _packed(each.record)} for each in trials])
    return rows.assign(status="ok", error="", utility=utility.name)


def trials_of(rows: pd.DataFrame, scenario: FabricScenario) -> list[FabricTrial]:
    """Return the trials of rows on a scenario, whose flows follow from it and the seed."""
    flows = {seed: scenario.flows(seed) for seed in map(int, rows["seed"].unique())}
    hosts, warmup = scenario.fabric.hosts, 1000 * scenario.warmup_us
    return [
        FabricTrial(policy, seed, hosts, flows[seed], _unpacked(packed), warmup_ns=warmup, jobs=scenario.jobs(seed))
        for policy, seed, packed in zip(rows["policy"], map(int, rows["seed"]), rows[RECORD], strict=True)
    ]


def _packed(record: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **{name: np.asarray(each) for name, each in record.items()})
    return file.getvalue()


def _unpacked(packed: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(packed), allow_pickle=False) as found:
        return {name: found[name] if found[name].ndim else found[name].item() for name in found.files}


def require_rounds(scenarios: Iterable[FabricScenario], utility: Ratio) -> None:
    """Check that scenarios have the rounds, jobs or events that a utility scores.

    Raises:
        InputError: one has none.
    """
    for each in scenarios:
        if utility.of.needs == "events" and not each.events:
            raise InputError(f"{utility.name}: {each.name} has no events; give it some, in which links fail")
        if utility.of.needs == "rounds" and not each.has_rounds:
            raise InputError(f"{utility.name}: {each.name} has no rounds; workloads of kind all-to-all have them")
        if utility.of.needs == "jobs" and not each.has_jobs:
            raise InputError(f"{utility.name}: {each.name} has no jobs; give it a workload of kind job")


def require_all_scored(scenarios: Iterable[FabricScenario], utility: Ratio) -> None:
    """Check that a utility of jobs or rounds alone scores all flows: what is learnt by it would starve others.

    Raises:
        InputError: a scenario has others; the message says what to do.
    """
    if not isinstance(utility, Completion | RoundTime):
        return
    kinds = ("job",) if isinstance(utility, Completion) else ("job", "all-to-all")
    instead = "use completion-and-slowdown" if isinstance(utility, Completion) else "leave them out, or use slowdown"
    for scenario in scenarios:
        if not all(part.kind in kinds for _, part in scenario.parts):
            text = f"{scenario.name} has other flows, which policies would learn to starve"
            raise InputError(f"{utility.name}: {text}; {instead}")


def require_told(simulator: str, utility: Ratio) -> None:
    """Check that a simulator tells what a utility scores.

    Raises:
        InputError: it tells of flows only, and ports are scored.
    """
    if simulator != FABRIC and utility.of.needs == "ports":
        raise InputError(f"{utility.name}: scores ports, and simulator {simulator} has no port records; use {FABRIC}")


def require_runs(scenario: FabricScenario, name: str, engine: FabricEngine, utility: Ratio) -> None:
    """Check that a contender can run on a scenario and tells what a utility scores.

    Raises:
        InputError: the scenario has no room for it; or it is an ideal, and cannot have the flows, or ports are
            scored.
    """
    scenario.require_fits(engine, name)
    if not engine.ideal:
        return
    require_fluid(engine, scenario.has_rounds, scenario.classed, bool(scenario.events))
    if utility.of.needs == "ports":
        raise InputError(f"{utility.name}: scores ports, which {name} has not: it is an ideal; leave it out")


def require_scored(scenario: FabricScenario, utility: Ratio, seeds: Sequence[int]) -> None:
    """Check that some flow counts in trials of these seeds; nothing is run.

    Raises:
        InputError: none does.
    """
    drawn = [scenario.flows(seed) for seed in seeds]
    after = [flows.size_bytes[(flows.start_ns >= 1000 * scenario.warmup_us) | (flows.after >= 0)] for flows in drawn]
    size = np.concatenate(after)
    if not ((size >= utility.from_bytes) & (size < utility.below_bytes)).any():
        raise InputError(
            f"{utility.name}: no flow of {scenario.name} counts: {len(size):,} start after the warm-up in {len(seeds)} "
            f"trials, none of them from {utility.from_bytes:,.0f} to below {utility.below_bytes:,.0f} bytes"
        )


def positions(flows: FabricFlows, ids: Sequence[int]) -> list[int]:
    """Return where flows are that a trace or `flow_rows` calls so.

    Raises:
        InputError: there is no such flow.
    """
    where = {int(each): position for position, each in enumerate(flows.id)}
    if missing := [each for each in ids if each not in where]:
        known = f"{min(where)} to {max(where)}" if where else "none"
        raise InputError(f"there is no flow {missing[0]} in the first trial; it has {known}")
    return [where[each] for each in ids]

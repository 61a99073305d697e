"""A fabric scenario: topology, workload, switches and packets, read from a YAML file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from lcca.evaluation.fabric.events import MOST_CHANGES, EventModel, link_events, overlap
from lcca.evaluation.fabric.formats.trace import Trace
from lcca.evaluation.fabric.hosts import HostModel
from lcca.evaluation.fabric.switches import SwitchModel
from lcca.evaluation.fabric.topologies import TopologyModel
from lcca.evaluation.fabric.workload.collectives.bounds import Packets, Ways
from lcca.evaluation.fabric.workload.collectives.job import Job, JobLook
from lcca.evaluation.fabric.workload.load import LinkLoads
from lcca.evaluation.fabric.workload.part import Misfit, Streams
from lcca.evaluation.fabric.workload.patterns import AllToAll, Permutation
from lcca.evaluation.fabric.workload.timed import Incast, Poisson
from lcca.inputs.errors import InputError, Keys
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.inputs.units import PACKET_BYTES
from lcca.inputs.validation import read_config
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows, in_order
from lcca.remy_plus.fabric.settings import Deployment, FabricSettings, settings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.workers.memory import free_bytes

ROUNDING = 1e-9
MOST_FLOWS = 10_000_000
"""Of a trial: some GB."""

MOST_KEPT = 256
"""Trials whose jobs' least times are kept."""

FLOW_BYTES = 600
"""Of memory that a flow of a trial takes at least (some 800 were measured)."""


_WAYS = (
    *("spraying", "entropies", "ways", "adaptive", "queue_pairs", "feedback_per_packet"),
    *("selective", "sleek", "granted"),
)

Single = Annotated[Poisson | Incast | AllToAll | Permutation | Trace | Job, Field(discriminator="kind")]


class Mix(Model):
    """Several workloads at once, each with random streams of its own.

    Attributes:
        parts: the workloads; another one at the end changes nothing in those before it.
    """

    kind: Literal["mix"]
    parts: tuple[Single, ...] = Field(min_length=1)

    @property
    def ends(self) -> bool:
        """Whether it has a last flow."""
        return all(each.ends for each in self.parts)

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        for part, each in enumerate(self.parts):
            if misfit := each.problem(topology):
                keys, text = misfit
                return ("parts", part, *keys), text
        return None

    @property
    def moments_us(self) -> tuple[float, ...]:
        """When what it asks of the fabric changes."""
        return tuple(sorted({at_us for each in self.parts for at_us in each.moments_us}))

    def loads(self, topology: FabricTopology, at_us: float = 0) -> LinkLoads | None:
        """Return the mean load of every link at a moment, of the parts that have a rate."""
        found = [loads for each in self.parts if (loads := each.loads(topology, at_us))]
        return LinkLoads(topology, np.sum([each.gbps for each in found], axis=0)) if found else None

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        return sum(each.count(topology, duration_ns) for each in self.parts)

    def draw(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows of all parts that start within the duration."""
        parts = enumerate(self.parts)
        return in_order([each.draw(topology, replace(streams, part=part), duration_ns) for part, each in parts])


Workload = Annotated[Poisson | Incast | AllToAll | Permutation | Trace | Job | Mix, Field(discriminator="kind")]


class DeploymentModel(Model):
    """Which switches write stamps, headers and rates into packets; the others leave them as they are. All mark.

    Attributes:
        switches: those with hosts (tor), those without (spine), or any (random).
        share: of these, drawn for each trial.
    """

    switches: Literal["tor", "spine", "random"]
    share: float = Field(default=1, ge=0, le=1)


class FabricScenario(Model):
    """What a trial on a fabric is, but for its transport and seed.

    Attributes:
        name: how reports call it.
        preset: conventions, of `lcca.remy_plus.fabric.settings.PRESETS`: our own, or those of HPCC's ns-3 simulator.
        topology: hosts, switches and links.
        workload: the flows.
        duration_us: flows start within it; where there are jobs, flows that wait for others may begin later, so that
            jobs end. Workloads that end by themselves need none.
        drain_us: how long after `duration_us` (or the last start) flows may go on; those that have not finished then
            are counted as unfinished. Without a duration, rounds of a closed loop may take so long each.
        warmup_us: flows that start before it are there and do not count; ports count from the beginning.
        payload_bytes: of a full packet.
        overhead_bytes: of headers around it, without telemetry.
        mtu_bytes: what a packet may have in all, telemetry too.
        switch: of all switches.
        hosts: of all hosts.
        stamping: which switches write into packets; all of them if left out.
        spraying: how senders choose the entropy of each packet, by which switches choose its way; with `flow` a flow
            has one way; each transport's own if left out.
        entropies: how many there are, a power of two.
        ways: how switches choose among equal ways: by a hash of the flow and of the packet's entropy (hashed); or the
            entropy alone is the number of the way (numbered), as with routes that senders write into packets; or so,
            and a host keeps what it hears of ways for all its flows to hosts of one switch together (shared). Take as
            many entropies as there are ways.
        adaptive: switches send each packet to the port with the shortest queue in place of a hash.
        queue_pairs: flows between the same hosts, in the same class, are messages of one queue pair: they share the
            hashes by which switches choose ways, and what senders know of entropies; else each flow has its own.
        feedback_per_packet: senders that spray hear of the entropy of every packet: an ACK says of all that it newly
            acknowledges that theirs are good, and a timeout blames that of its packet; else an ACK speaks for the
            packet that it answers, and timeouts blame entropy 0, as in uet-htsim.
        selective: receivers reorder, and only what is lost is sent again, in place of go-back-N; if left out, where
            packets are sprayed or the transport needs it.
        sleek: packets far out of order say that those before them are lost (SLEEK); for switches that do not trim.
        granted: receivers grant credit to learnt policies as RCCC's do, and senders send by both.
        events: links that slow down, fail and come back.
        convergence_us: so long after a link fails or comes back routing knows of it, if it still holds.

    Raises:
        ValidationError: keys that cannot be used, or that do not fit each other; `read_scenario` names file and line.
    """

    from_file = True

    name: str = Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")
    preset: str = "default"
    topology: TopologyModel
    workload: Workload
    duration_us: float | None = Field(default=None, gt=0)
    drain_us: float = Field(default=1e6, ge=0)
    warmup_us: float = Field(default=0, ge=0)
    payload_bytes: int = Field(default=1000, ge=1, le=1_000_000)
    overhead_bytes: int = Field(default=48, ge=0)
    mtu_bytes: int = Field(default=PACKET_BYTES, ge=1)
    switch: SwitchModel = SwitchModel()
    hosts: HostModel = HostModel()
    stamping: DeploymentModel | None = None
    spraying: Literal["flow", "oblivious", "bitmap", "reps", "mixed"] | None = None
    entropies: int = Field(default=64, ge=1, le=256)
    ways: Literal["hashed", "numbered", "shared"] = "hashed"
    adaptive: bool = False
    queue_pairs: bool = False
    feedback_per_packet: bool = False
    selective: bool | None = None
    sleek: bool = False
    granted: bool = False
    events: tuple[EventModel, ...] = ()
    convergence_us: float = Field(default=100, ge=0, le=1e9)

    @model_serializer(mode="wrap")
    def _written(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out events and ways of packets where there are none of their own."""
        others = set() if self.events else {"events", "convergence_us"}
        others |= {"stamping"} if self.stamping is None else set()
        others |= {"hosts"} if self.hosts == HostModel() else set()
        others |= {key for key in _WAYS if getattr(self, key) == type(self).model_fields[key].default}
        return {key: value for key, value in content(self).items() if key not in others}

    @field_validator("preset")
    @classmethod
    def _known(cls, value: str) -> str:
        """Check that there is such a preset."""
        try:
            settings(value)
        except InputError as error:
            raise ValueError(str(error).removeprefix("preset: ")) from None
        return value

    @model_validator(mode="after")
    def _possible(self) -> FabricScenario:
        """Check what needs the fabric itself; only the first of these problems is told."""
        try:
            if problem := self.topology.size.problem():
                raise InputError(problem)
            fabric = self._built
        except InputError as error:
            raise_problems("scenario", [problem_at(("topology",), str(error).removeprefix("topology: "))])
            raise
        if first := next(self._problems(fabric), None):
            raise_problems("scenario", [problem_at(*first)])
        return self

    def _problems(self, fabric: FabricTopology) -> Iterator[tuple[Keys, str]]:
        """Yield keys that do not fit the others or the fabric, and why."""
        if text := self._too_long(0, "a packet without telemetry"):
            yield ("mtu_bytes",), text
        if text := self.switch.problem(fabric, self.payload_bytes + self.overhead_bytes):
            yield ("switch", self.switch.buffer_key), text
        if self.entropies & (self.entropies - 1):
            yield ("entropies",), f"must be a power of two, got {self.entropies}"
        if self.ways != "hashed" and (self.adaptive or self.spraying == "flow"):
            whose = "adaptive switches choose ways themselves" if self.adaptive else "spraying: flow: nobody names ways"
            yield ("ways",), f"{self.ways}, but {whose}; leave one of them out"
        if self.selective is False and self._needs_selective:
            yield (self._needs_selective,), "needs selective hosts: leave selective out, or make it true"
        if self.duration_us is None and not self.workload.ends:
            yield ("duration_us",), f"is missing, and workload {self.workload.kind} goes on without end"
        if self.warmup_us and (self.duration_us is None or self.warmup_us >= self.duration_us):
            yield ("warmup_us",), "must be less than duration_us, which it needs"
        yield from self._problems_of_parts(fabric)
        yield from ((("hosts", *keys), text) for keys, text in self.hosts.problems(fabric, self.preset))
        yield from self._problems_of_events(fabric)
        yield from self._problems_of_workload(fabric)

    def _problems_of_parts(self, fabric: FabricTopology) -> Iterator[tuple[Keys, str]]:
        for keys, part in self.parts:
            if 1000 * getattr(part, "start_us", 0) >= self.end_ns:
                yield (*keys, "start_us"), f"must be less than duration_us ({self.duration_us:g})"
            if isinstance(part, Trace) and (misfit := part.problem(fabric, end_ns=self.end_ns)):
                yield (*keys, *misfit[0]), misfit[1]
            if misfit := part.class_problem(fabric, self.switch.classes, self.switch.class_bytes is not None):
                yield (*keys, *misfit[0]), misfit[1]

    def _problems_of_events(self, fabric: FabricTopology) -> Iterator[tuple[Keys, str]]:
        for number, each in enumerate(self.events):
            if misfit := each.problem(fabric, self.end_ns / 1000):
                keys, text = misfit
                yield ("events", number, *keys), text
                return
        changes = sum(each.times * len(each.links(fabric)) for each in self.events)
        if changes > MOST_CHANGES:
            yield ("events",), f"change links {changes:,} times, more than {MOST_CHANGES:,}; ask for fewer"
        elif found := overlap(self.events, fabric):
            keys, text = found
            yield ("events", *keys), text

    def _problems_of_workload(self, fabric: FabricTopology) -> Iterator[tuple[Keys, str]]:
        if misfit := self.workload.problem(fabric):
            keys, text = misfit
            yield ("workload", *keys), text
            return
        a, b, most = loads.fullest() if (loads := self.loads()) else (0, 0, 0)
        if most > 1 + ROUNDING:
            asks = f"asks for {most:.3g} times the rate of the link from {a} to {b}"
            load, period = (getattr(self.workload, key, None) for key in ("load", "period_us"))
            if load is not None:
                yield ("workload", "load"), f"{asks}; at most {np.floor(1000 * load / most + ROUNDING) / 1000:g} fits"
            elif period is not None:
                yield ("workload", "period_us"), f"{asks}; at least {np.ceil(10 * period * most) / 10:g} fits"
            else:
                yield ("workload",), f"{asks}; {1 / most:.3g} of that fits"
        count, free = self.workload.count(fabric, self.end_ns), free_bytes()
        if count > MOST_FLOWS:
            text = f"has {count:.2g} flows, more than {MOST_FLOWS:.2g}; ask for fewer, or a shorter time"
            yield ("workload",), text
        if count * FLOW_BYTES > free:
            needed = f"{count * FLOW_BYTES / 1e9:,.1f} GB of memory at least"
            text = f"has {count:.2g} flows, which need {needed}, and {free / 1e9:,.1f} GB are free; ask for fewer"
            yield ("workload",), text

    @cached_property
    def fabric(self) -> FabricTopology:
        """The topology, built, with what happens to its links."""
        if not self.events:
            return self._built
        return replace(self._built, events=link_events(self.events, self.convergence_us, self._built))

    @cached_property
    def _built(self) -> FabricTopology:
        return self.topology.build()

    @property
    def end_ns(self) -> float:
        """When the duration is over, within which flows start."""
        return np.inf if self.duration_us is None else self.duration_us * 1000

    @property
    def last_start_ns(self) -> float:
        """Before when flows that wait for others begin."""
        return np.inf if self.has_jobs else self.end_ns

    def flows(self, seed: int, network: int = 0) -> FabricFlows:
        """Return the flows of a trial: the same for every transport.

        Args:
            seed: of the trial.
            network: number of the network, where several scenarios are one space.
        """
        return self.switch.classed(self.workload.draw(self.fabric, Streams(seed, network), self.end_ns))

    def jobs(self, seed: int, network: int = 0) -> tuple[JobLook, ...]:
        """Return what the jobs of a trial take at the least; kept, as it takes a while."""
        drawn = [(part, each) for part, (_, each) in enumerate(self.parts) if isinstance(each, Job)]
        if not drawn:
            return ()
        key = (seed, network) if any(each.draws for _, each in drawn) else (0, 0)
        if key not in self._jobs:
            if len(self._jobs) >= MOST_KEPT:
                self._jobs.clear()
            packets = Packets(self.payload_bytes, self.overhead_bytes)
            looks = [each.look(self._ways_between, Streams(*key, part), packets) for part, each in drawn]
            first = np.cumsum([0, *(each.jobs(self._built) for _, each in self.parts)]).tolist()
            numbers = (first[part] for part, _ in drawn)
            self._jobs[key] = tuple(replace(each, number=number) for each, number in zip(looks, numbers, strict=True))
        return self._jobs[key]

    @cached_property
    def _jobs(self) -> dict[tuple[int, int], tuple[JobLook, ...]]:
        return {}

    @cached_property
    def _ways_between(self) -> Ways:
        return Ways(self._built)

    @property
    def classed(self) -> bool:
        """Whether flows have several classes, or one that is not the first."""
        return self.switch.class_bytes is not None or self.has_priorities

    @property
    def has_priorities(self) -> bool:
        """Whether the workload says of flows that they are of another class than the first."""
        return any(part.has_classes(self.fabric) for _, part in self.parts)

    @property
    def has_rounds(self) -> bool:
        """Whether any of its flows belong to rounds."""
        return any(part.kind in ("all-to-all", "job") for _, part in self.parts)

    @property
    def has_jobs(self) -> bool:
        """Whether any of its flows belong to jobs of training."""
        return any(isinstance(part, Job) for _, part in self.parts)

    def loads(self) -> LinkLoads | None:
        """Return the mean load of every link, when the fullest is so full; nothing for workloads without a rate."""
        moments = self.workload.moments_us
        found = [loads for at_us in moments if (loads := self.workload.loads(self.fabric, at_us))]
        return max(found, key=lambda each: each.fullest()[2], default=None)

    def settings(self) -> FabricSettings:
        """Return the engine's settings."""
        packets = {"payload_bytes": self.payload_bytes, "overhead_bytes": self.overhead_bytes}
        writing = {} if self.stamping is None else {"stamping": Deployment(self.stamping.switches, self.stamping.share)}
        return settings(
            self.preset, **packets, **self.switch.settings(), **self.hosts.settings(), **self._ways(), **writing
        )

    def _ways(self) -> dict[str, Any]:
        """Return the settings of ways that this scenario has of its own."""
        own = {key: value for key in _WAYS if (value := getattr(self, key)) != type(self).model_fields[key].default}
        reorders = self.adaptive or bool(self._needs_selective)
        return ({"selective": True} if reorders else {}) | own

    @property
    def _needs_selective(self) -> str:
        """The key of its own that only selective hosts can have; empty if there is none."""
        sprays = self.spraying not in (None, "flow")
        return "spraying" if sprays else "sleek" if self.sleek else "granted" if self.granted else ""

    def horizon_ns(self, flows: FabricFlows) -> float:
        """Return when a trial with these flows ends at the latest.

        Without a duration each round that others wait for may take `drain_us`.
        """
        if self.duration_us is not None:
            return (self.duration_us + self.drain_us) * 1000
        last_ns = float(flows.start_ns[-1]) if len(flows) else 0.0
        return last_ns + self.drain_us * 1000 * (2 + int(flows.after.max(initial=-1)))

    def require_fits(self, engine: FabricEngine, whose: str) -> None:
        """Check that packets with a transport's telemetry fit into the MTU, and its classes' headroom into buffers.

        Raises:
            InputError: they do not, or its hosts choose classes and the workload does too.
        """
        if engine.sets_classes and self.has_priorities:
            raise InputError(f"{self.name}: priority: hosts of {whose} choose the class of each packet; leave one out")
        if text := self._too_long(engine.telemetry_bytes, f"a packet with the telemetry of {whose}"):
            raise InputError(f"{self.name}: mtu_bytes: {text}")
        if text := self.switch.problem(self.fabric, self.payload_bytes + self.overhead_bytes, engine.priorities):
            text += f"; {whose} has {engine.priorities} classes: switch.priorities gives it fewer"
            raise InputError(f"{self.name}: switch.{self.switch.buffer_key}: {text}")

    def _too_long(self, telemetry_bytes: int, what: str) -> str:
        size = self.payload_bytes + self.overhead_bytes + telemetry_bytes
        text = f"{what} has {size} bytes, more than {self.mtu_bytes}; raise mtu_bytes or lower payload_bytes"
        return text if size > self.mtu_bytes else ""

    @property
    def parts(self) -> list[tuple[Keys, Any]]:
        """Where the workloads are that are no mix, and what they are."""
        if isinstance(self.workload, Mix):
            return [(("workload", "parts", i), part) for i, part in enumerate(self.workload.parts)]
        return [(("workload",), self.workload)]


def read_scenario(path: str | os.PathLike[str], overrides: Iterable[str] = ()) -> FabricScenario:
    """Read a scenario's YAML file, with `--set` overrides if given.

    Names of files are relative to the file that says them; in an override, to the working folder.

    Raises:
        ConfigError: listing the problems, by file and line.
    """
    return read_config(path, FabricScenario, overrides)

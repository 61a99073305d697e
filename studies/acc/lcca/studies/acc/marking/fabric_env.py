"""`lcca/FabricEcn-v0`: ports of a fabric's switches whose marking agents set (needs ``lcca[drl]``)."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.gym_envs.fabric.fabrics import Fabric, SmallFabric
from lcca.gym_envs.interface.spaces import action_array
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord
from lcca.remy_plus.switches.control import Floats, Seen, TunerMaker
from lcca.remy_plus.switches.knobs import Limits
from lcca.studies.acc.marking.looks import Looks
from lcca.studies.acc.marking.ports import NUMBERS, Agents, Interval, Ports, Templates

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise missing("gymnasium", "environments") from error

Single = NDArray[np.float32]

SEEDS = 2**53
"""The engine takes them as floating-point numbers."""

STEPS = 10
"""Of the worth of a queue."""


def queue_worth(queued_bytes: Floats, buffer_bytes: float) -> Floats:
    """Return the worth of mean queues, from 1 for up to 1/1024 of the buffer to 0 for more than half of it.

    It falls by a tenth where the queue exceeds 2^i / 1024 of the buffer, i = 0 … 9 (CoPTER's re-implementation of ACC).
    """
    thresholds = buffer_bytes / 1024 * 2.0 ** np.arange(STEPS)
    return 1 - np.searchsorted(thresholds, queued_bytes, side="left") / STEPS


class FabricEcnEnv(gymnasium.Env[Single, Any]):
    """Every port is an agent that chooses, interval by interval, by which template of RED it marks.

    All agents see and act at once. The reward is the mean of theirs, which ``info["rewards"]`` has one by one: a share
    of the rate over the link's, and the rest for a short queue. An episode ends (truncated) with the scenario's
    duration, or when all flows have ended before. ``reset(options={"trial_seed": s})`` sets the seed of the flows, of
    their paths and of the marks.

    Args:
        scenario: fabric and workload; a small one if left out.
        transport: what hosts run, such as ``dcqcn`` or ``dctcp-window``; or an engine with its parameters, whose
            settings and tuner are replaced.
        ports: agents, by their node and their peer; all ports of switches if left out.
        interval_us: from look to look.
        delay_us: from a look to when ports have what was chosen at it.
        history: intervals that an agent sees.
        templates: that agents choose from.
        throughput: share of the throughput in the reward.

    Raises:
        InputError: any of it is impossible.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Fabric | None = None,
        transport: str | FabricEngine = "dcqcn",
        ports: Iterable[tuple[int, int]] | None = None,
        interval_us: float = 50.0,
        delay_us: float = 0.0,
        history: int = 3,
        templates: Templates | None = None,
        throughput: float = 0.5,
    ) -> None:
        Limits(1, 1e9).require("interval_us", interval_us)
        Limits(0, 1e9).require("delay_us", delay_us)
        Limits(1, 100, whole=True).require("history", history)
        Limits(0, 1).require("throughput", throughput)
        self.render_mode = None
        self.scenario: Fabric = scenario or SmallFabric()
        self.interval_us, self.delay_us, self.history = interval_us, delay_us, history
        self.templates = templates or Templates()
        self.throughput = throughput
        self.ports = Ports.of(self.scenario.fabric, ports)
        self.record: FabricRecord | None = None
        """Of the episode that ended last."""
        engine = transport if isinstance(transport, FabricEngine) else FabricEngine(transport)
        self._engine = replace(engine, settings=self.scenario.settings())
        size, count = len(self.ports) * NUMBERS * history, len(self.templates.markers)
        self.observation_space = spaces.Box(0.0, 1.0, (size,), dtype=np.float32)
        self.action_space = cast("gymnasium.Space[Any]", spaces.MultiDiscrete([count] * len(self.ports)))
        self._agents = Agents(self.ports, self.templates, history)
        self._looks: Looks | None = None
        self._end: weakref.finalize[Any, Any] | None = None

    @property
    def view(self) -> Single:
        """(ports, 6 · history) what each agent sees; the observation is the same in one row."""
        return self._agents.view.copy()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Single, dict[str, Any]]:
        """Begin an episode.

        Raises:
            InputError: flows or a transport that cannot be.
        """
        super().reset(seed=seed)
        self.close()
        drawn = int(self.np_random.integers(SEEDS))
        self._trial_seed = int((options or {}).get("trial_seed", drawn))
        self._agents = Agents(self.ports, self.templates, self.history)
        self._sum = _Sum(self.ports)
        looks = Looks(self._run(self._trial_seed), self.interval_us, self.delay_us)
        self._end = weakref.finalize(self, looks.close)
        looks.first()
        self._looks = looks
        return self.view.ravel(), self._info(0.0, np.zeros(len(self.ports)))

    def _run(self, seed: int) -> Any:
        """Return what runs an episode with a tuner; it does not hold on to this environment."""
        scenario, engine = self.scenario, self._engine

        def run(tuner: TunerMaker) -> FabricRecord:
            flows = scenario.flows(seed)
            horizon = min(scenario.horizon_ns(flows), scenario.end_ns)
            made = replace(engine, tuner=tuner)
            return made.run(scenario.fabric, flows, seed % SEEDS, horizon, last_round_ns=scenario.end_ns)

        return run

    def step(self, action: ArrayLike) -> tuple[Single, float, bool, bool, dict[str, Any]]:
        """Mark by a template at every port until the next look.

        Raises:
            InputError: the episode is over, or has not begun; or the action is outside the action space.
        """
        if self._looks is None:
            raise InputError("step: the episode is over or has not begun; call reset first")
        chosen = action_array(self.action_space, action)
        looks, self._looks = self._looks, None  # unless it comes to another look
        found = looks.after(self._agents.choose(chosen.astype(np.int64)))
        if isinstance(found, Seen):
            self._looks, interval, now_ns = looks, self._sum.looked(found), found.now_ns
        else:
            self.record, interval, now_ns = found, self._sum.ended(found), float(found["end_ns"])
        self._agents.see(interval)
        rewards = self.rewards(interval)
        return self.view.ravel(), float(rewards.mean()), False, self._looks is None, self._info(now_ns, rewards)

    def rewards(self, interval: Interval) -> Floats:
        """Return (ports,) what an interval earned."""
        worth = queue_worth(interval.queued_bytes, self._engine.settings.buffer_bytes)
        return self.throughput * np.minimum(interval.rate, 1) + (1 - self.throughput) * worth

    def _info(self, now_ns: float, rewards: Floats) -> dict[str, Any]:
        return {"trial_seed": self._trial_seed, "now_us": now_ns / 1000, "rewards": tuple(rewards.tolist())}

    def close(self) -> None:
        """End the episode that goes on."""
        self._looks = None
        if self._end is not None:
            self._end()


class _Sum:
    """Adds up what was seen, to know what was not when a run ends between two looks."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._until_ns = 0.0
        self._seen: tuple[Any, ...] = (0.0, 0.0, 0.0, 0.0)

    def looked(self, seen: Seen) -> Interval:
        queued = seen.mean_queued_bytes * seen.over_ns
        new = (seen.data_bytes, seen.data_packets, seen.marked_packets, queued)
        self._seen = tuple(old + more for old, more in zip(self._seen, new, strict=True))
        self._until_ns = seen.now_ns
        return self._ports.interval(seen)

    def ended(self, record: FabricRecord) -> Interval:
        over = max(float(record["end_ns"]) - self._until_ns, 1e-3)  # ns; nothing was sent in less
        queued = record["port_mean_queued_bytes"] * record["end_ns"]
        total = (record["port_data_bytes"], record["port_data_packets"], record["port_marked_packets"], queued)
        data, packets, marked, queue = (np.maximum(a - b, 0) for a, b in zip(total, self._seen, strict=True))
        return self._ports.counted(over, data, packets, marked, queue / over)

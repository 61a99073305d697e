"""`lcca/Ns3Ecn-v0`: a switch's queue in ns-3 whose marking an agent sets (needs ``lcca[drl]`` and ``make ns3``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.gym_envs.interface.spaces import action_array
from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.inputs.units import PACKET_BYTES
from lcca.studies.acc.marking.host import SWITCH
from lcca.studies.acc.marking.incast import Incast, Trace
from lcca.studies.acc.marking.settings import GRID, GRID_SHAPE, MAX_K, MIN_K, MarkSetting
from lcca.studies.acc.marking.switch import PredUtility, SwitchRecord, record_of
from lcca.workers.session import Session

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise missing("gymnasium", "environments") from error

Floats = NDArray[np.float32]

START = MarkSetting(8, 50, 0.5)
"""What an agent sees as the setting before its first one; nothing is sent by then."""

WIDTH = 6
"""Numbers of a state."""


def state(queue: float, rate: float, marked: float, setting: MarkSetting, buffer: int) -> Floats:
    """Return ACC's state (section VI-C.3 of PRED's paper), each number in [0, 1].

    They are the mean queue as log₂(1 + q) / log₂(1 + buffer), the rate and the marked rate over the link's, and the
    setting that was in force over the largest one of the grid.
    """
    numbers = (np.log2(1 + queue) / np.log2(1 + buffer), rate, marked)
    settings = (setting.min_k / max(MIN_K), setting.max_k / max(MAX_K), setting.max_p)
    return np.clip(np.array([*numbers, *settings], dtype=np.float32), 0, 1)


class Ns3EcnEnv(gymnasium.Env[Floats, Any]):
    """A switch's egress queue: each interval the agent chooses how it marks, and sees what came of it.

    An episode is a trial, which begins with nothing sent and is *truncated* at its end. A step is an interval. The
    state is that of `state`, with those of the last `history` − 1 intervals behind it (zeros before the first). The
    reward is PRED's utility of the interval. ``info`` has the trace, the trial's seed, `now_us`, `queue_packets`,
    `rate` and `marked` (shares of the link's rate).

    `reset` draws the trace among `traces` and the seed of the marks; ``options={"trace": t, "trial_seed": s}`` sets
    either.

    Args:
        incast: the traffic.
        traces: seeds of the flows; None draws fresh flows for every trial.
        interval_us: Δt. PRED's measures its utility over 5 round trips; the paper does not say what ACC's is.
        history: intervals that are seen.
        utility: what an interval is worth.
        actions: ``index``: one of the 252 settings of the grid; ``grid``: an index per parameter.
        timeout: seconds within which ns-3 must play an interval.

    Raises:
        InputError: any of it is impossible, or ns-3 is not installed.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        incast: Incast | None = None,
        traces: Sequence[int] | None = (1,),
        interval_us: float = 200.0,
        history: int = 1,
        utility: PredUtility | None = None,
        actions: Literal["index", "grid"] = "index",
        timeout: float = 60.0,
    ) -> None:
        if not 0 < interval_us < np.inf:
            raise InputError(f"interval_us: must be > 0 µs, got {interval_us!r:.60}")
        if isinstance(history, bool) or history != int(history) or history < 1:
            raise InputError(f"history: must be a whole number from 1 on, got {history!r:.60}")
        if actions not in ("index", "grid"):
            raise InputError(f"actions: must be index or grid, got {actions!r:.60}")
        if traces is not None and not traces:
            raise InputError("traces: at least one is needed, or None for fresh ones")
        self.render_mode = None
        self.incast = incast or Incast()
        self.traces = None if traces is None else tuple(traces)
        self.interval_us = interval_us
        self.history = history
        self.utility = utility or PredUtility()
        self.actions = actions
        installed()
        self._session = Session(SWITCH, timeout)
        self._trace: Trace = []
        self.observation_space = spaces.Box(0.0, 1.0, (WIDTH * history,), dtype=np.float32)
        discrete = spaces.Discrete(len(GRID)) if actions == "index" else spaces.MultiDiscrete(list(GRID_SHAPE))
        self.action_space = cast("gymnasium.Space[Any]", discrete)
        self._seen: Floats = np.zeros(WIDTH * history, dtype=np.float32)
        self._info: dict[str, Any] = {}
        self._over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin a trial.

        Raises:
            SimulationLost: ns-3 died or did not answer; the next reset begins afresh.
        """
        super().reset(seed=seed)
        given = options or {}
        drawn, trial_seed = int(self.np_random.integers(2**62)), int(self.np_random.integers(2**62))
        trace = drawn if self.traces is None else self.traces[drawn % len(self.traces)]
        trace, trial_seed = int(given.get("trace", trace)), int(given.get("trial_seed", trial_seed))
        self._info, self._over = {"trace": trace, "trial_seed": trial_seed}, True
        self._trace = self.incast.trace(trace)
        self._ask("begin", self.incast.plan(self._trace, trial_seed))
        self._over = False
        self._seen[:] = 0
        self._see(state(0, 0, 0, START, self.incast.buffer))
        return self._seen.copy(), {**self._info, "now_us": 0.0, "queue_packets": 0.0, "rate": 0.0, "marked": 0.0}

    def _ask(self, method: str, *arguments: Any) -> Any:
        about = f"trace {self._info['trace']}, seed {self._info['trial_seed']}"
        return self._session.call(method, *arguments, about=about)

    def _see(self, latest: Floats) -> None:
        self._seen[WIDTH:] = self._seen[:-WIDTH].copy()
        self._seen[:WIDTH] = latest

    def setting(self, action: ArrayLike) -> MarkSetting:
        """Return what an action means.

        Raises:
            InputError: it is outside the action space; the episode goes on.
        """
        chosen = action_array(self.action_space, action)
        return GRID[int(chosen) if self.actions == "index" else int(np.ravel_multi_index(tuple(chosen), GRID_SHAPE))]

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Mark by a setting for one interval.

        Raises:
            InputError: the episode is over, or has not begun; or the action is outside the action space.
            SimulationLost: ns-3 died or did not answer; the next reset begins afresh.
        """
        return self.mark(self.setting(action))

    def mark(self, setting: MarkSetting) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Mark by any setting for one interval, in the grid or not; otherwise as `step`."""
        if self._over:
            raise InputError("step: the episode is over or has not begun; call reset first")
        self._over = True  # unless an answer comes
        marking = (setting.min_k, setting.max_k, setting.max_p)
        time_us, queue, sent, marks, now_us, self._over = self._ask("advance", *marking, self.interval_us)
        full = self.incast.bytes_per_us * time_us
        rate, marked = sent / full, marks * PACKET_BYTES / full
        self._see(state(queue, rate, marked, setting, self.incast.buffer))
        measured = {"now_us": now_us, "queue_packets": queue, "rate": rate, "marked": marked}
        return self._seen.copy(), self.utility(rate, queue), False, self._over, {**self._info, **measured}

    def record(self) -> SwitchRecord:
        """Return the record of the trial, which is over; once.

        Raises:
            InputError: there is none.
        """
        if not (self._over and self._info):
            raise InputError("record: no trial has ended, or its record was taken")
        found = self._ask("collect")
        self._info = {}
        return record_of(self.incast, self._trace, found)

    def close(self) -> None:
        """End ns-3's process."""
        self._session.close()

"""PARALEON (ICNP 2025): sketches tell when the traffic changes, and annealing then tries DCQCN's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lcca.remy_plus.switches.control import Change, Given, Samples, Seen, Sketch, Sketches
from lcca.remy_plus.switches.interval_utility import Weights, host_ports
from lcca.remy_plus.switches.markers import marking
from lcca.studies.paraleon.annealing import Annealing, Schedule, Step
from lcca.studies.paraleon.flow_sizes import FlowSizes, FlowStates

STEPS: Mapping[str, Step] = {
    "increase_us": Step(300, 50, 600, 50, -1),
    "increase_gbps": Step(0.005, 0.005, 0.1, 0.005, 1),
    "hyper_gbps": Step(0.05, 0.03, 0.6, 0.05, 1),
    "first_share": Step(0.5, 0.3, 0.8, 0.1, 1),
    "least_factor": Step(0.5, 0.3, 0.8, 0.1, -1),
    "min_gbps": Step(0.001, 0.001, 5, 0.3, 1),
    "gd": Step(11, 11, 13, 1, 1),
    "notification_gap_us": Step(4, 4, 128, 8, 1),
    "g_1024": Step(1019, 960, 1020, 5, -1),
    "initial_alpha_1024": Step(1023, 1, 1023, 16, -1),
    "kmin_bytes": Step(400e3, 40e3, 1600e3, 100e3, 1),
    "kmax_bytes": Step(1600e3, 480e3, 6400e3, 400e3, 1),
    "pmax": Step(0.2, 0.1, 0.4, 0.01, -1),
}
"""What is tuned, with ranges, steps and directions of its public code; thresholds at ports of 100 Gb/s."""


@dataclass
class Paraleon:
    """A controller that looks at every switch and host, and sets the same parameters everywhere.

    Attributes:
        every_us: monitor interval, λ_MI.
        delay_us: from a look to when devices have what it set.
        weights: of the utility (equation 1).
        elephant_bytes: τ.
        window: δ, intervals.
        ternary: whether flows have three states over intervals; else each interval counts by itself.
        sizes: whether the share of elephants guides the annealing and heats it; else both ways are as likely, and it is
            heated as soon as it is cold.
        threshold: θ of the divergence that heats it, nats.
        schedule: of the annealing, for a utility in per cent.
        exploit: η.
        guided: see `Annealing`.
        sketch: of every switch, or its samples.
        sizes_every: intervals from look to look at sizes.
    """

    every_us: float
    delay_us: float
    weights: Weights
    elephant_bytes: float
    window: int
    ternary: bool
    sizes: bool
    threshold: float
    schedule: Schedule
    exploit: float
    guided: bool
    sketch: Sketch | Samples
    sizes_every: int = 1
    _given: Given | None = None
    _states: FlowStates = field(default_factory=lambda: FlowStates(1, 1))
    _before: FlowSizes | None = None
    _gathered: list[Sketches] = field(default_factory=list)
    _annealing: Annealing | None = None

    def begin(self, given: Given) -> Change:
        """Begin with the defaults.

        Raises:
            InputError: the transport is not DCQCN.
        """
        given.require_dcqcn()
        random = np.random.default_rng([given.seed, 14])
        self._given, self._before, self._gathered = given, None, []
        self._states = FlowStates(self.elephant_bytes, self.window, self.ternary)
        self._annealing = Annealing(STEPS, self.schedule, self.exploit, self.guided, random)
        return self._change(self._annealing.tried)

    def tune(self, seen: Seen) -> Change:
        """Look whether the traffic has changed; while the annealing is hot, try other parameters."""
        annealing = self._annealing
        assert annealing is not None and seen.sketches is not None and self._given is not None
        changed = self._look(seen.sketches)
        if annealing.cold:
            if changed or not self.sizes:
                annealing.heat()
            else:
                return Change(told=self._told)
        share = self._before.share if self.sizes and self._before else 0.5
        utility = self.weights.utility(seen, host_ports(self._given))
        return replace(self._change(annealing.move(100 * utility, share)), told=self._told)

    @property
    def _told(self) -> dict[str, float]:
        """The share of elephants as it is known now, and from how many bytes on they are such."""
        if not self.sizes:
            return {}
        return {"elephant_share": self._before.share if self._before else 0.5, "elephant_bytes": self.elephant_bytes}

    def _look(self, sketches: Sketches) -> bool:
        """Gather what was counted; return whether sizes have changed since the look at them before."""
        self._gathered.append(sketches)
        if len(self._gathered) < self.sizes_every:
            return False
        found, before = self._states.update(*self._gathered), self._before
        self._gathered = []
        if found.flows == 0:  # nobody sent, which says nothing about sizes
            return False
        self._before = found
        return before is not None and found.divergence(before) > self.threshold

    def _change(self, values: Mapping[str, float]) -> Change:
        assert self._given is not None
        line = float(np.min(self._given.topology.host_gbps))
        parameters = {name: values[name] for name in _AS_THEY_ARE}
        parameters["first_gbps"] = values["first_share"] * line
        parameters["alpha_divisor"] = 2.0 ** (round(values["gd"]) - 10)
        parameters["g"] = 1 - values["g_1024"] / 1024
        parameters["initial_alpha"] = values["initial_alpha_1024"] / 1024
        kmax = max(values["kmin_bytes"], values["kmax_bytes"])
        red = marking("red", kmin_bytes=values["kmin_bytes"], kmax_bytes=kmax, pmax=values["pmax"])
        return Change(parameters, {None: red})


_AS_THEY_ARE = ("increase_us", "increase_gbps", "hyper_gbps", "least_factor", "min_gbps", "notification_gap_us")

"""Runs over time, look by look of a tuner: throughput, round trips, queue, pauses, parameters; and their figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lcca.evaluation.report.figures.style import drawing, letters, mark, new_figure
from lcca.evaluation.trials.metrics import Metric
from lcca.remy_plus.fabric.observation import Look, Observation, setting
from lcca.remy_plus.switches.control import Given, Seen
from lcca.remy_plus.switches.interval_utility import Weights, host_ports

PANELS = 3
"""Side by side."""


class Ports:
    """Whose the directed ports of a fabric are, and which is the fullest.

    Attributes:
        at_switch: (ports,) whether a switch sends there.
        to_host: (ports,) whether a host receives.
        host_gbps: as PARALEON's utility takes it.
        fullest: the port of a switch with the largest mean queue over all looks.
    """

    def __init__(self, given: Given, looks: Sequence[Look]) -> None:
        node, peer, _ = given.topology.ports
        self.at_switch, self.to_host = node >= given.topology.hosts, peer < given.topology.hosts
        self.host_gbps = host_ports(given)
        total = np.sum([each.seen.mean_queued_bytes * each.seen.over_ns for each in looks], axis=0)
        self.fullest = int(np.argmax(np.where(self.at_switch, total, -1)))


@dataclass(frozen=True, eq=False)
class Interval:
    """The time between two looks."""

    seen: Seen
    ports: Ports

    def throughput_gbps(self) -> float:
        """Return that of data packets that reach hosts, headers and all."""
        return float(self.seen.data_bytes[self.ports.at_switch & self.ports.to_host].sum()) * 8 / self.seen.over_ns

    def rtt_us(self) -> float:
        """Return the mean over ACKs; NaN without any."""
        acks = float(self.seen.acks.sum())
        return float(np.nansum(self.seen.rtt_ns * self.seen.acks)) / acks / 1000 if acks else np.nan

    def queue_bytes(self) -> float:
        """Return the mean queue at the fullest port of the run."""
        return float(self.seen.mean_queued_bytes[self.ports.fullest])

    def longest_queue_bytes(self) -> float:
        """Return the mean queue at the fullest port of the interval."""
        return float(self.seen.mean_queued_bytes[self.ports.at_switch].max())

    def marked(self) -> float:
        """Return the share of marked ones of the data packets that switches sent on."""
        data = float(self.seen.data_packets[self.ports.at_switch].sum())
        return float(self.seen.marked_packets.sum()) / data if data else 0.0


OVER_TIME: dict[str, Metric] = {
    each.name: each
    for each in (
        Metric("throughput_gbps", "throughput", Interval.throughput_gbps, "more", unit="Gb/s"),
        Metric("rtt_us", "mean round trip", Interval.rtt_us, "less", unit="µs"),
        Metric("queue_bytes", "queue of the fullest port", Interval.queue_bytes, "less", unit="kB", scale=1e3),
        Metric("longest_queue_bytes", "longest queue", Interval.longest_queue_bytes, "less", unit="kB", scale=1e3),
        Metric("marked", "share of marked packets", Interval.marked),
        Metric("paused", "share of time paused", lambda t: float(t.seen.paused.mean())),
        Metric("utility", "utility of PARALEON", lambda t: Weights().utility(t.seen, t.ports.host_gbps), "more"),
    )
}
"""Columns of `series`. Paused is a mean over all ports. The utility is that of equation 1, with the weights of Table
III, from 0 to 1."""


def series(policy: str, observed: Observation) -> pd.DataFrame:
    """Return a row per look of a run.

    Columns: policy; time_us, the end of the interval; `OVER_TIME`; then what held at the end of the interval:
    parameters of the transport and `red.kmin_bytes` and such of the marker at the fullest port; what that marker has
    come to by itself, as PRED's `now.flows`; and what the tuner has found in the interval, as `told.elephant_share`.
    """
    if observed.given is None or not observed.looks:
        return pd.DataFrame(columns=["policy", "time_us", *OVER_TIME])
    ports = Ports(observed.given, observed.looks)
    table = pd.DataFrame([_row(look, ports) for look in observed.looks])
    table.insert(0, "policy", policy)
    return table


def _row(look: Look, ports: Ports) -> dict[str, float]:
    interval = Interval(look.seen, ports)
    measured = {each.name: each.compute(interval) for each in OVER_TIME.values()}
    own = {f"now.{name}": float(values[ports.fullest]) for name, values in look.seen.marker_states.items()}
    found = {f"told.{name}": value for name, value in look.told.items()}
    return {"time_us": look.seen.now_ns / 1000} | measured | setting(look, ports.fullest) | own | found


@drawing
def draw_series(tables: Sequence[pd.DataFrame], title: str) -> Figure:
    """Draw runs over time: a panel for each metric and for each parameter that anybody changed.

    Args:
        tables: of the transports, as `series` returns them.
        title: of the figure: the scenario and the seed.
    """
    panels = {name: each.head for name, each in OVER_TIME.items()} | {name: name for name in changed(tables)}
    rows = -(-len(panels) // PANELS)
    figure = new_figure(2.0 * rows + 0.3 + 0.2 * -(-len(tables) // PANELS), width=9.0)
    axes = list(figure.subplots(rows, PANELS, sharex=True, squeeze=False).ravel())
    for ax, (name, words) in zip(axes, panels.items(), strict=False):
        _draw_panel(ax, tables, name)
        ax.set_title(words, loc="left", fontsize=letters(9))
    for ax in axes[len(panels) - PANELS : len(panels)]:
        ax.set_xlabel("time, ms")
        ax.tick_params(labelbottom=True)
    for unused in axes[len(panels) :]:
        unused.set_visible(False)
    names = [str(each["policy"].iloc[0]) if len(each) else "" for each in tables]
    figure.legend(axes[0].get_lines(), names, loc="outside lower center", ncols=PANELS, title=title)
    return figure


def changed(tables: Sequence[pd.DataFrame]) -> list[str]:
    """Return the parameters that changed during a run, in their order."""
    found = [
        name
        for each in tables
        for name in each.columns
        if name not in ("policy", "time_us", *OVER_TIME) and each[name].nunique(dropna=False) > 1
    ]
    return list(dict.fromkeys(found))


def _draw_panel(ax: Axes, tables: Sequence[pd.DataFrame], name: str) -> None:
    scale = OVER_TIME[name].scale if name in OVER_TIME else 1.0
    for number, each in enumerate(tables):
        values = each[name] / scale if name in each else pd.Series(float("nan"), index=each.index)
        look = mark(number)
        ax.plot(
            *(each["time_us"] / 1000, values), color=look.hue, linestyle=look.dashes, linewidth=1, drawstyle="steps-pre"
        )
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}")
    ax.yaxis.set_major_locator(MaxNLocator(4))

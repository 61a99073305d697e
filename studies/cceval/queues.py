"""Stand-in simulators: one link, flows served in order of arrival or all at once. The truth is soon known by force.

All trials of a batch advance together, in arrays with a row per trial, so that a million trials take seconds.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from lcca.studies.cceval.importance.flows import Floats, Flows, Ints, Simulator

TRIALS_AT_ONCE = 1024  # rows that fit a cache

Serve: TypeAlias = Callable[[Floats, Floats, Ints], Floats]
"""(arrival, size, flows per row) with rows padded by arrivals at infinity -> times of completion."""


def first_come_first_served(link_rate: float = 1.0) -> Simulator:
    """Return a link that serves whole flows in order of arrival, `link_rate` in sizes per unit of time."""
    return _in_parts(lambda arrival, size, count: _in_order(arrival, size / link_rate))


def processor_sharing(link_rate: float = 1.0) -> Simulator:
    """Return a link that all present flows share alike at every instant."""
    return _in_parts(lambda arrival, size, count: _sharing(arrival, size, count, link_rate))


def _in_parts(serve: Serve) -> Simulator:
    def simulate(flows: Flows) -> Floats:
        fct = np.empty_like(flows.arrival)
        count = np.diff(flows.begin)
        for first in range(0, flows.trials, TRIALS_AT_ONCE):
            rows = count[first : first + TRIALS_AT_ONCE]
            part = slice(flows.begin[first], flows.begin[first + len(rows)])
            present = np.arange(rows.max(initial=0)) < rows[:, None]
            arrival, size = np.full(present.shape, np.inf), np.zeros(present.shape)
            arrival[present], size[present] = flows.arrival[part], flows.size[part]
            fct[part] = serve(arrival, size, rows)[present] - flows.arrival[part]
        return fct

    return simulate


def _in_order(arrival: Floats, service: Floats) -> Floats:
    done = np.empty_like(arrival)
    free = np.zeros(len(arrival))
    for n in range(arrival.shape[1]):
        free = np.maximum(free, arrival[:, n]) + service[:, n]
        done[:, n] = free
    return done


def _sharing(arrival: Floats, size: Floats, count: Ints, link_rate: float) -> Floats:
    """Return times of completion; the busiest rows go first, so that those without events left can be cut off."""
    order = np.argsort(-count, kind="stable")
    share = _Sharing(arrival[order], size[order], link_rate)
    events = 2 * count[order]
    for step in range(int(events.max(initial=0))):
        share.step(int(np.searchsorted(-events, -step)))
    done = np.empty_like(share.done)
    done[order] = share.done
    return done


class _Sharing:
    """Rows of processor sharing, from event to event; a flow leaves once each flow was served as much as its size."""

    def __init__(self, arrival: Floats, size: Floats, link_rate: float) -> None:
        rows = len(arrival)
        self.arrival = np.concatenate([arrival, np.full((rows, 1), np.inf)], axis=1)
        self.size, self.link_rate = size, link_rate
        self.leaves_at = np.full(size.shape, np.inf)  # in service per flow since the start
        self.done = np.full(size.shape, np.inf)
        self.served, self.now, self.present = np.zeros(rows), np.zeros(rows), np.zeros(rows)
        self.following = np.zeros(rows, dtype=np.int64)

    def step(self, rows: int) -> None:
        """Take the next event of each of the first rows, all of which have one."""
        every = np.arange(rows)
        first = self.leaves_at[:rows].argmin(axis=1)
        least = self.leaves_at[every, first]
        now, served, present, following = (x[:rows] for x in (self.now, self.served, self.present, self.following))
        arrive = self.arrival[every, following]
        wait = np.where(present > 0, least - served, np.inf)
        leave = now + wait * np.maximum(present, 1) / self.link_rate
        coming = arrive <= leave
        served += np.where(present > 0, (arrive - now) * self.link_rate / np.maximum(present, 1), 0.0)
        served[~coming] = least[~coming]
        now[:] = np.where(coming, arrive, leave)
        row, flow = every[~coming], first[~coming]
        self.done[row, flow], self.leaves_at[row, flow] = now[~coming], np.inf
        row, flow = every[coming], following[coming]
        self.leaves_at[row, flow] = served[coming] + self.size[row, flow]
        present += np.where(coming, 1, -1)
        following += coming

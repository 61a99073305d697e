"""Does this machine's network stack do what ns-3 and the engine say? Thirty networks of long flows, one by one.

    python benchmarks/linux.py [--networks 30] [--seconds 12] [--seed 1] [--only linux ns3 engine] [--jitter 0]
        [--options single_segments=false --trials OTHER.json]

Rates of 10 to 100 Mbit/s, RTTs of 10 to 100 ms, one to four flows that do not end, buffers of half to two BDPs. Kernel
controls run here and in ns-3, policies of the engine here (over UDP; laws with `@kernel` in TCP) and in the engine;
each network once in each. What was measured is kept (--trials FILE), and what that has is not measured again. Printed
per policy, as JSON by --json: on how many networks goodput and queueing agree, with medians. Real time is 12 s a
network and policy.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.linux.simulator import Linux
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.signal_sets.load import resolve

KERNEL = ("cubic", "newreno", "bbr")
OURS = ("aimd", "configs/policies/e2e.json", "configs/policies/law-e2e.json")
BYTES = 1500
SCALE = 1000.0
"""Milliseconds stand for microseconds: policies learnt at these, and hand-designed controls in ns-3 count on it."""

GOODPUT, QUEUE = {"kernel": 0.03, "ours": 0.05}, {"kernel": 0.15, "ours": 0.10}
"""Within which they agree: shares of goodput and of queueing; or of the kernel's `QUEUE_MS`, and of ours a tenth of a
packet's time on the link."""

QUEUE_MS = 3.0


def networks(count: int, seed: int, scale: float) -> list[Network]:
    """Return networks of long flows, in ms where they stand for µs."""
    found = []
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        mbps, rtt_ms = float(rng.integers(1, 11) * 10), float(rng.integers(1, 11) * 10)
        rate, rtt = mbps / 8 / BYTES, rtt_ms * 1e3
        buffer = max(10, round(rate * rtt * 2 ** rng.uniform(-1, 1)))
        senders = int(rng.integers(1, 5))
        found.append(Network(i, rate * scale, rtt / scale, senders, float(buffer), 1e12, 1.0, 0.0))
    return found


def simulator(name: str, seconds: float, scale: float, options: LinuxOptions) -> Any:
    """Return a simulator for trials of so many seconds."""
    us = seconds * 1e6 / scale
    if name == "linux":
        return Linux(us, replace(options, time_scale=scale, probe=False))
    if name == "ns3":
        return Ns3(us, jobs=1, options=Ns3Options(packet_bytes=BYTES, header_bytes=0))
    return Engine(us, jobs=1)


def measured(
    name: str, policy: str, on: Network, seconds: float, scale: float, seed: int, options: LinuxOptions
) -> dict[str, Any]:
    """Return goodput as a share of the link, queueing in ms and what is known of the trial's quality."""
    file, _, place = policy.partition("@")
    runs = simulator(name, seconds, scale, replace(options, kernel_laws=place == "kernel"))
    compiled = runs.compile(resolve(file, name).policy)
    record = runs.run([compiled], NetworkList([on]), [0], [0], [seed])
    row = {
        "goodput": float(record["trial_delivered"][0] / (runs.duration * on.link_rate)),
        "queue_ms": float(record["trial_queue_mean_packets"][0] / on.link_rate * scale / 1e3),
        "error": str(record.errors[0]),
    }
    if name == "linux":
        row |= {each: float(record[f"trial_{each}"][0]) for each in ("late_us", "host_delay_us")}
    return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=["linux", "ns3", "engine"])
    parser.add_argument("--jitter", type=float, default=0.0, help="ms by which hosts in the engine note ACKs late")
    parser.add_argument("--flows", type=int, help="of every network, in place of one to four; with a FILE of its own")
    parser.add_argument("--options", default="", help="of Linux, as in single_segments=false")
    parser.add_argument("--policies", nargs="*", default=[*KERNEL, *OURS])
    parser.add_argument("--trials", type=Path, default=Path("linux-trials.json"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found: dict[str, Any] = json.loads(given.trials.read_text()) if given.trials.is_file() else {}
    for i in range(given.networks):
        for policy in given.policies:
            on = networks(given.networks, given.seed, SCALE)[i]
            on = replace(on, senders=given.flows or on.senders)
            for name in ("linux", "ns3" if policy in KERNEL else "engine"):
                key = f"{i} {policy} {name} {given.seconds:g} s, seed {given.seed}"
                if name == "engine" and given.jitter:
                    key, on = f"{key}, jitter {given.jitter:g}", replace(on, jitter=given.jitter * 1e3 / SCALE)
                if key in found or name not in given.only:
                    continue
                options = LinuxOptions.of(given.options) if given.options else LinuxOptions()
                found[key] = measured(name, policy, on, given.seconds, SCALE, given.seed, options)
                given.trials.write_text(json.dumps(found, indent=1))
    rows = [row for policy in given.policies if (row := agreement(policy, given, found))]
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        print(
            *(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items())
        )


def agreement(policy: str, given: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any] | None:
    """Return on how many networks a policy did the same here and elsewhere, and medians."""
    kind, peer = ("kernel", "ns3") if policy in KERNEL else ("ours", "engine")
    rows = []
    for i in range(given.networks):
        end = f"{given.seconds:g} s, seed {given.seed}"
        late = f", jitter {given.jitter:g}" if given.jitter and peer == "engine" else ""
        pair = [found.get(f"{i} {policy} {key}") for key in (f"linux {end}", f"{peer} {end}{late}")]
        if all(pair) and not any(each["error"] for each in pair):
            packet_ms = SCALE / networks(i + 1, given.seed, SCALE)[i].link_rate / 1e3
            rows.append([*(each[key] for key in ("goodput", "queue_ms") for each in pair), packet_ms])
    if not rows:
        return None
    here, there, queue, other, packet_ms = np.array(rows).T
    goodput = abs(here / there - 1) <= GOODPUT[kind]
    near = abs(queue / np.maximum(other, 1e-9) - 1) <= QUEUE[kind]
    near |= abs(queue - other) <= (QUEUE_MS if kind == "kernel" else packet_ms / 10)
    called = Path(policy).name.replace(".json", "").replace("@", ", in the ")
    return {
        "policy": called + (f", jitter {given.jitter:g} ms" if given.jitter else ""),
        "peer": peer,
        "networks": len(rows),
        "goodput_agrees": int(goodput.sum()),
        "queueing_agrees": int(near.sum()),
        "both": int((goodput & near).sum()),
        "goodput": float(np.median(here)),
        "goodput_there": float(np.median(there)),
        "ratio_low": float(np.quantile(here / there, 0.1)),
        "ratio_high": float(np.quantile(here / there, 0.9)),
        "queue_ms": float(np.median(queue)),
        "queue_ms_there": float(np.median(other)),
    }


if __name__ == "__main__":
    main()

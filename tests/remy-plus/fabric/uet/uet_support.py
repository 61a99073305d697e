"""Reference runs of a public Ultra Ethernet simulator, and the same in the engine."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.fabric.topology import FabricTopology

DATA = Path(os.environ.get("LCCA_REFERENCE", Path(__file__).parents[5] / "shared")) / "data" / "uet"
"""As the fixture `reference` has it, for names of tests."""

TOPOLOGIES = {"star": "star17", "leafspine": "leafspine16", "fattree": "fattree16", "fattree128": "fattree128"}
HOSTS = {"star17": 17, "fattree128": 128}
TRANSPORTS = {"nscc": "nscc", "rccc": "rccc", "both": "nscc+rccc"}
SPRAYING = {"oblivious", "bitmap", "reps"}
WORKLOADS = ("ws50", "fbhdp50", "fbhdp70")
SHORTEST_COUNT = 50
"""Of trims or marks of a run that are compared: of fewer, chance decides."""

PAYLOAD, OVERHEAD, CONTROL = 4086, 64, 64


@dataclass(frozen=True)
class Cell:
    """A scenario at a rate under a configuration: runs of the peer, and the same in the engine."""

    folder: Path
    scenario: str
    gbps: int
    configuration: str

    @property
    def name(self) -> str:
        return f"{self.scenario}-{self.gbps}-{self.configuration}"

    @property
    def is_workload(self) -> bool:
        return self.scenario.startswith(WORKLOADS)

    @property
    def topology_name(self) -> str:
        traffic, name, *slow = self.scenario.split("-")
        return "fattree128" if traffic == "perm128" else TOPOLOGIES[name] + "".join(slow)

    @cached_property
    def topology(self) -> FabricTopology:
        name = self.topology_name
        links = pd.read_csv(self.folder / f"topology-{name}-{self.gbps}.csv")
        hosts, nodes = HOSTS.get(name, 16), int(links[["a", "b"]].to_numpy().max()) + 1
        back = links.gbps_b_to_a.to_numpy() if "gbps_b_to_a" in links else None
        ends = (links.a.to_numpy(), links.b.to_numpy(), links.gbps.to_numpy(), links.delay_ns.to_numpy())
        return FabricTopology(hosts, nodes - hosts, *ends, back)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row per seed and flow."""
        return pd.read_csv(self.folder / f"fct-{self.name}.csv")

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row per seed."""
        rows = pd.read_csv(self.folder / "summary.csv")
        own = (rows.scenario == self.scenario) & (rows.gbps == self.gbps) & (rows.config == self.configuration)
        return rows[own]

    @cached_property
    def parameters(self) -> pd.Series:
        rows = pd.read_csv(self.folder / "parameters.csv")
        transport, _, more = self.configuration.partition("-")
        trimming = "notrim" if "notrim" in more else "trim"
        topology = self.topology_name.removesuffix("slow")
        own = (rows.topology == topology) & (rows.gbps == self.gbps) & (rows.trimming == trimming)
        return rows[own & (rows.transport == transport)].iloc[0]

    def flows(self, seed: int) -> FabricFlows:
        """The flows, on the peer's own ways where each has one."""
        name = self.folder / f"flows-{self.scenario}-{self.gbps}.csv"
        rows = pd.read_csv(name if name.exists() else self.folder / f"flows-{self.scenario}.csv")
        rows = rows.sort_values(["start_ns", "id"], kind="stable")
        ways: dict[str, Any] = {}
        if self.configuration.endswith("-ecmp"):
            paths = pd.read_csv(self.folder / f"paths-{self.name}.csv", dtype={"path": str, "ack_path": str})
            own = paths[paths.seed == seed].set_index("id").loc[rows.id]
            ways = {key: [tuple(map(int, way.split("-"))) for way in own[key]] for key in ("path", "ack_path")}
        columns = (rows[key].to_numpy() for key in ("src", "dst", "size_bytes", "start_ns"))
        return FabricFlows(*columns, id=rows.id.to_numpy(), **ways)

    @property
    def engine(self) -> FabricEngine:
        transport, _, more = self.configuration.partition("-")
        changes: dict[str, Any] = {"base_rtt_ns": float(self.parameters.network_rtt_ns)}
        if more == "ecmp":
            changes["spraying"] = "flow"
        if more in SPRAYING:
            changes["spraying"] = more
        if more.startswith("notrim"):
            changes |= {"queue_bdps": 5, "trim_bytes": 0, "sleek": more.endswith("sleek")}
        return FabricEngine(
            TRANSPORTS[transport], {} if transport == "nscc" else {"asks": 0}, settings("uet-htsim", **changes)
        )

    def run(self, seed: int, ways_of: int = 1) -> FabricRecord:
        """Run the engine with a seed and, where flows have one way each, on those of a seed of the peer."""
        return self.engine.run(self.topology, self.flows(ways_of), seed=seed, horizon_ns=3e8)

    def groups(self) -> list[list[dict[str, float]]]:
        """What some runs of the engine found; those of a group differ by chance alone."""
        ways = self.summary.seed.to_list() if self.configuration.endswith("-ecmp") else [1]
        each = max(20 // len(ways), 2) if len(ways) > 1 else 20
        return [[self.found(self.run(seed, way)) for seed in range(1, each + 1)] for way in ways]

    # --- what is compared

    @property
    def measures(self) -> list[str]:
        """Columns of the peer's summary; a few flows of RCCC that wait for its idle pacer make up its mean slowdown."""
        counts = [name for name in ("trims", "pkts_with_mark_received") if self.counts(name).mean() >= SHORTEST_COUNT]
        if not self.is_workload:
            return ["mean_fct_us", "max_fct_us", *counts]
        mean = ["mean_slowdown"] if self.configuration.startswith("nscc") else []
        return ["p50_slowdown", "p99_slowdown", *mean, *counts]

    def counts(self, name: str) -> pd.Series:
        rows = self.summary
        return rows.trims_arriving + rows.trims_tail if name == "trims" else rows[name]

    def peer(self, name: str) -> np.ndarray:
        """Of each of the peer's seeds."""
        return self.counts(name).to_numpy(float)

    def range_of(self, name: str, values: np.ndarray) -> tuple[float, float]:
        """Widened by 2 %, of counts by 15 %."""
        wide = 0.15 if name in ("trims", "pkts_with_mark_received") else 0.02
        return float(values.min() * (1 - wide)), float(values.max() * (1 + wide))

    def apart(self, name: str, groups: list[list[dict[str, float]]]) -> str:
        """Return how the engine differs from the peer; empty if within 2 % of its range over seeds, or by chance.

        Counts have 15 %. By chance are three standard errors of the difference, where a run of the engine at least is
        in the range: the peer has five seeds at most, and its range is often narrower than seeds differ.
        """
        peer, runs = self.peer(name), [[each[name] for each in group] for group in groups]
        mean, wanted = float(np.mean(runs)), float(peer.mean())
        spread = float(np.sqrt(np.mean([np.var(group, ddof=1) for group in runs])))
        chance = 3 * spread * np.sqrt(1 / np.size(runs) + 1 / len(peer))
        low, high = self.range_of(name, peer)
        among = any(low <= each <= high for group in runs for each in group)
        if low <= mean <= high or (abs(mean - wanted) <= chance and among):
            return ""
        return f"{name}: {mean:.5g}, not {wanted:.5g} ({peer.min():.5g} to {peer.max():.5g}); by chance {chance:.2g}"

    def found(self, record: FabricRecord) -> dict[str, float]:
        """The same of a run of the engine."""
        fct, to_hosts = record["flow_fct_ns"], record["port_peer"] < self.topology.hosts
        slowdown = fct / self.lone_ns(record)
        return {
            "mean_fct_us": fct.mean() / 1e3,
            "max_fct_us": fct.max() / 1e3,
            "mean_slowdown": slowdown.mean(),
            "p50_slowdown": np.quantile(slowdown, 0.5),
            "p99_slowdown": np.quantile(slowdown, 0.99),
            "trims": record["port_trims"].sum(),
            "pkts_with_mark_received": record["port_marked_packets"][to_hosts].sum(),
        }

    def lone_ns(self, record: FabricRecord) -> np.ndarray:
        """By the formula of the reference's README: when the ACK of the last byte of a flow alone arrives."""
        size = self.flows(1).size_bytes
        hops = (record["flow_ports"] >= 0).sum(axis=1)
        packets = -(-size // PAYLOAD)
        last = (size - PAYLOAD * (packets - 1) + OVERHEAD) * 8 / self.gbps
        full = (PAYLOAD + OVERHEAD) * 8 / self.gbps
        several = hops * 1000 + (hops + packets - 2) * full + last
        return np.where(packets > 1, several, hops * (1000 + last)) + hops * (1000 + CONTROL * 8 / self.gbps)


def cells(folder: Path) -> list[Cell]:
    """Return all of them; none without the data."""
    if not (folder / "summary.csv").exists():
        return []
    rows = pd.read_csv(folder / "summary.csv")[["scenario", "gbps", "config"]].drop_duplicates()
    return [Cell(folder, *row) for row in rows.itertuples(index=False)]

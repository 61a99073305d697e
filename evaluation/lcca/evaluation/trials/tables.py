"""What the report shows of a run: its test, apart from other phases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.layout import NETWORK_COLUMNS
from lcca.evaluation.trials.loaded_run import LoadedRun, check_files, network_table, read_costs, training_costs
from lcca.inputs.errors import InputError

Json = dict[str, Any]

TRIAL_KEY = ["policy", "network", "seed"]


@dataclass(frozen=True, eq=False)
class RunTables:
    """What the report shows of a run: its test, apart from other phases.

    Attributes:
        run: that is read.
        summary: its result.
    """

    run: LoadedRun
    summary: Json

    @classmethod
    def load(cls, folder: Path | str) -> RunTables:
        """Read a run folder.

        Raises:
            InputError: it has no result, a file that belongs to it is missing, or one is damaged.
        """
        run = LoadedRun(folder)
        check_files(run.path, run.manifest)
        if not run.result:
            raise InputError(f"{folder}: no {layout.SUMMARY}: its run has not finished")
        return cls(run, run.result)

    @cached_property
    def comparisons(self) -> list[Json]:
        """Those of the test, with the history of their looks where that is kept."""
        conditions = (layout.GENERALISATION, layout.NS3_VALIDATION)
        return [each for each in self.run.comparisons if each["phase"] not in conditions]

    @cached_property
    def trials(self) -> pd.DataFrame:
        """Every test trial of the selected policies that did not fail, sorted by policy, network and seed."""
        return self._good(layout.TEST)

    @cached_property
    def networks(self) -> pd.DataFrame:
        """One row per network of these trials."""
        return self._networks(layout.TEST)

    @cached_property
    def trained(self) -> pd.DataFrame:
        """Every test trial of all trainings that did not fail; networks of one training seed are no other's."""
        return self._good(layout.TRAININGS_TEST)

    @cached_property
    def trained_networks(self) -> pd.DataFrame:
        """One row per network of these trials."""
        return self._networks(layout.TRAININGS_TEST)

    @cached_property
    def repeated(self) -> pd.DataFrame:
        """Repeated trials on single networks that did not fail; may be empty."""
        return self._good(layout.PER_NETWORK)

    @cached_property
    def failed(self) -> int:
        """How many test trials failed."""
        phases = (self._phase(phase) for phase in (layout.TEST, layout.TRAININGS_TEST))
        return sum(int((rows["status"] != "ok").sum()) for rows in phases)

    @property
    def learning(self) -> pd.DataFrame:
        """Training scores by step, empty if none were recorded."""
        return self.run.learning

    @property
    def costs(self) -> Json | None:
        """Of the phases, or None."""
        return read_costs(self.run.path)

    @property
    def manifest(self) -> Json:
        """Of the run."""
        return self.run.manifest

    @property
    def config(self) -> str:
        """Text of the configuration, or empty."""
        return self.run.config_text

    @cached_property
    def packet_bytes(self) -> int | None:
        """Bytes of a packet, as the configuration has them."""
        try:
            size = self.run.config.get("packet_bytes")
        except InputError:
            return None
        return size if isinstance(size, int) else None

    @property
    def folder(self) -> Path:
        """Of the run."""
        return self.run.path

    def _phase(self, phase: str) -> pd.DataFrame:
        """Return the trials of a phase, with the networks' parameters."""
        found = self.run.rows(phase)
        if found.empty:
            return pd.DataFrame(columns=[*TRIAL_KEY, "status", "score_bits"])
        return found.drop_duplicates(TRIAL_KEY).sort_values(TRIAL_KEY, kind="stable", ignore_index=True)

    def _good(self, phase: str) -> pd.DataFrame:
        rows = self._phase(phase).drop(columns=NETWORK_COLUMNS, errors="ignore")
        return rows[rows["status"] == "ok"].reset_index(drop=True)

    def _networks(self, phase: str) -> pd.DataFrame:
        """Return the networks of a phase; none of a fabric."""
        whole = self._phase(phase)
        on_networks = NETWORK_COLUMNS[0] in whole
        return network_table(whole).sort_values("network", ignore_index=True) if on_networks else pd.DataFrame()

    @cached_property
    def block(self) -> int:
        """Networks in a block of the run's space."""
        return int(self.summary["block"])

    @cached_property
    def on_fabric(self) -> bool:
        """Whether the trials are on a fabric."""
        measured = any("slowdown_mean" in policy for policy in self.policies)
        return measured or "scenario" in self.trials or "scenario" in self.summary

    @cached_property
    def has_trainings(self) -> bool:
        """Whether policies are those of trainings, each with a test on the networks of its training seed."""
        return any("trained" in policy for policy in self.policies)

    @cached_property
    def policies(self) -> list[Json]:
        """Rows of the summary's policies; of several trainers those of each signal set's best one."""
        best = {(row["name"], row["utility"]): row.get("trainer") for row in self.summary.get("signal_sets", ())}
        return [
            row
            for row in self.summary.get("policies", ())
            if row.get("trainer") == best.get((row.get("signal_set"), row.get("utility")))
        ]

    @cached_property
    def training_trials(self) -> dict[str, int]:
        """Trials that each training took, by the policy that it ended with; empty if none were recorded."""
        spent = training_costs(self.learning)
        return {} if spent.empty else {str(name): int(count) for name, count in spent["training_trials"].items()}

    @cached_property
    def groups(self) -> list[str]:
        """Names by which policies are grouped and coloured, in the summary's order."""
        return list(dict.fromkeys(group_of(policy) for policy in self.policies))

    @cached_property
    def utilities(self) -> list[str]:
        """Names of the utilities, in the summary's order."""
        records = (*self.policies, *self.comparisons, self.summary)
        return list(dict.fromkeys(each["utility"] for each in records if "utility" in each))

    @cached_property
    def leading_comparisons(self) -> list[Json]:
        """Comparisons of signal sets if there are any, else of policies."""
        sets = [each for each in self.comparisons if each["level"] == "set"]
        return sets or self.comparisons

    def group_named(self, name: str) -> str:
        """Return the group of a policy's id, or the name itself if it is a signal set's."""
        return next((group_of(policy) for policy in self.policies if policy["id"] == name), name)

    def trials_by_policy(self) -> Iterator[tuple[Json, pd.DataFrame]]:
        """Yield each policy that has test trials as one of all trainings, with them."""
        by_policy = dict(iter(self.trained.groupby("policy"))) if len(self.trained) else {}
        for policy in self.policies:
            if policy["id"] in by_policy:
                yield policy, by_policy[policy["id"]]

    def differences(self, comparison: Json) -> pd.DataFrame:
        """Return score B − A per network that the comparison rests on, averaged over seeds.

        Returns:
            Columns `network` and `difference` (bits).
        """
        metric = comparison.get("metric", "score_bits")
        trials = self.trained if comparison["level"] == "set" else self.trials
        parts = [_paired(trials, a, b, metric) for a, b in self._policy_pairs(comparison)]
        if not parts:
            return pd.DataFrame({"network": [], "difference": []})
        both = pd.concat(parts)
        return both.groupby("network")["difference"].mean().reset_index()

    def _policy_pairs(self, comparison: Json) -> list[tuple[str, str]]:
        """Return the (A, B) policy ids behind a comparison: one pair per training seed at the set level."""
        if comparison["level"] == "policy":
            return [(comparison["A"], comparison["B"])]
        a, b = (self._by_training_seed(comparison[side], comparison["utility"]) for side in "AB")
        return [(a[seed], b[seed]) for seed in a if seed in b]

    def _by_training_seed(self, signal_set: str, utility: str) -> dict[Any, str]:
        return {
            policy["training_seed"]: policy["id"]
            for policy in self.policies
            if policy["signal_set"] == signal_set and policy["utility"] == utility
        }


def _paired(trials: pd.DataFrame, a: str, b: str, metric: str) -> pd.DataFrame:
    key = ["network", "seed"]
    columns = [*key, metric]
    of = {id: trials.loc[trials["policy"] == id, columns] for id in (a, b)}
    both = of[a].merge(of[b], on=key, suffixes=("_a", "_b"))
    both["difference"] = both[f"{metric}_b"] - both[f"{metric}_a"]
    return both.dropna(subset=["difference"])


def group_of(policy: Json) -> str:
    """Return the signal set of a policy, or the id of one that was not trained."""
    return str(policy.get("signal_set") or policy["id"])

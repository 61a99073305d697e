"""The tables of a sweep's run folder, read for figures and the report."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.settling.units import BLOCK
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.layout import NETWORK_COLUMNS
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import read_json, read_state, read_table
from lcca.inputs.errors import InputError
from lcca.inputs.files import read_with_digest

Json = dict[str, Any]

TRIAL_KEY = ["policy", "network", "seed"]

ADVICE = "delete it and resume the run to have it again"


@dataclass(frozen=True, eq=False)
class RunTables:
    """What a run folder holds.

    Attributes:
        folder: the run folder.
        summary: of the run.
        comparisons: with the history of their looks; without, where no verdicts are stored.
        trials: every test trial of the selected policies that did not fail, sorted by policy, network and seed.
        failed: how many test trials failed.
        networks: one row per network of these trials.
        trained: every test trial of all trainings that did not fail; networks of one training seed are no other's.
        trained_networks: one row per network of these trials.
        learning: training scores by step, empty if none were recorded.
        costs: of the phases, or None.
        manifest: of the run, or empty.
        config: text of the configuration, or empty.
        repeated: repeated trials on single networks that did not fail; may be empty.
        ns3: trials of the ns-3 validation, of both simulators; may be empty.
    """

    folder: Path
    summary: Json
    comparisons: list[Json]
    trials: pd.DataFrame
    failed: int
    networks: pd.DataFrame
    trained: pd.DataFrame
    trained_networks: pd.DataFrame
    learning: pd.DataFrame
    costs: Json | None
    manifest: Json
    config: str
    repeated: pd.DataFrame = field(default_factory=pd.DataFrame)
    ns3: pd.DataFrame = field(default_factory=pd.DataFrame)

    @classmethod
    def load(cls, folder: Path | str) -> "RunTables":
        """Read a run folder.

        Raises:
            InputError: it has no summary, a file that belongs to it is missing, or one is damaged.
        """
        folder = Path(folder)
        if not (folder / layout.SUMMARY).exists():
            raise InputError(f"{folder}: no {layout.SUMMARY}: not a run folder, or its run has not finished")
        manifest = read_manifest(folder) or {}
        check_files(folder, manifest)
        summary = read_json(folder / layout.SUMMARY, ADVICE)
        trials, networks = _phase(folder, layout.TEST)
        repeated, _ = _phase(folder, layout.PER_NETWORK)
        trained, trained_networks = _phase(folder, layout.TRAININGS_TEST)
        good, config = _good(trials), folder / layout.CONFIG
        return cls(
            folder=folder,
            summary=summary,
            comparisons=list((_json(folder / layout.VERDICTS) or summary).get("comparisons", [])),
            trials=trials[good].reset_index(drop=True),
            failed=int((~good).sum() + (~_good(trained)).sum()),
            networks=networks,
            trained=trained[_good(trained)].reset_index(drop=True),
            trained_networks=trained_networks,
            learning=_table(folder / layout.LEARNING),
            costs=read_costs(folder),
            manifest=manifest,
            config=read_with_digest(config, ADVICE).decode() if config.exists() else "",
            repeated=repeated[_good(repeated)].reset_index(drop=True),
            ns3=TrialStore(folder / layout.TRIALS).all(layout.NS3_VALIDATION),
        )

    @cached_property
    def block(self) -> int:
        """Networks in a block of the run's space."""
        return int(self.summary.get("block", BLOCK))

    @cached_property
    def on_fabric(self) -> bool:
        """Whether the trials are on a fabric."""
        return "scenario" in self.trials

    @cached_property
    def policies(self) -> list[Json]:
        """Rows of the summary's policies."""
        return list(self.summary.get("policies", []))

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
        return list(dict.fromkeys(policy["utility"] for policy in self.policies))

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


def training_costs(learning: pd.DataFrame) -> pd.DataFrame:
    """Return `training_trials` and `training_packets` of each training, by the policy that it ended with.

    Args:
        learning: learning curves of a sweep; of another kind of run the result is empty.
    """
    if "policy_base" not in learning:
        return pd.DataFrame()
    return learning.groupby("policy_base")[["trials", "packets"]].max().add_prefix("training_")


def read_manifest(folder: Path) -> Json | None:
    """Return the manifest of the run in a folder, or None where there is no run.

    Raises:
        InputError: it is damaged.
    """
    file = folder / layout.MANIFEST
    return read_state(file, "choose another --out") if file.exists() else None


def read_costs(folder: Path) -> Json | None:
    """Return what the phases of the run in a folder have cost so far; None if nothing is noted.

    Raises:
        InputError: the note is damaged.
    """
    file = folder / layout.COSTS
    advice = "remove it: only the note of what the run has cost so far is lost"
    return read_state(file, advice) if file.exists() else None


def check_files(folder: Path, manifest: Json) -> None:
    """Check that everything is there that was there when the run was complete.

    Raises:
        InputError: a file is missing.
    """
    for name in missing_files(folder, manifest):
        raise InputError(f"{folder / name}: missing; resume the run to have it again")


def missing_files(folder: Path, manifest: Json) -> list[str]:
    """Return the files of a complete run that are not there any more."""
    return [name for name in manifest.get("files", ()) if not (folder / name).exists()]


def network_table(trials: pd.DataFrame, *key: str) -> pd.DataFrame:
    """Return the networks that trials were run on, a row each, as told apart by the key."""
    columns = [name for name in (*key, "network", *NETWORK_COLUMNS) if name in trials]  # a fabric has no networks
    return trials[columns].drop_duplicates(ignore_index=True) if len(trials) else pd.DataFrame()


def _json(path: Path) -> Json | None:
    return read_json(path, ADVICE) if path.exists() else None


def _table(path: Path) -> pd.DataFrame:
    return read_table(path, ADVICE) if path.exists() else pd.DataFrame()


def _phase(folder: Path, phase: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the trials of a phase, without the networks' parameters, and its networks table; none of a fabric."""
    found = TrialStore(folder / layout.TRIALS).all(phase)
    if found.empty:
        return pd.DataFrame(columns=[*TRIAL_KEY, "status", "score_bits"]), pd.DataFrame()
    whole = found.drop_duplicates(TRIAL_KEY).sort_values(TRIAL_KEY, kind="stable", ignore_index=True)
    on_networks = NETWORK_COLUMNS[0] in whole
    networks = network_table(whole).sort_values("network", ignore_index=True) if on_networks else pd.DataFrame()
    return whole.drop(columns=NETWORK_COLUMNS, errors="ignore"), networks


def _good(trials: pd.DataFrame) -> "pd.Series[bool]":
    return trials["status"] == "ok"

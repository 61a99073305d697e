"""The tables of a run folder, read for figures and the report."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials.utilities import UTILITIES, UtilityModel
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.errors import InputError
from lcca.inputs.yaml_text import parse

Json = dict[str, Any]

TRIAL_KEY = ["policy", "network", "seed"]
WHERE_PREFIX = "part-where"
NS3_PREFIX = "part-ns3"


@dataclass(frozen=True, eq=False)
class RunTables:
    """What a run folder holds.

    Attributes:
        folder: the run folder.
        summary: `summary.json`.
        comparisons: rows of `verdicts.json` (with the history of looks), or of the summary.
        trials: every test trial that did not fail, sorted by policy, network and seed. If any part's name
            starts with `part-test`, only those parts are read.
        failed: how many test trials failed.
        networks: one row per test network.
        learning: training scores by step, empty if none were recorded.
        costs: `costs.json`, or None.
        manifest: `manifest.json`, or empty.
        config: text of `config.yaml`, or empty.
        where: repeated trials on single networks (parts `part-where*`) that did not fail; may be empty.
        where_networks: one row per network of these trials; their numbers are not the test's.
        ns3: trials of the check in ns-3 (parts `part-ns3*`), of both simulators; may be empty.
    """

    folder: Path
    summary: Json
    comparisons: list[Json]
    trials: pd.DataFrame
    failed: int
    networks: pd.DataFrame
    learning: pd.DataFrame
    costs: Json | None
    manifest: Json
    config: str
    where: pd.DataFrame = field(default_factory=pd.DataFrame)
    where_networks: pd.DataFrame = field(default_factory=pd.DataFrame)
    ns3: pd.DataFrame = field(default_factory=pd.DataFrame)

    @classmethod
    def load(cls, folder: Path | str) -> "RunTables":
        """Read a run folder.

        Raises:
            InputError: if `summary.json` is absent or a file cannot be read.
        """
        folder = Path(folder)
        summary = _json(folder / "summary.json")
        if summary is None:
            raise InputError(f"{folder}: no summary.json: not a run folder, or its run has not finished")
        verdicts = _json(folder / "verdicts.json") or summary
        trials = _trials(folder)
        good, where = _good(trials), _repeated(folder)
        config = folder / "config.yaml"
        return cls(
            folder=folder,
            summary=summary,
            comparisons=list(verdicts.get("comparisons", [])),
            trials=trials[good].reset_index(drop=True),
            failed=int((~good).sum()),
            networks=_parquet(folder / "networks.parquet"),
            learning=_parquet(folder / "learning.parquet"),
            costs=_json(folder / "costs.json"),
            manifest=_json(folder / "manifest.json") or {},
            config=config.read_text(encoding="utf-8") if config.exists() else "",
            where=where[_good(where)].reset_index(drop=True),
            where_networks=_parquet(folder / "where-networks.parquet"),
            ns3=_parts(folder, NS3_PREFIX),
        )

    @cached_property
    def policies(self) -> list[Json]:
        """Rows of the summary's policies."""
        return list(self.summary.get("policies", []))

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

    @cached_property
    def weights(self) -> dict[str, Utility]:
        """Utilities by name, from the configuration or the paper's; one that neither tells is not there."""
        found: dict[str, Utility] = dict(UTILITIES)
        try:
            told = parse(self.config, "config.yaml")[0]["utilities"]
            found |= {own.name: own for own in (UtilityModel.model_validate(each).build() for each in told)}
        except (KeyError, TypeError, ValueError):  # a configuration of another kind
            pass
        return {name: found[name] for name in self.utilities if name in found}

    def trials_by_policy(self) -> Iterator[tuple[Json, pd.DataFrame]]:
        """Yield each policy that has trials, with them."""
        by_policy = dict(iter(self.trials.groupby("policy"))) if len(self.trials) else {}
        for policy in self.policies:
            if policy["id"] in by_policy:
                yield policy, by_policy[policy["id"]]

    def differences(self, comparison: Json) -> pd.DataFrame:
        """Return score B − A per network, averaged over seeds and, at the set level, training seeds.

        Returns:
            Columns `network` and `difference` (bits).
        """
        metric = comparison.get("metric", "score_bits")
        parts = [self._paired(a, b, metric) for a, b in self._policy_pairs(comparison)]
        if not parts:
            return pd.DataFrame({"network": [], "difference": []})
        both = pd.concat(parts)
        return both.groupby("network")["difference"].mean().reset_index()

    def _paired(self, a: str, b: str, metric: str) -> pd.DataFrame:
        key = ["network", "seed"]
        columns = [*key, metric]
        of = {id: self.trials.loc[self.trials["policy"] == id, columns] for id in (a, b)}
        both = of[a].merge(of[b], on=key, suffixes=("_a", "_b"))
        both["difference"] = both[f"{metric}_b"] - both[f"{metric}_a"]
        return both.dropna(subset=["difference"])

    def _policy_pairs(self, comparison: Json) -> list[tuple[str, str]]:
        """Return the (A, B) policy ids behind a comparison: one pair per training seed at the set level."""
        if comparison["level"] == "artifact":
            return [(comparison["A"], comparison["B"])]
        a, b = (self._by_training_seed(comparison[side], comparison["utility"]) for side in "AB")
        return [(a[seed], b[seed]) for seed in a if seed in b]

    def _by_training_seed(self, signal_set: str, utility: str) -> dict[Any, str]:
        return {
            policy["training_seed"]: policy["id"]
            for policy in self.policies
            if policy["signal_set"] == signal_set and policy["utility"] == utility
        }


def group_of(policy: Json) -> str:
    """Return the signal set of a policy, or the id of one that was not trained."""
    return str(policy.get("signal_set") or policy["id"])


def _json(path: Path) -> Json | None:
    if not path.exists():
        return None
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(loaded, dict):
        raise InputError(f"{path}: must hold an object")
    return loaded


def _parquet(path: Path) -> pd.DataFrame:
    if not path.exists():
        return pd.DataFrame()
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are of these kinds
        raise InputError(f"{path}: cannot be read: {error}") from error


def _trials(folder: Path) -> pd.DataFrame:
    paths = sorted((folder / "trials").glob("part-*.parquet"))
    paths = [path for path in paths if not path.name.startswith((WHERE_PREFIX, NS3_PREFIX))]
    tests = [path for path in paths if path.name.startswith("part-test")]
    parts = [_parquet(path) for path in tests or paths]
    if not parts:
        return pd.DataFrame(columns=[*TRIAL_KEY, "status", "score_bits"])
    return _whole(parts)


def _repeated(folder: Path) -> pd.DataFrame:
    parts = [_parquet(path) for path in sorted((folder / "trials").glob(f"{WHERE_PREFIX}*.parquet"))]
    return _whole(parts) if parts else pd.DataFrame()


def _parts(folder: Path, prefix: str) -> pd.DataFrame:
    parts = [_parquet(path) for path in sorted((folder / "trials").glob(f"{prefix}*.parquet"))]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _whole(parts: list[pd.DataFrame]) -> pd.DataFrame:
    whole = pd.concat(parts, ignore_index=True).drop_duplicates(TRIAL_KEY)
    return whole.sort_values(TRIAL_KEY, kind="stable", ignore_index=True)


def _good(trials: pd.DataFrame) -> "pd.Series[bool]":
    return trials["status"] == "ok" if "status" in trials else pd.Series(True, index=trials.index, dtype=bool)

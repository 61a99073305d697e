"""A run folder as tables: what users, figures and the report read of it, whatever kind of run it is."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials import layout, records
from lcca.evaluation.trials.layout import NETWORK_COLUMNS, part_file
from lcca.evaluation.trials.policy_names import named_columns, words_of
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import read_json, read_state, read_table
from lcca.inputs.errors import InputError, shown, visible
from lcca.inputs.files import read_with_digest
from lcca.inputs.yaml_text import parse

Json = dict[str, Any]

FORMAT = 3
"""Of results; those of format 2 are read by `records.renamed`."""

FORMER = "736f1f5"
"""The last commit that reads results of format 1."""

ADVICE = "delete it and resume the run to have it again"

CONDITIONED = {
    layout.GENERALISATION: 1,
    layout.of_trainings(layout.GENERALISATION): 1,
    layout.NS3_VALIDATION: 1,
    layout.of_trainings(layout.NS3_VALIDATION): 1,
    layout.SCENARIO: 0,
}
"""Phases that go through several conditions, and which word of their parts names it: generalisation tests by their
names, topologies in ns-3, scenarios."""

WHOSE = ("phase", "condition", "policy", "network", "seed", "scenario", "utility")
"""Columns of trials that tell what was run, as far as there are any."""

TABLES = (
    *("trials", "networks", "flows", "ports", "jobs", "policies", "estimates"),
    *("agreement", "verdicts", "looks", "shares", "learning", "costs"),
)
"""Of a `LoadedRun`."""


class LoadedRun:
    """A run folder as tables, each read when it is asked for; one that the run has not, or not yet, is empty.

    Attributes:
        path: the folder.
        manifest: kind of run (its command, such as "sweep" or "rank"), version, commit, seed, machine and state.

    Raises:
        InputError: there is no run in this folder, or its manifest is damaged; as any table, when a file of it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.manifest = run_manifest(self.path)

    def __repr__(self) -> str:
        return f"LoadedRun({str(self.path)!r}): {self.manifest['kind']}, {self.manifest['state']}"

    def _repr_html_(self) -> str:
        """Return what it found as a table, for notebooks: its verdicts, or else its policies."""
        found = self.verdicts if len(self.verdicts) else self.policies
        return f"<p>{escape(repr(self))}</p>{found.to_html(index=False, float_format='{:.3f}'.format)}"

    @cached_property
    def config_text(self) -> str:
        """The configuration with everything filled in, as YAML; empty where the run has none yet."""
        file = self.path / layout.CONFIG
        try:
            return read_with_digest(file, ADVICE).decode() if file.exists() else ""
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: damaged ({error}); {ADVICE}") from None

    @cached_property
    def config(self) -> Json:
        """The same as values."""
        return parse(self.config_text, str(self.path / layout.CONFIG))[0] if self.config_text else {}

    @cached_property
    def result(self) -> Json:
        """Content of summary.json, or of durations.json where that is all there is; empty if there is none.

        Raises:
            InputError: it has a format that is not read any more.
        """
        for name in (layout.SUMMARY, layout.FORMER_ESTIMATE, layout.DURATIONS):
            if found := _json(self.path / name):
                if found.get("format") not in (2, FORMAT):
                    words = f"written in format {found.get('format')}, which commit {FORMER} reads"
                    raise InputError(f"{self.path / name}: {words} (git checkout {FORMER})")
                return records.renamed(found)
        return {}

    @cached_property
    def comparisons(self) -> list[Json]:
        """All comparisons, each with its `phase` and `condition`, and its looks where these are kept."""
        told = _json(self.path / layout.VERDICTS) or self.result
        parts = [told, *(each for key in ("generalisation", "ns3") for each in self.result.get(key, ()))]
        return [each for part in parts for each in part.get("comparisons", ())]

    def rows(self, phase: str = "") -> pd.DataFrame:
        """Return the rows that the parts of a phase hold, or all parts."""
        return TrialStore(self.path / layout.TRIALS).all(phase)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """A row per trial of every phase, with what `docs/reference/formats.md` lists.

        That is `phase`, `condition` (of a generalisation test, the topology in ns-3, or the scenario of a study, else
        empty), what was run (of trainings also `candidate`, `training_seed`, `checkpoint` and `rules`, which the name
        of their policy stands for), what was measured, and the parameters of the network that it was run on.
        """
        trials = self._parts[0]
        if not {"policy", "utility"} <= set(trials):
            return trials
        different = trials[["policy", "utility"]].drop_duplicates().itertuples(index=False)
        if all(words_of(*each) is None for each in different):
            return trials
        after = list(trials).index("policy") + 1
        names = named_columns(trials["policy"], trials["utility"])
        return pd.concat([trials.iloc[:, :after], names, trials.iloc[:, after:]], axis=1)

    @cached_property
    def flows(self) -> pd.DataFrame:
        """A row per flow of an estimation; `lcca.api.load_run` has those of an evaluation on a fabric, too."""
        return self._parts[1]

    @cached_property
    def ports(self) -> pd.DataFrame:
        """A row per directed port and trial of an evaluation on a fabric, as `lcca.api.load_run` has them."""
        return pd.DataFrame()

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """A row per job of training and trial on a fabric: what was run, whether it `finished`, what it took."""
        return self._parts[2]

    @cached_property
    def _parts(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """The rows of all parts: trials, flows, and jobs of trials."""
        store = TrialStore(self.path / layout.TRIALS)
        found: tuple[list[pd.DataFrame], ...] = ([], [], [])
        for name in layout.part_names(store.folder):
            phase, *words = layout.part_words(name)
            rows = store.read(name).drop(columns=["phase", layout.RECORD, layout.SLOWDOWNS], errors="ignore")
            rows.insert(0, "phase", phase)
            rows.insert(1, "condition", words[CONDITIONED[phase]] if phase in CONDITIONED else "")
            of_trials = "score_bits" in rows or "status" in rows
            found[0 if of_trials else 1].append(rows.drop(columns=layout.JOBS, errors="ignore"))
            found[2].append(job_rows(rows))
        trials, flows, jobs = (pd.concat(each, ignore_index=True) if each else pd.DataFrame() for each in found)
        return trials, flows, jobs.drop_duplicates(ignore_index=True)  # trials may stand there once a population

    @cached_property
    def networks(self) -> pd.DataFrame:
        """A row per `phase`, `condition` and `network`: numbers of networks mean others in other phases."""
        return network_table(self.trials, "phase", "condition")

    @cached_property
    def policies(self) -> pd.DataFrame:
        """A row per policy, or per policy and condition or network: `id`, what it is, and what it measured.

        Of a campaign `candidate`, `utility`, `training_seed`, `selected`, means over the test, and what the training
        took (`training_trials`, `training_packets`); of a ranking ranks too.
        """
        found, spent = records.policies(self.result), training_costs(self.learning)
        return found if found.empty or spent.empty else found.join(spent, on="id")

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """A row per metric of an estimation, or per duration."""
        return records.estimates(self.result)

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """A row per policy, topology and metric that two simulators measured."""
        return records.agreement(self.result)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """A row per comparison of `B` with `A`, with `phase` and `condition`, and what both are.

        These are `candidate` and `baseline`: of a policy that was trained, by what.
        """
        return records.verdicts(self.comparisons)

    @cached_property
    def looks(self) -> pd.DataFrame:
        """A row per look at a comparison, where looks are kept, or at an estimate."""
        return records.looks(self.comparisons, self.result)

    @cached_property
    def shares(self) -> pd.DataFrame:
        """A row per pair of candidates, metric and utility: on what percentage of networks they differ.

        That is on what percentage `B` is significantly better or worse than `A`, and the difference of the two with its
        interval.
        """
        return records.shares(self.result)

    @cached_property
    def learning(self) -> pd.DataFrame:
        """Learning curves of trainings; what a tuning tried."""
        if "curve" in self.result:
            curve = self.result["curve"]
            return pd.DataFrame({"part": range(len(curve)), "utility": curve})
        files = (self.path / name for name in (layout.LEARNING, layout.CANDIDATES))
        return next((read_table(file, ADVICE) for file in files if file.exists()), pd.DataFrame())

    @cached_property
    def costs(self) -> pd.DataFrame:
        """CPU and wall seconds, trials and packets by phase."""
        return pd.DataFrame((read_costs(self.path) or {}).get("phases", []))


def load_run(path: str | os.PathLike[str]) -> LoadedRun:
    """Return a run of any command that keeps one, finished or not, with all its tables read.

    Raises:
        InputError: there is no run in this folder, a file of it is missing, or one is damaged.
    """
    run = LoadedRun(path)
    check_files(run.path, run.manifest)
    for name in ("config", *TABLES):
        getattr(run, name)
    return run


def run_manifest(folder: Path) -> Json:
    """Return the manifest of the run in a folder.

    Raises:
        InputError: there is none, or it is damaged.
    """
    manifest = read_manifest(folder)
    if manifest is not None:
        return manifest
    grid = (folder / layout.GRID).exists()
    words = "it is a grid, whose points are runs: name one of its folders" if grid else "name a run folder, as in "
    raise InputError(f"{folder}: no run here; {words}{'' if grid else 'results/quickstart/<run-id>'}")


def read_manifest(folder: Path) -> Json | None:
    """Return the manifest of the run in a folder, or None where there is no run.

    Raises:
        InputError: it is damaged.
    """
    file = folder / layout.MANIFEST
    if not os.path.lexists(file):
        return None
    found, advice = read_state(file, "choose another --out"), "remove it, or choose another --out"
    for key in ("kind", "name", "state"):
        word = found.get(key, "" if key == "name" else None)
        if not (isinstance(word, str) and (word or key == "name") and len(word) <= 100 and visible(word) == word):
            raise InputError(f"{file}: damaged ({key}: {shown(word)} is no word of a manifest); {advice}")
    return found


def read_costs(folder: Path) -> Json | None:
    """Return what the phases of the run in a folder have cost so far; None if nothing is noted.

    A part's trials are noted just before it is stored; where a kill came between, they do not count.

    Raises:
        InputError: the note is damaged.
    """
    file = folder / layout.COSTS
    advice = "remove it: only the note of what the run has cost so far is lost"
    if not os.path.lexists(file):
        return None
    found = read_state(file, advice)
    if not (isinstance(phases := found.get("phases"), list) and all(map(_is_cost, phases))):
        raise InputError(f"{file}: damaged (phases: no list of costs); {advice}")
    if (storing := found.pop("storing", None)) and not (_is_cost(storing) and isinstance(storing.get("part"), str)):
        raise InputError(f"{file}: damaged (storing: no cost of a part); {advice}")
    if storing and not part_file(folder / layout.TRIALS, storing["part"]).exists():
        for phase in phases:
            if phase["name"] == storing["name"]:
                phase |= {key: max(phase.get(key, 0) - storing.get(key, 0), 0) for key in ("trials", "packets")}
    return found


def _is_cost(phase: Any) -> bool:
    """Tell whether this is what a phase has cost; neither NaN nor infinity is."""
    if not isinstance(phase, dict) or not isinstance(phase.get("name"), str):
        return False
    numbers = [phase.get(key) for key in ("cpu_s", "wall_s", "trials")]
    return all(isinstance(each, int | float) and 0 <= each < 1e15 for each in numbers)


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


def job_rows(trials: pd.DataFrame) -> pd.DataFrame:
    """Return a row per job of training of trials, with what was run; none where they have no jobs."""
    if layout.JOBS not in trials:
        return pd.DataFrame()
    kept = trials.columns.intersection([*WHOSE, "training_seed"], sort=False)
    each = trials[layout.JOBS].dropna().explode()
    return trials[kept].join(pd.DataFrame([*each], index=each.index), how="inner").reset_index(drop=True)


def training_costs(learning: pd.DataFrame) -> pd.DataFrame:
    """Return `training_trials` and `training_packets` of each training, by the policy that it ended with.

    Args:
        learning: learning curves of a sweep; of another kind of run the result is empty.
    """
    if "policy_base" not in learning:
        return pd.DataFrame()
    return learning.groupby("policy_base")[["trials", "packets"]].max().add_prefix("training_")


def _json(file: Path) -> Json:
    return read_json(file, ADVICE) if file.exists() else {}

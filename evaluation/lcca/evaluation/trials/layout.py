"""Every name in a run folder, for those who write it and those who read it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, unquote

LOCK = ".lock"
MANIFEST = "manifest.json"
CONFIG = "config.yaml"
COSTS = "costs.json"
LOG = "log.txt"
SUMMARY = "summary.json"
SO_FAR = "so-far.json"
VERDICTS = "verdicts.json"
LEARNING = "learning.parquet"
REPORT = "report.html"
GRID = "grid.json"
DURATIONS = "durations.json"
FORMER_ESTIMATE = "estimate.json"
"""Of format 1."""

CANDIDATES = "candidates.parquet"
POLICY = "policy.json"
ANSWERS = "answers.md"
OPTUNA = "study.sqlite3"
CLAIMS = "claims"

TRIALS = "trials"
FIGURES = "figures"
POLICIES = "policies"
CONTENDERS = "contenders"
TRAINING = "training"
TENSORBOARD = "tensorboard"

NETWORK_COLUMNS = ["link_rate", "rtt", "senders", "buffer", "mean_on", "mean_off", "loss", "switched", "topology"]
"""Columns of the trials table that tell what network a trial was run on."""

STRATUM = "stratum"
"""Column of trials on several spaces: the part's name."""

VALIDATION, NS3_SELECTION, TRAININGS_TEST, TEST = "validation", "ns3-selection", "trainings-test", "test"
PER_NETWORK, GENERALISATION, NS3_VALIDATION = "per-network", "generalisation", "ns3-validation"
"""Phases of a sweep: they begin the names of its parts, and are the trials' column `phase`."""


def of_trainings(phase: str) -> str:
    """Return the phase that does with all trainings what another does with the selected policies."""
    return f"{phase}-trainings"


RANK = "rank"
"""A kind of run, and its phase."""

STUDY, SCENARIO = "study", "scenario"
"""A kind of run, and its phase; parts are named by scenario."""

RECORD = "record"
SLOWDOWNS = "slowdowns"
"""Column of a fabric's trials with what the engine found, as a compressed .npz file."""

JOBS = "jobs"
"""Column of a fabric's trials with a record for each job of training, where there are any (`LoadedRun.jobs`)."""

_SEPARATOR = ","


def part_name(phase: str, *words: str | int) -> str:
    """Return the name of a part of the trials: a phase and what tells its parts apart; numbers are padded.

    Different words give different names: what could be taken for the separator is written as in an URL.

    Examples:
        >>> part_name("test", "default", 3)
        'test,default,000003'
        >>> part_name("ns3-validation", "u,x", "line:hosts_per_router=4", 0)
        'ns3-validation,u%2Cx,line%3Ahosts_per_router=4,000000'
    """
    texts = (f"{word:06d}" if isinstance(word, int) else word for word in (phase, *words))
    return _SEPARATOR.join(quote(text, safe="+=") for text in texts)


def part_words(name: str) -> tuple[str, ...]:
    """Return the phase and the words that `part_name` made a name of."""
    return tuple(unquote(word) for word in name.split(_SEPARATOR))


def part_file(trials: Path, name: str) -> Path:
    """Return the file of a part in the folder of the trials."""
    return trials / f"part-{name}.parquet"


def part_names(trials: Path, phase: str = "", *words: str) -> list[str]:
    """Return the sorted names of the parts that are there, of a phase and with these first words if any are given."""
    found = (file.name.removeprefix("part-").removesuffix(".parquet") for file in trials.glob("part-*.parquet"))
    wanted = (phase, *words) if phase else ()
    return sorted(name for name in found if part_words(name)[: len(wanted)] == wanted)


def checkpoints(run: Path, policy: str) -> Path:
    """Return the folder of a training's checkpoints."""
    return run / POLICIES / policy


def checkpoint_file(run: Path, policy: str, round_: int) -> Path:
    """Return the file of a training's policy after a round, counted from 1."""
    return checkpoints(run, policy) / f"round-{round_:02d}.json"


def checkpoint_files(run: Path, policy: str) -> list[Path]:
    """Return the checkpoints of a training, in the order of their rounds."""
    return sorted(checkpoints(run, policy).glob("round-*.json"))


def policy_file(run: Path, policy: str) -> Path:
    """Return the file of a training's selected checkpoint."""
    return run / POLICIES / f"{policy}.json"


def training_file(run: Path, policy: str) -> Path:
    """Return the file of a training's state."""
    return run / TRAINING / f"{policy}.json"


def shared(run: Path) -> Path:
    """Return the folder of what trainings have in common."""
    return run / TRAINING / "shared"

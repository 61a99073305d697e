"""Fixtures for all tests: reference data, the command line in this process, a campaign of a few CPU seconds."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

from lcca.cli.main import main
from lcca.gym_envs.linux.checks import pieces
from lcca.gym_envs.linux.simulator import installed as linux_installed
from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.files.dna_tree import R_PLUS_AXES, Tree
from lcca.remy_plus.policies.rules import RuleTable

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of PyTorch would wait for each other: tests have small matrices
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # tests run in the background; those of Ctrl-C need the signal
    signal.signal(signal.SIGINT, signal.default_int_handler)

TINY = """\
name: tiny
seed: 1
networks:
  link_rate: {min: 1, max: 2, step: 0.5}
  rtt: {min: 10, max: 20, step: 5}
  senders: {min: 1, max: 4, step: 1}
  buffer: 50
  mean_on: {min: 200, max: 1000, step: 100}
  mean_off: 100
  loss: 0.01
  duration: 1000
signal_sets: [loss+rtt, loss+queue]
baseline: loss+rtt
trainer: {kind: rplus, rounds: 2, passes: 1, networks: 6, check_networks: 40, optimise: [increment, pacing]}
training_seeds: [1, 2]
validation: {networks: 20}
test: {pairs: 96, block: 32, at_least: 32, per_training_seed: 48}
"""

BRIEF = TINY.replace("duration: 1000", "duration: 500")
"""The same with trials half as long, for campaigns that are run whole; what they find does not matter."""


@dataclass
class Answer:
    """What a command answered."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the one JSON document on standard output."""
        return json.loads(self.out)


RunCommand = Callable[..., Answer]


@pytest.fixture
def lcca(capfd: pytest.CaptureFixture[str]) -> RunCommand:
    """Return a function that runs `lcca` with these arguments."""

    def run(*arguments: object) -> Answer:
        capfd.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as leaving:  # argparse
            status = int(leaving.code or 0)
        return Answer(status, *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def dna_of() -> Callable[[RuleTable], bytes]:
    """Return what makes the bytes of R+'s ``.dna`` file of a table: a root with every rule as its direct child."""
    steps = {"increment": (0, 256, 1, 32, 4, 1), "multiple": (0, 1, 0.01, 0.5, 4, 1)}
    pacing = {"relative": (0.1, 3, 0.05, 1, 4, 1.5), "absolute": (0.25, 3, 0.05, 1, 4, 3)}

    def fill(box: Any, names: Sequence[str], stored: Sequence[str], lower: Any, upper: Any) -> None:
        low, high = dict(zip(names, lower, strict=True)), dict(zip(names, upper, strict=True))
        for name in stored:
            setattr(box.lower, name, low.get(name, 0.0))
            setattr(box.upper, name, high.get(name, SIGNAL_CEILING))
        box.active_axis.extend(R_PLUS_AXES.index(name) for name in names)

    def write(table: RuleTable) -> bytes:
        names = [{"queue": "queue_ewma", "link": "link_ewma"}.get(name, name) for name in table.signals]
        six = table.pacing_kind == "absolute" and set(names) <= set(R_PLUS_AXES[:6])
        stored = R_PLUS_AXES[:6] if six else R_PLUS_AXES
        root = Tree()
        fill(root.box, names, stored, [0.0] * len(names), [SIGNAL_CEILING] * len(names))
        for i in range(len(table)):
            node = root.children.add()
            fill(node.box, names, stored, table.lower[i].tolist(), table.upper[i].tolist())
            node.rule.increment = int(table.increment[i])
            node.rule.multiple, node.rule.pacing = float(table.multiple[i]), float(table.pacing[i])
            node.rule.box.CopyFrom(node.box)
        for name, values in {**steps, "pacing": pacing[table.pacing_kind]}.items():
            part = getattr(root.search, name)
            for field, value in zip(part.DESCRIPTOR.fields, values, strict=True):
                setattr(part, field.name, value)
        return bytes(root.SerializeToString(deterministic=True))

    return write


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The file of a small campaign."""
    path = tmp_path / "tiny.yaml"
    path.write_text(BRIEF)
    return path


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the drawing of the report, which takes longer than all the rest of a tiny campaign."""
    monkeypatch.setattr("lcca.experiments.recipes.sweep.render", lambda folder, costs: (folder / "report.html").touch())


@contextmanager
def undrawn() -> Iterator[None]:
    """Reports have all their words, and figures are made but not drawn; `tests/evaluation/report` draws them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "draw_without_rendering", lambda figure: None)
        patch.setattr(FigureCanvasAgg, "print_png", lambda canvas, file, **_: None)
        patch.setattr(FigureCanvasSVG, "print_svg", lambda canvas, file, **_: file.write("<svg></svg>"))
        yield


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was never broken, not to be changed; what it said is beside it (out.txt, err.txt)."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.yaml").write_text(BRIEF)
    process = start(folder / "tiny.yaml", folder / "run", "--jobs", "2", "--json")
    for name, text in zip(("out.txt", "err.txt"), process.communicate(timeout=120), strict=True):
        (folder / name).write_text(text)
    assert process.returncode == 0
    return folder / "run"


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run."""
    return Path(shutil.copytree(finished, tmp_path / "copied"))


def start(config: Path, run: Path, *options: str) -> subprocess.Popen[str]:
    """Start a sweep in a process of its own."""
    command = [sys.executable, "-m", "lcca.cli.main", "sweep", str(config), "--out", str(run), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def all_ended(processes: list[psutil.Process], seconds: float = 10) -> bool:
    """Wait for processes that are no children of ours; one that nobody has waited for yet has ended too."""
    until = time.monotonic() + seconds
    while any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def results(run: Path) -> dict[str, bytes]:
    """Return what must not differ between two runs of one campaign, byte by byte."""
    files = [run / "summary.json", run / "verdicts.json", *sorted((run / "policies").rglob("*"))]
    return {os.fspath(file.relative_to(run)): file.read_bytes() for file in files if file.is_file()}


@pytest.fixture(scope="session")
def reference() -> Path:
    """Folder of reference data: `LCCA_REFERENCE`, or `shared` beside the checkout; skips without it."""
    named = os.environ.get("LCCA_REFERENCE")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared"
    if not (folder / "data" / "dna").is_dir():
        pytest.skip(f"no reference data in {folder}: set LCCA_REFERENCE to its folder")
    return folder


@pytest.fixture
def without_ports(tmp_path: Path) -> Callable[[Path], Path]:
    """Copies a trace of the reference data without the ports of its connections, which traces here have none of."""

    def copied(trace: Path) -> Path:
        rows = pd.read_csv(trace, dtype=str, keep_default_na=False).drop(columns=["sport", "dport"])
        rows.to_csv(tmp_path / trace.name, index=False)
        return tmp_path / trace.name

    return copied


@pytest.fixture(scope="session")
def ns3() -> str:
    """Return the version of ns-3; skips, by name, where lcca-ns3 is not installed."""
    try:
        return installed()
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def linux() -> None:
    """Skip, by name, where this machine runs no trials of its own."""
    try:
        linux_installed()
    except InputError as error:
        pytest.skip(str(error))
    for name, usable, found, fix in pieces():
        if not usable and name != "linux: real time":
            pytest.skip(f"{name}: {found}; {fix}")

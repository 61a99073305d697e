"""Studies can be taken out: what is said in `studies/` alone, by contracts that are named here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lcca.inputs.studies import studies

from .test_structure import modules, of_types

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(file.parent.name for file in ROOT.glob("studies/*/lcca/studies/*/study.py"))
CONTRACTS = (
    "lcca.api",
    "lcca.cli.options",
    "lcca.cli.printing.console",
    "lcca.evaluation.bounds.ideals",
    "lcca.evaluation.comparison.compare",
    "lcca.evaluation.comparison.sets",
    "lcca.evaluation.fabric.hosts",
    "lcca.evaluation.fabric.scenario",
    "lcca.evaluation.fabric.space",
    "lcca.evaluation.fabric.trials",
    "lcca.evaluation.fabric.workload.part",
    "lcca.evaluation.report.figures.saving",
    "lcca.evaluation.report.figures.style",
    "lcca.evaluation.report.sections.section",
    "lcca.evaluation.report.words.headline",
    "lcca.evaluation.report.words.statements",
    "lcca.evaluation.report.words.table",
    "lcca.evaluation.scenarios",
    "lcca.evaluation.settling",
    "lcca.evaluation.trials",
    "lcca.experiments.campaign.config",
    "lcca.experiments.campaign.trials",
    "lcca.experiments.experiment",
    "lcca.experiments.learning.plan",
    "lcca.experiments.places",
    "lcca.experiments.recipes.function",
    "lcca.experiments.recipes.kept",
    "lcca.experiments.recipes.prepared",
    "lcca.experiments.recipes.rules",
    "lcca.experiments.recipes.sweep",
    "lcca.experiments.runs",
    "lcca.experiments.schemas.kinds",
    "lcca.experiments.studies.learner",
    "lcca.experiments.summaries",
    "lcca.experiments.testing.net_benefit",
    "lcca.experiments.verbs",
    "lcca.gym_envs.fabric.fabrics",
    "lcca.gym_envs.interface",
    "lcca.gym_envs.ns3",
    "lcca.inputs",
    "lcca.remy_plus",
    "lcca.signal_sets",
    "lcca.trainers.base",
    "lcca.trainers.law",
    "lcca.trainers.registry",
    "lcca.trainers.tune.samplers",
    "lcca.workers",
)
"""Modules and packages of the core that studies may import."""


def test_studies_import_contracts_alone() -> None:
    beyond = {
        (name, each)
        for name, targets in of_types().items()
        if name.startswith("lcca.studies.")
        for each in targets
        if not each.startswith("lcca.studies") and not f"{each}.".startswith(tuple(f"{one}." for one in CONTRACTS))
    }
    assert beyond == set()


def test_the_core_imports_no_study_for_types_either() -> None:
    core = {name: targets for name, targets in of_types().items() if not name.startswith("lcca.studies")}
    assert len(core) > 300
    assert {name for name, targets in core.items() if any(each.startswith("lcca.studies") for each in targets)} == set()


def test_every_folder_is_found() -> None:
    assert sorted(studies()) == NAMES
    assert all(f"lcca.studies.{name}.study" in modules() for name in NAMES)


ALONE = """
import sys
from lcca.inputs.studies import studies
found = studies()
heavy = {"zmq", "google", "gymnasium", "torch", "optuna", "pandas", "numpy", "pydantic", "matplotlib"}
assert len(found) >= 1 and not heavy & sys.modules.keys(), heavy & sys.modules.keys()
"""


def test_saying_what_there_is_needs_no_library() -> None:
    """Every command begins with it, where extras of a study are not installed too."""
    assert subprocess.run([sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True).returncode == 0


WITHOUT = """
import sys
import lcca.inputs.studies as them
left = {name: folder for name, folder in them.folders().items() if name != sys.argv[1]}
them.folders.cache_clear()
them.folders = lambda: left
class Gone:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if f"{name}.".startswith(f"lcca.studies.{sys.argv[1]}."):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Gone)
import lcca.api
assert all(getattr(lcca.api, name) for name in lcca.api.__all__)
from lcca.cli.commands import COMMANDS, load
assert set(them.studies()) == set(left)
for command in COMMANDS:
    load(command)
from lcca.cli.main import main
evaluate = ["evaluate", "aimd", "--on", "configs/networks/examples.yaml", "--seeds", "1"]
for words in (["--help"], ["show", "signals"], ["check"], evaluate):
    try:
        status = main(words)
    except SystemExit as end:
        status = end.code
    assert not status or words == ["check"], words
from lcca.evaluation.report.sections.contents import sections
from lcca.experiments.schemas.kinds import KINDS
assert sections() and all(kind.model for kind in KINDS.values())
"""


@pytest.mark.parametrize("name", NAMES)
def test_all_else_works_without_one(name: str) -> None:
    """Of a study that is hidden nothing is imported, and what is left answers."""
    done = subprocess.run([sys.executable, "-c", WITHOUT, name], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_tests_and_site_pass_without_one(name: str, tmp_path: Path) -> None:
    """In a copy of the tree without its folder: conformance of runs and environments, pages, the site."""
    tree = tmp_path / "tree"
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    for file in filter(None, out.stdout.split("\n")):
        if (ROOT / file).is_file() and not file.startswith(f"studies/{name}/"):
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, tree / file)
    site = tmp_path / "site"
    (site / "lcca" / "studies").mkdir(parents=True)
    for package in tree.glob("*/lcca/*"):
        (site / "lcca" / package.name).symlink_to(package)
    for package in tree.glob("studies/*/lcca/studies/*"):
        (site / "lcca" / "studies" / package.name).symlink_to(package)
    import lcca.remy_plus._core as core

    for library in Path(core.__file__).parent.glob("_core*.so"):
        shutil.copy2(library, tree / "remy-plus" / "lcca" / "remy_plus")
    installed = next(each for each in map(Path, sys.path) if (each / "pytest").is_dir())
    env = {**os.environ, "PYTHONPATH": f"{site}:{installed}", "NO_MKDOCS_2_WARNING": "1"}
    asked = (
        "tests/experiments/runs",
        "tests/gym-envs/test_conformance.py",
        "tests/evaluation/trials",
        "tests/repository",
    )
    python = [sys.executable, "-S", "-m"]  # without the installed lcca
    tests = [*python, "pytest", "-q", "-m", "not slow and not full", "-p", "no:cacheprovider", *asked]
    for command in (tests, [*python, "mkdocs", "build", "--strict", "--quiet"]):
        done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]

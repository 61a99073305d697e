"""What packages lcca says the same as pyproject.toml."""

import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
yaml = YAML(typ="safe").load
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


NOT_SET_UP = {"mlflow"}
"""Extras that `make setup` leaves out, for the thirty packages that they bring; CI has a job for each."""


def test_wheels_are_for_the_pythons_that_are_supported() -> None:
    settings = PROJECT["tool"]["cibuildwheel"]
    assert settings["build"] == ["cp311-*", "cp312-*", "cp313-*"]
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    jobs = yaml((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    (oldest,) = [step["with"]["python-version"] for step in jobs["test"]["steps"] if "with" in step]
    assert all(f",{each} NS3=" in jobs[each]["steps"][-1]["run"] for each in NOT_SET_UP)
    tried = [oldest, *jobs["wheel"]["strategy"]["matrix"]["python"]]
    assert [f"cp{each.replace('.', '')}-*" for each in tried] == settings["build"]
    assert tried == re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))


def test_versions_agree() -> None:
    version = PROJECT["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def test_what_was_tested_meets_the_floors() -> None:
    lines = (ROOT / "tested.txt").read_text().splitlines()[1:]
    locked = {canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in lines)}
    project = PROJECT["project"]
    extras = (lines for extra, lines in project["optional-dependencies"].items() if extra not in NOT_SET_UP)
    needed = map(Requirement, itertools.chain(project["dependencies"], *extras))
    assert [str(r) for r in needed if not r.specifier.contains(locked[canonicalize_name(r.name)])] == []


BLOCK = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {"pyarrow", "matplotlib", "jinja2"} or name.startswith("google.protobuf"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
"""


@pytest.mark.parametrize(
    ("command", "needs"),
    [
        pytest.param("evaluate aimd --on configs/networks/examples.yaml --seeds 1", "", marks=pytest.mark.slow),
        ("compare aimd fixed-window:20 --on configs/networks/default.yaml --trials 96", ""),
        pytest.param(
            "evaluate dctcp --on configs/fabric/leaf-spine.yaml --trials 1 --set duration_us=20",
            "",
            marks=pytest.mark.slow,
        ),
        ("sweep configs/quickstart.yaml --out {}/run", "pyarrow: pip install 'lcca[runs]'"),
        ("import {}/x.dna {}/y.json", "protobuf: pip install 'lcca[dna]'"),
    ],
)
def test_extras_are_needed_only_where_they_are_used(tmp_path: Path, command: str, needs: str) -> None:
    (tmp_path / "x.dna").write_bytes(b"\x0a\x00")
    run = [sys.executable, "-c", f"{BLOCK}\nfrom lcca.cli.main import main\nsys.exit(main(sys.argv[1:]))"]
    answer = subprocess.run(
        [*run, *command.replace("{}", str(tmp_path)).split()], cwd=ROOT, capture_output=True, text=True
    )
    assert (answer.returncode == 2 and needs in answer.stderr) if needs else answer.returncode == 0, answer.stderr


def test_an_environment_needs_no_extra_but_its_own() -> None:
    pytest.importorskip("gymnasium")
    code = f"{BLOCK}\nimport gymnasium\nenv = gymnasium.make('lcca.gym_envs.registration:lcca/Bottleneck-v0')\n"
    code += "env.reset(seed=1)\nenv.step(env.action_space.sample())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).returncode == 0

"""ACC where the core runs it by the contract: as a contender of a study, in digests of code, in names of files."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lcca.experiments.runs import code_version
from lcca.experiments.runs.kinds import STUDY as KIND_OF_STUDY
from lcca.experiments.runs.kinds import SWEEP
from lcca.experiments.studies.config import StudyConfig
from lcca.inputs import extras
from lcca.inputs.digests import imports
from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_with_files
from lcca.studies.acc.config import FABRIC_ACC, FabricAcc
from tests.experiments.runs.run_files import FABRIC, STUDY
from tests.fixtures import RunCommand
from tests.inputs.test_named_files import ways

FOLDER = "studies/acc/lcca/studies/acc"
DECIDES = {
    f"{FOLDER}/marking/tuner.py": {"study", "sweep", "acc"},  # every transport may have it
    f"{FOLDER}/marking/model.py": {"study", "sweep", "acc"},
    f"{FOLDER}/learner/double_dqn.py": {"study", "acc"},
    f"{FOLDER}/recipe.py": {"study", "acc"},
    f"{FOLDER}/printing.py": set(),
    f"{FOLDER}/command.py": set(),
}


def test_what_is_not_installed_is_told_before_anything_is_tuned(
    lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (FABRIC | {"windows.yaml": STUDY}).items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "torch" else True)
    training = "contenders.small={train: {name: x, fabric: star.yaml, transport: dcqcn}}"
    monkeypatch.chdir(tmp_path)
    answer = lcca("study", "windows.yaml", "--out", tmp_path / "run", "--set", training)
    assert answer.status == 2 and "trainings of ACC need the package" in answer.err
    assert not (tmp_path / "run/contenders").exists()


@pytest.fixture
def fresh() -> Iterator[None]:
    """No digest that is known already, nor one that is left behind."""
    code_version.code_version.cache_clear()
    yield
    code_version.code_version.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_code_of_acc_counts_where_it_decides_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core does not import it: digests follow what the contract names."""

    def codes() -> dict[str, str]:
        code_version.code_version.cache_clear()
        return {kind.name: code_version.code_version((kind.recipe,)) for kind in (KIND_OF_STUDY, SWEEP, FABRIC_ACC)}

    before, really = codes(), imports.read_limited
    for file, kinds in DECIDES.items():
        other = lambda path, file=file: really(path) + b"\n#" * str(path).endswith(file.removeprefix("studies/acc/"))  # noqa: E731
        monkeypatch.setattr(imports, "read_limited", other)
        assert {name for name, code in codes().items() if code != before[name]} == kinds, file


def test_what_it_is_held_against_may_be_a_file() -> None:
    assert ("test", "against", 0) in set(ways(FabricAcc))


@pytest.mark.parametrize(
    ("contender", "key", "name"),
    [
        ("{train: ../acc/fabric.yaml}", "contenders.a.train", "fabric.yaml"),
        ("'dcqcn@acc:../acc/leaf-spine.json'", "contenders.a", "leaf-spine.json"),
        ("'dcqcn@acc: ../acc/leaf-spine.json,interval_us=50'", "contenders.a", "leaf-spine.json"),
    ],
)
@pytest.mark.parametrize("here", [".", "configs", "configs/mine", "/"])
def test_an_old_path_in_a_file_is_refused_with_the_new_one(
    contender: str, key: str, name: str, here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "studies/acc/configs"
    own.mkdir(parents=True)
    (own / name).write_text("")
    (tmp_path / "configs/mine").mkdir(parents=True)
    (tmp_path / "configs/mine/a.yaml").write_text(f"contenders: {{a: {contender}, b: dcqcn}}\n")
    monkeypatch.chdir(tmp_path / here)
    with pytest.raises(InputError) as caught:
        read_with_files(os.path.relpath(tmp_path / "configs/mine/a.yaml"), StudyConfig)
    (line,) = str(caught.value).splitlines()
    assert f"a.yaml:1: {key}: " in line and line.endswith(f"; it is {os.path.relpath(own / name)} now")

"""Files that ship can be read with all that they name, wherever that is; those of the core name none of a study."""

import re
from pathlib import Path

import pytest

from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.grid import read_grid
from lcca.experiments.schemas.kinds import KINDS, of_kind
from lcca.inputs.validation import read_with_files

from .test_docs import without

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = re.compile(r"^# yaml-language-server: \$schema=\S*/(\S+)\.json$", re.MULTILINE)
FOLDERS = sorted([*ROOT.glob("configs/*"), *ROOT.glob("studies/*/configs")])


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_files_are_read_with_those_that_they_name(folder: Path) -> None:
    if without() and folder.is_relative_to(ROOT / "studies"):
        pytest.skip("studies may name trainings of one that is not there")
    for path in [folder] if folder.is_file() else folder.rglob("*.yaml"):
        named = SCHEMA.search(path.read_text(encoding="utf-8"))
        kind = KINDS[named[1]] if named else None
        if kind and issubclass(kind.model, RunConfig):
            assert read_grid(path, kind.model).points
        elif kind and not kind.several:
            assert of_kind(read_with_files(path, kind.model), kind.model)


def test_files_of_the_core_name_none_of_a_study() -> None:
    texts = {path: re.sub("#.*", "", path.read_text(encoding="utf-8")) for path in ROOT.glob("configs/**/*.yaml")}
    assert len(texts) > 50 and [path for path, text in texts.items() if "studies/" in text] == []

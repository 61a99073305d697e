"""One changed bit anywhere in a finished run: one error, or the same result; the error's advice works."""

import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.api import load_run
from lcca.evaluation.trials.layout import part_file, part_name
from lcca.evaluation.trials.loaded_run import TABLES
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.tables import RunTables
from lcca.inputs.errors import InputError
from lcca.inputs.files import digest_file

from ...fixtures import RunCommand, results

pytestmark = pytest.mark.slow

OUTPUT = ("report.html", "figures", "log.txt", ".lock")
"""What is never read back."""


def tables(run: Path) -> dict[str, Any]:
    """Return all that readers of a run get, for the report and for users."""
    tables, names = RunTables.load(run), ("comparisons", "trials", "trained", "repeated", "costs", "summary")
    return {name: getattr(load_run(run), name) for name in ("manifest", "config", "result", *TABLES)} | {
        f"report {name}": getattr(tables, name) for name in names
    }


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(
        value.equals(other[name]) if isinstance(value, pd.DataFrame) else value == other[name]
        for name, value in one.items()
    )


def stored(run: Path, *folders: str) -> list[Path]:
    files = sorted(file for file in run.rglob("*") if file.is_file())
    own = [(file, file.relative_to(run).parts[0]) for file in files]
    return [file for file, top in own if (top in folders if folders else top not in OUTPUT)]


def flip(file: Path, rng: random.Random) -> bytes:
    """Change one bit of a file; return what it held."""
    before = file.read_bytes()
    bit, changed = rng.randrange(8 * len(before)), bytearray(before)
    changed[bit // 8] ^= 1 << bit % 8
    file.write_bytes(changed)
    return before


def test_a_flipped_bit_gives_readers_an_error_or_the_same(copied: Path) -> None:
    rng, whole, errors = random.Random(4), tables(copied), 0
    files = [file for file in stored(copied) if file.relative_to(copied).parts[0] not in ("policies", "training")]
    for file in files:
        before = flip(file, rng)
        try:
            assert same(whole, tables(copied)), file
        except InputError as error:
            errors += 1
            named = str(error).partition(": ")[0]
            assert named in (str(file), str(file).removesuffix(".sha256")) and "\n" not in str(error)
        file.write_bytes(before)
    assert errors > len(files) / 2


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_flipped_bit_gives_a_resumed_run_an_error_or_the_same(
    finished: Path, copied: Path, tiny: Path, lcca: RunCommand
) -> None:
    rng = random.Random(5)
    for file in rng.sample(stored(copied, "trials", "policies", "training"), 8):
        (copied / "report.html").unlink()
        before = flip(file, rng)
        answer = lcca("sweep", tiny, "--out", copied)
        assert answer.status in (0, 2) and "Traceback" not in answer.err
        if answer.status == 2:
            assert str(file).removesuffix(".sha256") in answer.err.splitlines()[-1]
            file.write_bytes(before)
            assert lcca("sweep", tiny, "--out", copied).status == 0
        assert results(copied) == results(finished), file


def test_a_part_in_the_place_of_its_neighbour_is_noticed(copied: Path) -> None:
    one, other = (part_file(copied / "trials", part_name("test", "default", number)) for number in (0, 1))
    one.write_bytes(other.read_bytes())
    digest_file(one).write_bytes(digest_file(other).read_bytes())
    with pytest.raises(InputError, match="it holds another part, test,default,000001"):
        load_run(copied)


@pytest.mark.usefixtures("no_report")
def test_the_advice_for_a_damaged_part_of_a_complete_run_works(
    finished: Path, copied: Path, tiny: Path, lcca: RunCommand
) -> None:
    part = part_file(copied / "trials", part_name("test", "default", 0))
    part.write_bytes(part.read_bytes()[:-9])
    answer = lcca("report", copied)
    assert answer.status == 2 and "delete it and resume to run its trials again" in answer.err
    part.unlink()
    answer = lcca("report", copied)
    assert answer.status == 2 and f"{part}: missing; resume the run to have it again" in answer.err
    assert lcca("sweep", tiny, "--out", copied).status == 0
    rows, whole = (TrialStore(run / "trials").all("test") for run in (copied, finished))
    pd.testing.assert_frame_equal(rows, whole)
    assert results(copied) == results(finished)


@pytest.mark.parametrize("name", ["policies/loss+rtt.default.s1.json", "verdicts.json", "summary.json", "config.yaml"])
def test_damage_of_a_complete_run_is_noticed_or_healed(
    finished: Path, copied: Path, tiny: Path, lcca: RunCommand, name: str
) -> None:
    file, sound = copied / name, (copied / name).read_bytes()
    flip(file, random.Random(6))
    answer = lcca("sweep", tiny, "--out", copied)
    if name == "config.yaml":  # its content is known
        assert answer.status == 0 and file.read_bytes() == sound
        return
    assert answer.status == 2
    assert f"lcca: {file}: damaged (its content does not match its digest); delete it and resume" in answer.err


def test_a_damaged_policy_of_a_run_is_not_run(copied: Path, lcca: RunCommand) -> None:
    file = copied / "policies" / "loss+rtt.default.s1.json"
    text = file.read_text()
    file.write_text(text.replace('"increment": 1', '"increment": 2').replace('"increment":1', '"increment":2'))
    assert file.read_text() != text
    answer = lcca("show", "policy", file)
    assert answer.status == 2 and f"{file}: damaged" in answer.err and "delete" in answer.err
    digest_file(file).unlink()
    assert lcca("show", "policy", file).status == 0

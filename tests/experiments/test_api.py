"""One import for Python: names, their weight, short texts of what they return."""

import subprocess
import sys
from pathlib import Path

import pytest

import lcca.api as lcca
from lcca.experiments.recipes.prepared import Result
from lcca.remy_plus.policies.policy import Aimd

ROOT = Path(__file__).resolve().parents[2]
SPACE = ROOT / "configs" / "networks" / "default.yaml"


def test_every_name_is_there_and_has_a_docstring() -> None:
    for name in lcca.__all__:
        assert getattr(lcca, name).__doc__, name
    assert set(lcca.__all__) == set(dir(lcca))
    with pytest.raises(AttributeError, match="no attribute 'comparee'"):
        _ = lcca.comparee  # type: ignore[attr-defined]


def test_the_import_alone_loads_no_library() -> None:
    code = "import sys, lcca.api; print(sorted({'pandas', 'numpy', 'pydantic', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_what_is_returned_is_a_line_for_each_verdict() -> None:
    found = lcca.compare("fixed-window:20", "aimd", on=SPACE, trials=96, stop="settled", overrides=["duration=500"])
    assert isinstance(found, Result) and repr(found) == str(found)
    assert repr(found).startswith("aimd against fixed-window:20: ") and "\n" not in repr(found)
    table = found._repr_html_()
    assert "<td>aimd</td>" in table and f"<td>{found.comparisons[0].to_json()['n']}</td>" in table


def test_a_run_is_one_line(tmp_path: Path) -> None:
    lcca.evaluate(["aimd"], on=SPACE, trials=2, out=tmp_path / "run", overrides=["duration=300"], seeds=1)
    run = lcca.load_run(tmp_path / "run")
    assert repr(run) == f"LoadedRun({str(tmp_path / 'run')!r}): evaluate, complete"
    assert "<td>aimd</td>" in run._repr_html_() and "evaluate, complete" in run._repr_html_()
    assert isinstance(run, lcca.LoadedRun) and len(run.trials) == 2


def test_what_is_possible_and_a_policy_by_name() -> None:
    found = lcca.bound(SPACE, trials=4)
    assert found["networks"] == 4 and found["fair_bits"] <= found["upper_bits"]
    assert lcca.policy("aimd").policy == Aimd()

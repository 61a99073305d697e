import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "aa.py"


@pytest.fixture(scope="module")
def aa() -> ModuleType:
    spec = importlib.util.spec_from_file_location("aa", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["aa"] = module
    spec.loader.exec_module(module)
    return module


def test_private_seeds_make_the_two_sides_differ(aa: ModuleType) -> None:
    found = aa.measure(repetitions=3, pairs=40, duration=1000)
    assert found.sigma_d > 0.01
    assert sum(found.verdicts.values()) == found.repetitions == 3


@pytest.mark.full
@pytest.mark.parametrize("policy", ["aimd", "fixed-window:5"])
def test_a_policy_against_itself_seldom_wins(aa: ModuleType, policy: str) -> None:
    found = aa.measure(policy, repetitions=200, pairs=300, duration=2000)
    assert found.share <= 0.05
    assert found.excluded_zero <= 0.05 * 200

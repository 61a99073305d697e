"""Some of the random trials that `make sanitize` runs by the thousand."""

import pytest

from .random_trials import CASES


@pytest.mark.slow
@pytest.mark.parametrize("engine", CASES)
def test_no_rule_is_broken(engine: str) -> None:
    found = [CASES[engine](case) for case in range(60)]
    assert found.count("ran") > 40

"""Some of the random trials that `make sanitize` runs by the thousand."""

import pytest

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.signal_sets.load import resolve

from .random_trials import CASES, too_long


@pytest.mark.slow
@pytest.mark.parametrize("engine", CASES)
def test_no_rule_is_broken(engine: str) -> None:
    found = [CASES[engine](case) for case in range(60)]
    assert found.count("ran") > 40


@pytest.mark.parametrize(
    ("transport", "gbps", "payload", "left_out"),
    [
        ("dcqcn", 10, 1000, False),  # 18,000 frames
        ("dcqcn", 400, 1, True),  # 16 million
        ("dcqcn:increase_us=0.001", 10, 1000, True),  # 15 million rings
        ("mix:0.5(dcqcn:increase_us=0.001|dctcp)", 10, 1000, True),
    ],
)
def test_cases_without_end_are_left_out(transport: str, gbps: float, payload: int, left_out: bool) -> None:
    workload = {"kind": "permutation", "bytes": 10_000}
    keys = {"duration_us": 10, "drain_us": 5000, "payload_bytes": payload, "overhead_bytes": 47}
    star = {"kind": "star", "hosts": 3, "gbps": gbps}
    scenario = FabricScenario.model_validate({"name": "a", "topology": star, "workload": workload} | keys)
    assert too_long(scenario, resolve(transport, "fabric").policy, scenario.flows(1)) == left_out

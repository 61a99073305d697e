from pathlib import Path

import numpy as np

from lcca.remy_plus.policies.rules import bisect, one_rule
from lcca.trainers.base import LearningRow
from lcca.trainers.rplus.state import SearchState


def test_a_state_survives_the_disk_to_the_last_bit(tmp_path: Path) -> None:
    before = one_rule(["rtt_ratio", "loss"])
    table = bisect(before, 0, np.array([1.1, 0.3])).with_action(2, 7, 0.1 + 0.2, 1.5)
    rows = [LearningRow(1, 0, "improve", 1, 1 / 3, 300, 10**7, 0.25)]
    state = SearchState(table, [0, 1, 2, 0], before, 3, 2, "improve", 17, 12345, 10**12, 4.5, rows)
    for name in ("a", "b"):
        state.save(tmp_path / name, "me")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    found = SearchState.load(tmp_path / "a", "me")
    assert found == state
    assert found.table.multiple[2] == 0.1 + 0.2

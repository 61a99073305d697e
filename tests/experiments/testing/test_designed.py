"""Which hand-designed policies see what a learner sees."""

from types import SimpleNamespace
from typing import Any

import pytest

from lcca.experiments.testing.summary import against_learnt
from lcca.remy_plus.policies.explicit import Rcp
from lcca.remy_plus.policies.policy import Aimd, Policy


@pytest.mark.parametrize(
    ("policy", "header", "compared"),
    [(Rcp(), None, 1), (Rcp(alpha=0.2), None, 0), (Rcp(), "rcp-16", 0), (Aimd(), None, 0)],
    ids=["rcp", "hops with other gains", "a header may tell less", "no signals"],
)
def test_only_the_same_signals_are_compared(policy: Policy, header: str | None, compared: int) -> None:
    signals = SimpleNamespace(name="fair-rate", signals=("rtt_ratio", "fair_rate"))
    learner = SimpleNamespace(id="fair-rate.default.s1", signals=signals, candidate=SimpleNamespace(header=header))
    found, totals = SimpleNamespace(to_json=dict), []
    group: Any = SimpleNamespace(
        utility=SimpleNamespace(name="default"),
        hand_designed={"mine": policy, "again": policy},
        selected={"fair-rate": SimpleNamespace(learner=learner)},
        compare=lambda trials, a, b, total: totals.append(total) or found,
    )
    rows = against_learnt([group], {"default": None})  # type: ignore[dict-item]
    assert len(rows) == 2 * compared and all(row["signals"] == ["fair_rate"] for row in rows)
    assert totals == [2 * compared] * len(rows)  # they share α

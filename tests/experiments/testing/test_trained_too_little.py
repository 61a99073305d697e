"""A set that is settled below one whose signals it has was trained too little: a policy can ignore signals."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.comparison.sets import TRAINED_TOO_LITTLE
from lcca.evaluation.report.words.headline import answer
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.testing.groups import Group
from lcca.experiments.testing.net_benefit import compare_all

SEEDS = range(1, 9)
SIGNALS = {"e2e": ("rtt_ratio", "send_ewma"), "link": ("rtt_ratio", "send_ewma", "link"), "loss": ("loss",)}


def group(worth: dict[str, float]) -> Group:
    """Candidates that score so many bits more than 3 with every training seed but for a little luck."""
    policies: list[Any] = []
    rows = []
    for name, signals in SIGNALS.items():
        for seed in SEEDS:
            of = SimpleNamespace(name=name, signals=signals)
            plain = SimpleNamespace(header=None)
            learner = SimpleNamespace(signals=of, id=f"{name}.s{seed}", training_seed=seed, candidate=plain)
            policies.append(SimpleNamespace(learner=learner, endings=("",), by_rules={}))
            score = 3 + worth.get(name, 0) + 0.001 * (7 * seed % 11) * len(signals)
            rows += [{"policy": learner.id, "network": 16 * seed + i, "score_bits": score} for i in range(16)]
    trained = pd.DataFrame(rows).assign(status="ok")
    selected = {each.learner.signals.name: each for each in policies}
    return Group(DEFAULT, "e2e", SettlingRule(), 16, policies, selected, trained)


@pytest.mark.parametrize(("worth", "remarked"), [(-0.1, True), (0.0, False), (0.1, False)])
def test_a_superset_below_its_subset_is_remarked_upon(worth: float, remarked: bool) -> None:
    link, loss = compare_all([group({"link": worth, "loss": -0.5})])
    assert (TRAINED_TOO_LITTLE in link.note) == remarked
    assert loss.high < 0 and TRAINED_TOO_LITTLE not in loss.note  # it lacks signals
    sentences = [each.text for each in answer([link.to_json(), loss.to_json()]).sets]
    assert sentences[0].endswith(f"; {TRAINED_TOO_LITTLE}.") == remarked and "too little" not in sentences[1]

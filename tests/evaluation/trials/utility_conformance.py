"""What every utility must keep: subclass, give `wanted`, `networks` and `policies`, and pytest asks."""

import json
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from lcca.evaluation.trials.utility import TrialScores, Utility
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import FixedWindow, Policy


class UtilityConformance:
    """The questions.

    Attributes:
        wanted: the utility.
        networks: small ones on which it scores at least half of the trials.
        good: a policy that it should prefer to `bad` on average.
        bad: the other.
    """

    wanted: Utility
    networks: Sequence[Network]
    good: Policy = FixedWindow(6)
    bad: Policy = FixedWindow(1)

    def scores(self, policies: Sequence[Policy], networks: Sequence[Network], jobs: int = 1) -> TrialScores:
        engine, keeps = Engine(duration=1000.0, jobs=jobs), self.wanted.keeps
        policy, network = (i.ravel() for i in np.indices((len(policies), len(networks))))
        batch = engine.run(
            [engine.compile(p) for p in policies],
            NetworkList(networks),
            policy,
            network,
            np.full(len(policy), 7),
            keep_flows="flows" in keeps,
            keep_delays="delays" in keeps,
        )
        return self.wanted.score(batch)

    def test_has_one_score_a_trial_and_prefers_the_better_policy(self) -> None:
        found = self.scores([self.good, self.bad], self.networks)
        good, bad = np.split(found.score_bits, 2)
        assert good.shape == (len(self.networks),) == found.starved[: len(good)].shape
        assert np.isfinite(good).mean() >= 0.5 and np.nanmean(good) > np.nanmean(bad)

    def test_a_score_does_not_depend_on_trials_beside_it_nor_on_threads(self) -> None:
        together = self.scores([self.good, self.bad], self.networks, jobs=2).score_bits
        alone = [self.scores([p], [n]).score_bits[0] for p in (self.good, self.bad) for n in self.networks]
        np.testing.assert_array_equal(together, alone)

    def test_no_trial_scores_less_than_the_worst(self) -> None:
        found = self.scores([self.good, self.bad], self.networks).score_bits
        assert np.nanmin(found) >= self.wanted.worst and np.isfinite(self.wanted.worst)

    @pytest.mark.parametrize("percent", [-50.0, -3.0, 0.0, 3.0, 200.0])
    def test_percent_and_difference_are_inverse_and_rise(self, percent: float) -> None:
        difference = self.wanted.difference(percent)
        assert self.wanted.percent(difference) == pytest.approx(percent, abs=1e-9)
        assert self.wanted.difference(percent + 1) > difference

    def test_its_content_is_json_and_it_survives_pickling(self) -> None:
        again = pickle.loads(pickle.dumps(self.wanted))
        assert again == self.wanted and again.content() == json.loads(json.dumps(self.wanted.content()))
        assert self.wanted.name and self.wanted.unit and self.wanted.keeps <= {"flows", "delays"}

"""A tiny search, for the tests that ask all kinds of runs."""

from lcca.studies.stress.recipe import stressing
from lcca.studies.stress.verb import Stress
from tests.experiments.runs.run_files import NOT_A_SPACE, OTHER, POLICY, SPACE, RunKind
from tests.experiments.runs.verbs import met

RUNS = {
    "stress": RunKind(
        (
            *("stress", "aimd", "--against", "policy.json", "--on", "space.yaml", "--candidates", "40"),
            *("--networks", "3", "--fresh", "9"),
        ),
        {"space.yaml": SPACE, "policy.json": POLICY},
        ("policy.json", OTHER),
        [
            NOT_A_SPACE,
            (("--metric", "delay"), "--metric: 'delay' is no metric (did you mean 'delay_us'?)"),
            (("--metric", "delay_us", "--against", "ideal-fair"), "--metric delay_us: ideals have a score alone"),
            (("--fresh", "1"), "--fresh: an interval needs at least 2 trials"),
            (("--on", "policy.json"), "policy.json"),
            (
                ("--set", "link_rate=1", "--set", "rtt=9", "--set", "senders=2", "--set", "mean_on=900"),
                "nothing varies in this space: give a parameter a range",
            ),
        ],
        needs=("optuna",),
    ),
}
VERBS = {"stress": met(stressing, Stress, "mine.py:Mine", ["policy.json", "other.json"], library="optuna")}

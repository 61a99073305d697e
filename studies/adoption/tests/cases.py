"""A tiny question about adoption, for the tests that ask all kinds of runs."""

from lcca.experiments.verbs.meeting import Compare
from lcca.studies.adoption.recipe import adopting
from tests.experiments.runs.run_files import NOT_A_SPACE, OTHER, POLICY, SPACE, RunKind
from tests.experiments.runs.verbs import met

RUNS = {
    "adopt": RunKind(
        (*("compare", "aimd", "policy.json", "--on", "space.yaml", "--trials", "120"), "--share", "0.5"),
        {"space.yaml": SPACE, "policy.json": POLICY},
        ("policy.json", OTHER),
        [NOT_A_SPACE, (("--share", "2"), "--share: must be between 0 and 1")],
    ),
}
VERBS = {"adopt": met(adopting, Compare, "mine.py:Mine", "{policy,other}.json", shares=[0.5])}

"""What is said of the time to settle; never how long anything really took."""

import io
from collections.abc import Iterator

import numpy as np
import pytest

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.runs import progress
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import REMEMBERED, More, Pace, more_pairs
from lcca.remy_plus.simulator import trial_completed
from lcca.workers.processes import run_all


def pace_of(*seen: tuple[float, float]) -> Pace:
    """A pace that saw so much done at such times; it began at time 0."""
    times: Iterator[float] = iter([0.0, *(at for _, at in seen)])
    pace = Pace(lambda: next(times))
    for done, _ in seen:
        pace.saw(done)
    return pace


def compared(effect: float, n: int, spread: float = 0.5) -> Comparison:
    d = np.random.default_rng(1).normal(effect, spread, n)
    return compare_policies("a", "b", np.zeros(n), d, utility=DEFAULT, rule=SettlingRule(), block=1)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (More(40, 120, "pairs"), "about 40–120 more pairs, about 1.3–4 min"),
        (More(0, 120, "pairs"), "up to 120 more pairs, up to 4 min"),
        (More(30, 30, "trials"), "about 30 more trials, about 60 s"),
        (More(10, 12, "trials"), "about 10–12 more trials, about 20–24 s"),
        (More(3600, 36_000, "pairs"), "about 3,600–36,000 more pairs, about 2–20 h"),
        (More(3600, 360_000, "pairs"), "about 3,600–360,000 more pairs, about 0.1–8.3 days"),
        (More(0, 0, "pairs"), ""),
        (More(500, HORIZON, "trials"), "no end in sight: more trials than can be told"),
    ],
)
def test_trials_and_time_to_come_in_words(more: More, words: str) -> None:
    assert more.words(pace_of((10, 20.0), (20, 40.0))) == words


def test_without_a_pace_only_trials_are_told() -> None:
    assert More(40, 120, "pairs").words(pace_of()) == "about 40–120 more pairs"
    assert More(40, 120, "pairs").words(pace_of((0, 5.0))) == "about 40–120 more pairs"
    assert pace_of((10, 0.0)).seconds(5) is None  # the clock stood still
    assert More(1, 2, "pairs").words(pace_of((1000, 1.0))) == "about 1–2 more pairs, less than 1 s"


def test_what_was_only_read_is_soon_forgotten() -> None:
    """A resumed run reads its first blocks in no time."""
    read = [(50.0 * k, 0.001 * k) for k in range(1, 20)]
    ran = [(950 + 50.0 * k, 10.0 * k) for k in range(1, REMEMBERED + 1)]
    assert pace_of(*read, *ran).seconds(50) == pytest.approx(10, rel=0.01)


def test_all_comparisons_must_settle() -> None:
    settled, open_ = compared(3.0, 40), compared(0.01, 40)
    assert settled.verdict.settled and not open_.verdict.settled and open_.likely_n is not None
    low, high = (n - open_.n for n in open_.likely_n)
    assert more_pairs([settled, open_], 40, 20, 10**9, settled=True) == More(low, high, "pairs")
    assert more_pairs([settled, open_], 40, 20, 100, settled=True) == More(min(low, 60), min(high, 60), "pairs")
    assert more_pairs([settled], 40, 200, 1000, settled=True) == More(160, 160, "pairs")
    assert more_pairs([settled], 40, 20, 1000, settled=True) == More(0, 0, "pairs")


def test_differences_must_be_known_accurately() -> None:
    rough, exact = compared(3.0, 40), compared(3.0, 40, spread=1e-3)
    assert exact.enough and not rough.enough and rough.enough_n is not None
    assert more_pairs([rough, exact], 40, 20, 10**9) == More(rough.enough_n - 40, rough.enough_n - 40, "pairs")
    assert more_pairs([exact], 40, 20, 1000) == More(0, 0, "pairs")


def test_before_the_first_look_all_pairs_may_be_needed() -> None:
    assert more_pairs([compared(0.0, 5)], 10, 20, 500) == More(10, 490, "pairs")


def test_a_task_says_what_is_still_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.BytesIO()
    reporter = Reporter(quiet=True)
    monkeypatch.setattr(reporter, "_log", log)
    with reporter.task("comparing", total=100) as task:
        task.update(20, "20 pairs", More(10, 10, "pairs"))
        task.update(30, "30 pairs: better", More(0, 0, "pairs"))
    lines = log.getvalue().decode().splitlines()
    assert "comparing: 20 pairs; about 10 more pairs" in lines[1]
    assert lines[2].endswith("comparing: 30 pairs: better")


def test_trials_within_a_block_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four trials make a pair, and one ends every 5 s; what was read before the first trial has no pace."""
    clock = iter(range(0, 1000, 5))
    monkeypatch.setattr(progress, "Pace", lambda **named: Pace(lambda: float(next(clock)), **named))
    told: list[tuple[float, str]] = []
    with Reporter(quiet=True).task("comparing", 100, each=4, unit="pairs") as task:
        task.update(50, "read")
        monkeypatch.setattr(task, "show", lambda done, note, log: told.append((done, note)))
        for _ in range(4):
            trial_completed()
        task.update(51, "51 pairs", More(10, 20, "pairs"))
        trial_completed()
    trial_completed()  # nobody listens
    assert [done for done, _ in told] == [50.25, 50.5, 50.75, 51, 51, 51.25]
    assert told[0][1].startswith("50 pairs and 1 trial; up to 49 more pairs")
    assert told[3][1] == "50 pairs and 4 trials; up to 49 more pairs, up to 16 min"  # 49 pairs of 20 s
    assert told[5][1] == "51 pairs and 1 trial; about 9–19 more pairs, about 3.8–7.9 min"  # 25 s: the update took 5


def test_workers_tell_of_every_trial() -> None:
    told: list[tuple[float, str]] = []
    with Reporter(quiet=True).task("working", 2, each=1, unit="items") as task:
        task.show = lambda done, note, log: told.append((done, note))  # type: ignore[method-assign]
        assert sorted(run_all(abs, [-1, -2], 1)) == [(0, 1), (1, 2)]
    assert [done for done, _ in told] == [1, 2]


def test_what_was_done_before_says_nothing_of_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training that goes on at 1,000 of 2,000 trials and takes 10 s for each 100."""
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(progress, "Pace", lambda **named: Pace(lambda: float(next(clock)), **named))
    with Reporter(quiet=True).task("training", 2000) as task:
        task.begin(1000)
        task.update(1100, "step 11")
        assert task.pace.seconds(900) == pytest.approx(90)

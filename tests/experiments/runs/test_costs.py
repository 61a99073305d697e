"""What a run cost, in this process and in the workers of its trials."""

import time

import pytest

from lcca.experiments.runs.costs import OTHER, Costs
from lcca.inputs.began import BEGAN
from lcca.workers.pool import cpu_s_of_trials
from lcca.workers.processes import run_all

BUSY = "sum(i for i in range(10_000_000))"


@pytest.mark.slow
def test_trials_in_other_processes_are_counted_in_the_phase_that_ran_them() -> None:
    costs = Costs(None)
    began = time.process_time()
    eval(BUSY)
    alone = time.process_time() - began
    assert len(list(run_all(eval, [BUSY], 1))) == 1  # before any phase
    with costs.phase("ns3-validation"):
        assert len(list(run_all(eval, [BUSY] * 4, 2))) == 4
    with costs.phase("report"):
        pass
    assert 2.5 * alone < costs.total("ns3-validation").cpu_s < 8 * alone
    assert costs.total("report").cpu_s < alone / 10


def test_all_of_a_command_is_counted_once() -> None:
    """What comes before its first run and between phases too, so that the sum is the process's."""
    began = time.process_time()
    BEGAN.set(began + cpu_s_of_trials())
    eval(BUSY)
    costs, later = Costs(None), Costs(None)
    eval(BUSY)
    with costs.phase("test"):
        eval(BUSY)
    eval(BUSY)
    costs.note_rest()
    spent = time.process_time() - began
    assert costs.total("test").cpu_s + costs.total(OTHER).cpu_s == pytest.approx(spent, abs=0.02)
    assert costs.total(OTHER).cpu_s > 2 * costs.total("test").cpu_s and BEGAN.get() is None
    later.note_rest()
    assert later.total(OTHER).cpu_s < spent - costs.total("test").cpu_s / 2

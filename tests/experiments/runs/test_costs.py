"""What a run cost, in this process and in the workers of its trials."""

import time

import pytest

from lcca.experiments.runs.costs import Costs
from lcca.gym_envs.processes.workers import run_all

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

"""What a run cost, in this process and in the workers of its trials."""

import time

import pytest

from lcca.experiments.runs.costs import Cost, Costs
from lcca.gym_envs.processes.workers import run_all

BUSY = "sum(i for i in range(3_000_000))"


def test_trials_in_other_processes_are_counted() -> None:
    costs = Costs(None)
    began = time.process_time()
    eval(BUSY)
    alone = time.process_time() - began
    with costs.phase("ns3-validation"):
        assert len(list(run_all(eval, [BUSY] * 6, 2))) == 6
    with costs.phase("report"):
        pass
    assert costs.total("ns3-validation").cpu_s > 3 * alone
    assert costs.total("report").cpu_s < alone


def test_what_was_spent_elsewhere_is_added() -> None:
    costs = Costs(None)
    costs.add("training", Cost("training", 2.0, 1.0, 10, 100))
    with costs.phase("training") as cost:
        cost.trials += 5
    total = costs.total("training")
    assert (total.trials, total.packets) == (15, 100) and total.cpu_s == pytest.approx(2.0, abs=0.1)

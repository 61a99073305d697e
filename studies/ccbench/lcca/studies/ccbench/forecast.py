"""What a ranking on a benchmark costs, from one trial of each control."""

from __future__ import annotations

from collections.abc import Mapping

from lcca.experiments.runs.forecast import Cost
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.ccbench.description import Description
from lcca.studies.ccbench.scenario import Runner, draw, megabits


def cpu_s_per_megabit(
    benchmark: Description, seed: int, runner: Runner, policies: Mapping[str, Policy]
) -> dict[str, float]:
    """Return what each control takes for what a link carries, from a trial of the scenario that carries least.

    That a control fills its link is assumed of others. A packet costs more in a larger window: trials of Cubic took up
    to 1.4 times as long as forecast, of BIC, which loses whole windows, up to 2.6 times (`benchmarks/README.md`).
    """
    drawn = draw(benchmark, seed, len(benchmark.scenarios), 0)
    least = min(drawn, key=lambda each: megabits(benchmark, each))
    return {
        name: runner.cpu_s(benchmark, policy, least) / megabits(benchmark, least) for name, policy in policies.items()
    }


def cost(benchmark: Description, seed: int, paces: Mapping[str, float], scenarios: int, jobs: int) -> Cost:
    """Return what the first so many scenarios of a ranking cost."""
    carried = sum(megabits(benchmark, each) for each in draw(benchmark, seed, scenarios, 0))
    return Cost(scenarios, "scenarios", sum(paces.values()) * carried, jobs)

"""Every command by two seeds: no trial of one run draws what a trial of the other draws."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.trials import place
from lcca.experiments.recipes import sweep
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.engine import FabricEngine

from ...fixtures import RunCommand
from .run_kinds import KINDS
from .test_conformance import EngineForNs3

QUICK = ("adopt", "compare", "evaluate", "evaluate-both", "evaluate-fabric", "rank")
WITH_SEED = ("compare", "evaluate", "rank", "stress")
"""Commands that have an option for what others have a key for."""

KEYS = {"study": ("seed", "contenders.tuned.tune.seed")}
"""Of a kind whose parts have seeds of their own."""

ELSEWHERE = {"estimate-model-based"}
"""Kinds whose trials no engine of trials runs."""


@pytest.fixture
def met(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[int, int]]]:
    """What trials draw from: the number of a network, 0 of a fabric, and the seed."""
    found: set[tuple[int, int]] = set()
    run, run_fabric = Engine.run, FabricEngine.run

    def noted(engine: Any, policies: Any, networks: Any, policy: Any, network: Any, seed: Any, **keep: Any) -> Any:
        numbers = [networks.networks[i].drawn_by for i in np.asarray(network).tolist()]
        found.update(zip(numbers, np.asarray(seed).tolist(), strict=True))
        return run(engine, policies, networks, policy, network, seed, **keep)

    def noted_fabric(engine: Any, topology: Any, flows: Any, *more: Any, **named: Any) -> Any:
        found.update((0, seed) for seed in more[:1])  # a rehearsal of a transport has none
        return run_fabric(engine, topology, flows, *more, **named)

    monkeypatch.setattr(Engine, "run", noted)
    monkeypatch.setattr(FabricEngine, "run", noted_fabric)
    monkeypatch.setattr(place, "Ns3", EngineForNs3)
    monkeypatch.setattr(sweep, "render", lambda folder, costs: (folder / "report.html").touch())
    yield found


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=() if each in QUICK else pytest.mark.slow) for each in KINDS if each not in ELSEWHERE],
)
def test_runs_by_other_seeds_share_no_trial(
    name: str, lcca: RunCommand, met: set[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS[name]
    if missing := [each for each in kind.needs if find_spec(each) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    monkeypatch.chdir(kind.write(tmp_path))
    of_seed: list[set[tuple[int, int]]] = []
    for seed in (1, 2):
        met.clear()
        chosen = [word for key in KEYS.get(name, ("seed",)) for word in ("--set", f"{key}={seed}")]
        chosen = ["--seed", str(seed)] if kind.command[0] in WITH_SEED else chosen
        answer = lcca(*kind.command, *chosen, "--out", f"run-{seed}", "--jobs", "1", "--json")
        assert answer.status == 0, answer.err
        of_seed.append(set(met))
    assert min(map(len, of_seed)) > 1 and not of_seed[0] & of_seed[1]

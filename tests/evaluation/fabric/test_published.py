"""A law on the flows of published runs of transports; skips without the reference data."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.trials.utilities import fabric_utility

ROOT = Path(__file__).parents[3]
LAW = str(ROOT / "configs" / "fabric" / "law-e2e.json")
BITS = fabric_utility("slowdown")


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "reference"))
    import published as module

    return module


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    ["ws30-leafspine", "ws50-leafspine", "ws50inc-leafspine", "ws50long-leafspine", "fbhdp50-fattree"],
)
def test_a_law_on_published_flows(published: ModuleType, reference: Path, name: str) -> None:
    """The flows are those of the files, so is what became of them, and the law has a better score than all."""
    data = reference / "data" / "fabric"
    found = published.run(data, name, [LAW])
    flows = pd.read_csv(data / f"flows-{name}.csv").sort_values("start_ns", kind="stable")
    law, *_ = found[published.HERE]
    for each in (trial for trials in found.values() for trial in trials):
        np.testing.assert_array_equal(each.flows.size_bytes[each.started], flows.size_bytes)
        np.testing.assert_array_equal(each.start_ns, flows.start_ns)
    scores = {}
    for each in found[published.PUBLISHED]:
        rows = pd.read_csv(data / f"fct-{name}-{published.TRANSPORTS[each.policy]}.csv")
        scores[each.policy] = each.score(BITS)
        assert scores[each.policy] == pytest.approx(-np.log2(rows.fct_ns / rows.ideal_ns).mean(), rel=1e-9)
        np.testing.assert_array_equal(law.record["flow_ideal_ns"], each.record["flow_ideal_ns"])
    assert law.times.finished.all() and (law.record["flow_delivered_bytes"] == flows.size_bytes).all()
    assert (law.record["port_drops"] == 0).all()
    assert len(scores) >= 3 and law.score(BITS) > max(scores.values())


@pytest.mark.parametrize("name", ["alone-star", "alone-leafspine"])
def test_a_law_alone(published: ModuleType, reference: Path, name: str) -> None:
    """A flow within its first window takes what TIMELY's take, whose packets have 8 bytes too; none takes less.

    The flow of 10 MB takes so long that those after it in the trace are no longer alone.
    """
    data = reference / "data" / "fabric"
    law, *_ = published.run(data, name, [LAW])[published.HERE]
    took, size, start = law.record["flow_fct_ns"], law.flows.size_bytes, law.flows.start_ns
    timely = pd.read_csv(data / f"fct-{name}-timely.csv").set_index("id").loc[law.flows.id].fct_ns.to_numpy()
    alone = start >= np.concatenate([[0], np.maximum.accumulate(start + took)[:-1]])
    short = alone & (size <= 10_000)
    assert short.sum() >= 4
    np.testing.assert_array_equal(took[short], timely[short])
    assert (took >= timely).all() and (took < 1.4 * timely)[alone & (size <= 1_000_000)].all()

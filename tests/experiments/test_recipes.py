"""`lcca.experiments`: what commands do, as functions; kept trials belong to all that they depend on."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from lcca.api import compare, evaluate, rank
from lcca.evaluation.settling.intervals import ONE_SAMPLE
from lcca.inputs.errors import InputError

SPACE = """\
link_rate: {min: 1, max: 2, step: 0.5}
rtt: 20
senders: {min: 1, max: 4, step: 1}
buffer: 50
mean_on: 500
mean_off: 100
loss: 0.01
duration: 1000
"""
SCENARIO = """\
name: small
topology: {kind: file, links: links.csv}
workload: {kind: trace, flows: flows.csv}
payload_bytes: 1500
mtu_bytes: 2000
"""
LINKS = "a,b,gbps,delay_ns\n0,2,100,10\n1,2,100,10\n"
FLOWS = "id,src,dst,size_bytes,start_ns\n1,0,1,100000,0\n2,1,0,100000,50\n"


@pytest.fixture
def space(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(SPACE)
    (tmp_path / "space.yaml").write_text("extends: base.yaml\n")
    return tmp_path / "space.yaml"


def test_compares_in_one_call(space: Path) -> None:
    found = compare("fixed-window:1", "fixed-window:10", on=space, stop="settled", trials=512)
    (told,) = found.content["comparisons"]
    assert told["verdict"] == "better" and found.comparisons[0].n == told["n"]
    means = {each["id"]: each["score_bits"]["mean"] for each in found.content["policies"]}
    assert means["fixed-window:10"] - means["fixed-window:1"] == pytest.approx(told["difference"])
    assert str(found).startswith("fixed-window:10 against fixed-window:1: better, +")
    assert set(found.rows["policy"]) == {"fixed-window:1", "fixed-window:10"}


def test_a_keyword_that_nothing_takes_is_refused(space: Path) -> None:
    for call in (partial(compare, "aimd", "fixed-window:9"), partial(rank, ["aimd", "fixed-window:9"])):
        with pytest.raises(TypeError, match="unexpected keyword argument 'sede'"):
            call(on=space, sede=2)  # type: ignore[call-arg]


def test_ranks_in_one_call(space: Path) -> None:
    found = rank(["fixed-window:1", "fixed-window:10"], on=space, trials=112, rule="t-mixture", seeds=2)
    assert [each["id"] for each in found.content["policies"]] == ["fixed-window:10", "fixed-window:1"]
    assert len(found.rows) == 2 * 112 * 2 and found.comparisons[0].difference > 0


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "flows.csv").write_text(FLOWS)
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    return tmp_path / "scenario.yaml"


def is_refused_after(change: Callable[[], object], names: list[str], on: Path, out: Path) -> None:
    first = evaluate(names, on=on, trials=4, out=out)
    again = evaluate(names, on=on, trials=4, out=out, resume=True).content
    assert json.dumps(again, sort_keys=True, default=str) == json.dumps(first.content, sort_keys=True, default=str)
    change()
    with pytest.raises(InputError, match="choose another --out"):
        evaluate(names, on=on, trials=4, out=out, resume=True)


def edit(file: Path, old: str, new: str) -> Callable[[], None]:
    def changed() -> None:
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return changed


def test_kept_trials_belong_to_what_a_space_extends(space: Path, tmp_path: Path) -> None:
    is_refused_after(edit(tmp_path / "base.yaml", "rtt: 20", "rtt: 40"), ["aimd"], space, tmp_path / "run")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [("links.csv", ",100,", ",10,"), ("flows.csv", "100000", "900000"), ("scenario.yaml", "1500", "900")],
)
def test_kept_trials_belong_to_the_files_of_a_scenario(
    scenario: Path, tmp_path: Path, file: str, old: str, new: str
) -> None:
    is_refused_after(edit(tmp_path / file, old, new), ["dctcp"], scenario, tmp_path / "run")


def test_trials_that_are_all_the_same_are_one_sample(scenario: Path) -> None:
    met = {"on": scenario, "trials": 64}
    (compared,) = compare("dctcp", "hpcc", **met).content["comparisons"]
    ranked = rank(["dctcp", "hpcc"], **met).content
    assert compared["difference"] < 0 and compared["low"] is compared["high"] is None
    assert compared["same"] == ONE_SAMPLE and compared["verdict"] == "not settled" and "32 trials" in compared["note"]
    assert all(each["best_rank"] is each["score_bits"]["low"] is None for each in ranked["policies"])
    assert ONE_SAMPLE in ranked["note"]
    (evaluated,) = evaluate(["dctcp"], on=scenario, trials=4).content["policies"]
    assert evaluated["note"] == ONE_SAMPLE and not evaluated["slowdown_p99"]["high"] < float("inf")
